"""What is inside an OCI archive: configuration, sizes, files of the layers laid over each other."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: A layer's sign that a file of those below is gone, and that a whole folder's are.
GONE: Final = ".wh."
ALL_GONE: Final = ".wh..wh..opq"

Json = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Bytes. `packed`: as a registry keeps it; `files`: on a node's disk."""

    packed: int
    files: int


class Archive:
    """One image. Raises KeyError where the file is no OCI archive (docker save writes one since 25)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with tarfile.open(path) as outer:
            self.index = _json(outer, "index.json")
            [described] = self.index["manifests"]
            self.digest: str = described["digest"]
            manifest = _json(outer, _blob(self.digest))
            self.config = _json(outer, _blob(manifest["config"]["digest"]))
        self._layers: list[Json] = manifest["layers"]

    def name(self) -> str:
        """By which containerd calls it."""
        [described] = self.index["manifests"]
        notes = described.get("annotations", {})
        found: str = (
            notes.get("io.containerd.image.name") or notes["org.opencontainers.image.ref.name"]
        )
        return found

    def started(self) -> Json:
        """What a container of it starts with: User, Env, Entrypoint, WorkingDir, Labels."""
        found: Json = self.config["config"]
        return found

    def layers(self) -> list[str]:
        """Digests of the layers' tars, lowest first."""
        found: list[str] = self.config["rootfs"]["diff_ids"]
        return found

    def sizes(self) -> Sizes:
        packed = sum(int(each["size"]) for each in self._layers)
        return Sizes(packed, sum(entry.size for entry in self.entries()))

    def entries(self) -> Iterator[tarfile.TarInfo]:
        """Of all layers, those that a later one hides as well."""
        for layer in self.opened():
            yield from layer

    def unpack(self, into: Path, wanted: Callable[[str], bool] = lambda _name: True) -> None:
        """The root file system, or the files of it whose names are `wanted`; owners and modes as they are."""
        for layer in self.opened():
            for entry in layer:
                name = entry.name.removeprefix("./").lstrip("/")
                if name and wanted(name):
                    _lay(layer, entry, into, name)

    def opened(self) -> Iterator[tarfile.TarFile]:
        """The layers, lowest first; each is closed when the next is asked for."""
        for described in self._layers:
            with _inner(self.path, described["digest"]) as layer:
                yield layer


def _lay(layer: tarfile.TarFile, entry: tarfile.TarInfo, into: Path, name: str) -> None:
    place = into / name
    if place.name == ALL_GONE:
        for each in place.parent.iterdir():
            _remove(each)
    elif place.name.startswith(GONE):
        _remove(place.with_name(place.name.removeprefix(GONE)))
    else:
        if not (entry.isdir() and place.is_dir()):
            _remove(place)
        layer.extract(entry, into, numeric_owner=True, filter="fully_trusted")


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


@contextmanager
def _inner(path: Path, digest: str) -> Iterator[tarfile.TarFile]:
    with tarfile.open(path) as outer:
        blob = outer.extractfile(_blob(digest))
        assert blob is not None, f"{digest} is not a file"
        with tarfile.open(fileobj=blob, mode="r:*") as layer:
            yield layer


def _json(outer: tarfile.TarFile, name: str) -> Json:
    blob = outer.extractfile(name)
    assert blob is not None, f"{name} is not a file"
    found: Json = json.load(blob)
    return found


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
