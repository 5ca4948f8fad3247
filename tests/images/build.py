"""All images of this checkout, built once for exactly these sources."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from images.commands import say
from images.engines import Engine, Order, engine
from images.pip_settings import secrets
from images.places import SBOMS, TARGETS, cache, epoch, image, key, reference, version
from images.sbom import write_sbom
from once import locked, progress

#: Sets of images that the cache keeps, newest first.
KEPT: Final = 4
#: Named by the user, else the Dockerfile's, or ours where no registry can be reached.
NAMED: Final = ("BASE_IMAGE", "BUILD_IMAGE", "REVISION")


@dataclass(frozen=True)
class Built:
    """One image. `reference`: its name inside the archive, and so in containerd after an import."""

    name: str
    reference: str
    archive: Path
    sbom: Path


def built() -> dict[str, Built]:
    """By target: operator, agent, cli, simulator. Built now if the cache has none. Raises commands.BuildFailed."""
    with_what = engine()
    arguments = _arguments(with_what)
    folder = cache() / "sets" / _tag(with_what, arguments)
    found = _set(folder)
    if not _finished(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with locked(cache() / "lock", say, "building images"):
            if not _finished(folder):
                _build(with_what, arguments, folder)
                _forget_old(folder)
    folder.touch()
    return found


def is_built() -> bool:
    """Whether `built` would return at once. Raises commands.BuildFailed where nothing here can build."""
    with_what = engine()
    return _finished(cache() / "sets" / _tag(with_what, _arguments(with_what)))


def built_again(into: Path) -> dict[str, Built]:
    """The same with nothing kept but the bases, and as large again; in `into`. Raises commands.BuildFailed."""
    with_what = engine(into / "layers")
    arguments = _arguments(with_what)
    folder = into / _tag(with_what, arguments)
    folder.mkdir()
    _build(with_what, arguments, folder)
    return _set(folder)


def archives() -> dict[str, Path]:
    """OCI archives by the name of the image, such as weightrollout-operator. Raises commands.BuildFailed."""
    return {each.name: each.archive for each in built().values()}


def publish_sboms() -> list[Path]:
    """Copies of this checkout's in build/sbom."""
    SBOMS.mkdir(parents=True, exist_ok=True)
    return [Path(shutil.copy(each.sbom, SBOMS)) for each in built().values()]


def _arguments(with_what: Engine) -> dict[str, str]:
    return {**with_what.bases(), **_named(), "VERSION": version()}


def _named() -> dict[str, str]:
    return {name: value for name in NAMED if (value := os.environ.get(name))}


def _tag(with_what: Engine, arguments: dict[str, str]) -> str:
    said = [f"{name}={value}" for name, value in sorted(arguments.items())]
    return key(with_what.name, epoch(), *said)[:16]


def _set(folder: Path) -> dict[str, Built]:
    return {
        target: Built(
            image(target),
            reference(target, folder.name),
            folder / f"{image(target)}.tar",
            folder / f"{image(target)}.cdx.json",
        )
        for target in TARGETS
    }


def _finished(folder: Path) -> bool:
    return (folder / ".ready").exists()


def _build(with_what: Engine, arguments: dict[str, str], folder: Path) -> None:
    log = folder / "log"
    started = time.monotonic()
    say(f"building {len(TARGETS)} images with {with_what.name}; what it says: {log}")
    with progress(started, say, "building"):
        with_what.prepare()
        with tempfile.TemporaryDirectory() as hidden:
            given = secrets(Path(hidden))
            for target, each in _set(folder).items():
                begun = time.monotonic()
                each.archive.unlink(missing_ok=True)
                order = Order(target, folder.name, arguments, given, log)
                with_what.build(order, each.archive)
                write_sbom(each.archive, each.name, version(), each.sbom)
                say(f"{each.name}: {time.monotonic() - begun:.0f} s")
    (folder / ".ready").touch()
    say(f"built in {time.monotonic() - started:.0f} s")


def _forget_old(new: Path) -> None:
    others = [each for each in new.parent.iterdir() if each != new]
    for each in sorted(others, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(each)
