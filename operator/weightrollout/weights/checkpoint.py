"""A checkpoint folder opened for one staging: which files it has, in which state, and its tensors.

Every failure of the source becomes a `WeightsError` here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.manifest import Manifest, ManifestError, TensorEntry, read_manifest


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file is written or replaced."""

    device: int
    inode: int
    bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    folder: Path
    stamps: Mapping[str, Stamp]  # of every file that counts for the digest
    manifest: Manifest

    @property
    def bytes(self) -> int:
        return sum(stamp.bytes for stamp in self.stamps.values())

    def others(self) -> list[str]:
        """The files without tensors."""
        return sorted(self.stamps.keys() - {file.name for file in self.manifest.files})

    def check_unchanged(self) -> None:
        """Raises SourceChanged where the folder is no longer what was opened."""
        with reading(self.folder):
            now = _stamps(self.folder)
        changed = [
            name
            for name in self.stamps.keys() | now.keys()
            if self.stamps.get(name) != now.get(name)
        ]
        if changed:
            raise source_changed(self.folder / min(changed))


def open_checkpoint(folder: Path) -> Checkpoint:
    """Stamps first, so that a change between any two of our reads is seen at the end."""
    with reading(folder):
        stamps = _stamps(folder)
        if not digest.matching_files(folder, (digest.TENSORS,)):
            raise WeightsError(
                Reason.SOURCE_EMPTY,
                f"{folder}: no {digest.TENSORS} file in it (subfolders are not read)",
            )
        return Checkpoint(folder, stamps, read_manifest(folder))


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Say which failure of the source an exception is."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise WeightsError(
            Reason.SOURCE_NOT_FOUND, f"{error.filename or folder}: {error.strerror}"
        ) from error
    except OSError as error:
        raise WeightsError(
            Reason.SOURCE_UNREADABLE, f"{error.filename or folder}: {error.strerror or error}"
        ) from error
    except (ManifestError, digest.FolderError) as error:
        raise WeightsError(
            Reason.CHECKPOINT_MALFORMED, f"{error.reason}: {error.message} (in {folder})"
        ) from error


def source_changed(path: Path) -> WeightsError:
    return WeightsError(
        Reason.SOURCE_CHANGED, f"{path}: changed while it was read; publish to a new folder instead"
    )


def same_bytes(folder: Path, one: TensorEntry, other: TensorEntry, chunk_bytes: int) -> bool:
    """Compare two tensors of equal size byte for byte."""
    with (folder / one.file).open("rb") as left, (folder / other.file).open("rb") as right:
        left.seek(one.offset)
        right.seek(other.offset)
        rest = one.bytes
        while rest:
            size = min(rest, chunk_bytes)
            mine = left.read(size)
            if len(mine) < size or mine != right.read(size):
                return False
            rest -= size
    return True


def _stamps(folder: Path) -> dict[str, Stamp]:
    found = {}
    for name in digest.matching_files(folder):
        stat = (folder / name).stat()
        found[name] = Stamp(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)
    return found
