"""A checkpoint opened for one staging: which files its source has, in which state, and its tensors.

Every failure of the source becomes a `WeightsError` here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.manifest import Manifest, ManifestError, TensorEntry, manifest_of
from weightrollout.weights.sources.source import Source, Stamp


@dataclass(frozen=True, slots=True)
class Checkpoint:
    source: Source
    stamps: Mapping[str, Stamp]  # of every file that counts for the digest
    manifest: Manifest

    @property
    def bytes(self) -> int:
        return sum(stamp.bytes for stamp in self.stamps.values())

    def others(self) -> list[str]:
        """The files without tensors."""
        return sorted(self.stamps.keys() - {file.name for file in self.manifest.files})

    def check_unchanged(self) -> None:
        """Raises SourceChanged where the source no longer has what was opened."""
        with reading(self.source.where):
            now = self.source.stamps()
        changed = [
            name
            for name in self.stamps.keys() | now.keys()
            if self.stamps.get(name) != now.get(name)
        ]
        if changed:
            raise source_changed(f"{self.source.where}/{min(changed)}")

    def check_promises(self, sums: Mapping[str, str]) -> None:
        """Raises SourceCorrupt where the source itself says that other bytes lie there."""
        for name, promised in sorted(self.source.promised.items()):
            if sums.get(name, promised) != promised:
                raise WeightsError(
                    Reason.SOURCE_CORRUPT,
                    f"{self.source.where}/{name}: has sha256 {sums[name]}, the source says {promised}:"
                    " a broken transfer, or a list that is older than the file",
                )

    def opened(self, name: str) -> digest.Bytes:
        return self.source.open(name)


def stamps_of(source: Source) -> dict[str, Stamp]:
    """Before anything is read, so that a change between any two of our reads is seen at the end."""
    with reading(source.where):
        stamps = source.stamps()
    if not any(digest.matches(name, (digest.TENSORS,)) for name in stamps):
        raise WeightsError(
            Reason.SOURCE_EMPTY,
            f"{source.where}: no {digest.TENSORS} file in it (subfolders are not read)",
        )
    return stamps


def open_checkpoint(source: Source, stamps: Mapping[str, Stamp]) -> Checkpoint:
    """Of `stamps_of`."""
    with reading(source.where):
        sizes = {name: stamp.bytes for name, stamp in stamps.items()}
        return Checkpoint(source, stamps, manifest_of(sizes, source.open))


@contextmanager
def reading(where: str) -> Iterator[None]:
    """Say which failure of the source an exception is."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise WeightsError(
            Reason.SOURCE_NOT_FOUND, f"{error.filename or where}: {error.strerror}"
        ) from error
    except OSError as error:
        raise WeightsError(
            Reason.SOURCE_UNREADABLE, f"{error.filename or where}: {error.strerror or error}"
        ) from error
    except (ManifestError, digest.FolderError) as error:
        raise WeightsError(
            Reason.CHECKPOINT_MALFORMED, f"{error.reason}: {error.message} (in {where})"
        ) from error


def source_changed(where: str) -> WeightsError:
    return WeightsError(
        Reason.SOURCE_CHANGED,
        f"{where}: changed while it was read; publish to a new folder instead",
    )


def same_bytes(source: Source, one: TensorEntry, other: TensorEntry, chunk_bytes: int) -> bool:
    """Compare two tensors of equal size byte for byte."""
    with source.open(one.file) as left, source.open(other.file) as right:
        left.seek(one.offset)
        right.seek(other.offset)
        rest = one.bytes
        while rest:
            size = min(rest, chunk_bytes)
            mine, its = (digest.read_up_to(file, size) for file in (left, right))
            if len(mine) < size or mine != its:
                return False
            rest -= size
    return True


def read_all(source: digest.Bytes, data: memoryview, where: str) -> None:
    """Fill `data`; a file that ends before was longer when its header was read. Raises SourceChanged."""
    done = 0
    while done < len(data):
        size = source.readinto(data[done:])
        if not size:
            raise source_changed(where)
        done += size
