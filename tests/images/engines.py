"""What builds: a Docker engine where one answers, else buildah. Both end in an OCI archive of each target."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from images.base import BUILDING, RUNNING, Base
from images.commands import BuildFailed, logged, need, run, say
from images.places import DOCKERFILE, ROOT, cache, epoch, reference

ANSWER_S: Final = 20.0
#: Layers of earlier builds are kept until they are so many bytes.
LAYERS: Final = 8_000_000_000


@dataclass(frozen=True)
class Order:
    """One image. `arguments`: the Dockerfile's; `secrets`: files by id; `log`: what the program says goes there."""

    target: str
    tag: str
    arguments: Mapping[str, str]
    secrets: Mapping[str, Path]
    log: Path

    def options(self) -> list[str]:
        """Those that both programs understand."""
        given = {**self.arguments, "SOURCE_DATE_EPOCH": epoch()}
        found = [f"--build-arg={name}={value}" for name, value in given.items()]
        found += [f"--secret=id={name},src={path}" for name, path in self.secrets.items()]
        return [*found, f"--target={self.target}", f"--file={DOCKERFILE}"]


class Engine(Protocol):
    name: str

    def bases(self) -> dict[str, str]:
        """BASE_IMAGE and BUILD_IMAGE where none is named; empty: the Dockerfile's own."""
        ...

    def prepare(self) -> None:
        """What `bases` names is there then. Raises BuildFailed."""
        ...

    def build(self, order: Order, archive: Path) -> None:
        """Raises BuildFailed."""
        ...


def engine(layers: Path | None = None) -> Engine:
    """The one of this machine; `layers`: a folder for layers, none of which are there yet.

    Raises BuildFailed where there is none and none can be installed.
    """
    if docker_answers():
        return Docker(keeps=layers is None)
    need("buildah")
    return Buildah(layers or cache() / "layers")


def docker_answers() -> bool:
    if not shutil.which("docker"):
        return False
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    try:
        done = subprocess.run(asked, capture_output=True, timeout=ANSWER_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class Docker:
    """The images stay in the engine, too."""

    name = "docker"

    def __init__(self, *, keeps: bool) -> None:
        self._cache = [] if keeps else ["--no-cache"]

    def bases(self) -> dict[str, str]:
        return {}

    def prepare(self) -> None:
        pass  # the engine pulls

    def build(self, order: Order, archive: Path) -> None:
        named = reference(order.target, order.tag)
        options = [*self._cache, *order.options(), f"--tag={named}"]
        logged(["docker", "build", *options, str(ROOT)], order.log)
        logged(["docker", "save", f"--output={archive}", named], order.log)


class Buildah:
    """Without an engine, as root: in a mount namespace of its own, so that no mount outlives it."""

    name = "buildah"

    def __init__(self, store: Path) -> None:
        self._store = store

    def bases(self) -> dict[str, str]:
        return {"BASE_IMAGE": RUNNING.reference(), "BUILD_IMAGE": BUILDING.reference()}

    def prepare(self) -> None:
        self._start_anew_when_large()
        for base in (RUNNING, BUILDING):
            self._load(base)

    def build(self, order: Order, archive: Path) -> None:
        named = reference(order.target, order.tag)
        same = ["--layers", f"--timestamp={epoch()}", "--identity-label=false"]
        # No pull where it is here; a base that was named comes from its registry.
        options = ["--isolation=chroot", "--pull=missing", *same, *order.options()]
        self._buildah(order.log, "build", *options, f"--tag={named}", str(ROOT))
        self._buildah(order.log, "push", "--quiet", named, f"oci-archive:{archive}:{named}")

    def _load(self, base: Base) -> None:
        rootfs, log = base.rootfs(), base.folder() / "log"
        if self._has(base.reference()):
            return
        with tempfile.TemporaryDirectory(dir=base.folder()) as folder:
            context = Path(folder)
            (context / rootfs.name).hardlink_to(rootfs)
            (context / "Dockerfile").write_text(f"FROM scratch\nADD {rootfs.name} /\n")
            same = [f"--timestamp={epoch()}", "--identity-label=false"]
            tag = f"--tag={base.reference()}"
            self._buildah(log, "build", "--isolation=chroot", *same, tag, str(context))

    def _has(self, named: str) -> bool:
        try:
            return bool(run([*self._command(), "images", "--quiet", named]).strip())
        except BuildFailed:  # so it answers where it has none
            return False

    def _buildah(self, log: Path, *arguments: str) -> None:
        logged([*self._command(), *arguments], log)

    def _command(self) -> list[str]:
        self._store.mkdir(parents=True, exist_ok=True)
        driver = "overlay" if overlays(self._store) else "vfs"
        places = [f"--root={self._store / driver}", f"--runroot={self._store / 'run'}"]
        return ["unshare", "--mount", "buildah", *places, f"--storage-driver={driver}"]

    def _start_anew_when_large(self) -> None:
        if not self._store.exists():
            return
        held = sum(each.lstat().st_blocks * 512 for each in self._store.rglob("*"))
        if held > LAYERS:
            say(f"layers of earlier builds hold {held / 1e9:.0f} GB: starting anew")
            shutil.rmtree(self._store)


def overlays(folder: Path) -> bool:
    """Whether this kernel stacks folders there: else every layer is a whole copy."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        parts = [Path(place) / name for name in ("lower", "upper", "work", "seen")]
        for part in parts:
            part.mkdir()
        lower, upper, work, seen = parts
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        mount = ["mount", "-t", "overlay", "overlay", "-o", options, str(seen)]
        try:
            run(["unshare", "--mount", *mount])
        except BuildFailed:
            return False
    return True
