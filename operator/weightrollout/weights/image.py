"""The images of all ranks while they are written: reserved whole, filled in any order, sealed.

Every failure of the staging volume becomes a `WeightsError` here.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from weightrollout.handover import files, memory
from weightrollout.handover.records import Block, BlockSum, LoadPlan, RankImage
from weightrollout.weights import checksum
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.layout import Copy

#: What reading, hashing and scattering take beside the image. Measured with ranges of a bucket, which take most: 110 MiB
#: for two files at once, and 12 MiB more for each of up to six others; held against this in tests/sources.
BUFFERS_BYTES: Final = 192 << 20
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class ImageWriter:
    """Writes below `folder`, which must exist and be its own; it may hold an unfinished image of the
    same plans. Safe across threads."""

    def __init__(self, folder: Path, plans: Sequence[LoadPlan]) -> None:
        """Take the space of all ranks now. Raises StagingSpaceTooSmall before a byte is written."""
        self._folder = folder
        self._plans = tuple(plans)
        #: Rank -> the first rank whose image has the same bytes: it is written once, and linked.
        self._written_as = _first_alike(plans)
        self._files: dict[int, int] = {}
        # list.append needs no lock
        self._parts: dict[tuple[int, int], list[checksum.Part]] = {
            (plan.rank, block): [] for plan in plans for block in range(len(plan.blocks))
        }
        need = sum(plan.image_bytes for plan in plans if self._is_written(plan.rank))
        try:
            with staging_failures(folder, need):
                _check_space(folder, need - self._taken_before())
                for plan in plans:
                    if self._is_written(plan.rank):
                        self._reserve(plan)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])

    def write(self, copy: Copy, data: memoryview) -> None:
        """Put `data`, which is what `copy` names, where it belongs."""
        if not self._is_written(copy.rank):
            return
        with staging_failures(self._folder, len(data)):
            done = 0
            while done < len(data):
                done += os.pwrite(self._files[copy.rank], data[done:], copy.image_offset + done)
        self.found(copy, checksum.of(data))

    def read_back(self, copy: Copy, into: memoryview) -> bool:
        """What lies where `copy` belongs, which need not be it. False: it has no place of its own."""
        if not self._is_written(copy.rank):
            return False
        done = 0
        while done < len(into):
            size = os.preadv(self._files[copy.rank], [into[done:]], copy.image_offset + done)
            if not size:
                raise OSError(errno.EIO, "an image ends before its end", str(self._folder))
            done += size
        return True

    def found(self, copy: Copy, crc32: int) -> None:
        """It lies where it belongs already."""
        if self._is_written(copy.rank):
            self._parts[copy.rank, copy.block].append(
                checksum.Part(copy.block_offset, copy.bytes, crc32)
            )

    def flush(self) -> None:
        """Write what came so far to the medium, while more comes: `seal` would wait for all of it at once."""
        with staging_failures(self._folder, 0):
            for descriptor in self._files.values():
                os.fdatasync(descriptor)

    def seal(self) -> tuple[RankImage, ...]:
        """Make the bytes durable and say what they are. Raises ValueError where a block has a hole."""
        with staging_failures(self._folder, 0):
            for descriptor in self._files.values():
                os.fsync(descriptor)
            for rank, first in self._written_as.items():
                if rank != first:
                    here = files.rank_image(self._folder, rank)
                    here.unlink(missing_ok=True)  # of a process that was killed right here
                    here.hardlink_to(files.rank_image(self._folder, first))
        return tuple(
            RankImage(
                plan.rank,
                plan.image_bytes,
                tuple(self._block_sum(plan, block) for block in range(len(plan.blocks))),
            )
            for plan in self._plans
        )

    def _block_sum(self, plan: LoadPlan, number: int) -> BlockSum:
        block = plan.blocks[number]
        size, crc32 = checksum.whole(self._parts[self._written_as[plan.rank], number])
        if size != block.bytes:
            raise ValueError(f"{block.parameter}: {size} of {block.bytes} bytes were written")
        return BlockSum(block.parameter, size, crc32)

    def _taken_before(self) -> int:
        """Bytes of the volume that an unfinished image of these plans has already."""
        paths = (files.rank_image(self._folder, plan.rank) for plan in self._plans)
        return sum(
            min(path.stat().st_blocks * 512, path.stat().st_size) for path in paths if path.exists()
        )

    def _is_written(self, rank: int) -> bool:
        return self._written_as[rank] == rank

    def _reserve(self, plan: LoadPlan) -> None:
        path = files.rank_image(self._folder, plan.rank)
        self._files[plan.rank] = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if plan.image_bytes:
            os.posix_fallocate(self._files[plan.rank], 0, plan.image_bytes)


def _first_alike(plans: Sequence[LoadPlan]) -> dict[int, int]:
    first: dict[tuple[int, tuple[Block, ...]], int] = {}
    return {
        plan.rank: first.setdefault((plan.image_bytes, plan.blocks), plan.rank) for plan in plans
    }


@contextmanager
def staging_failures(folder: Path, need: int) -> Iterator[None]:
    """Say which failure of the staging volume an OSError is."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_SPACE:
            raise _too_small(folder, need) from error
        raise WeightsError(
            Reason.STAGING_UNWRITABLE, f"{error.filename or folder}: {error.strerror or error}"
        ) from error


def _check_space(folder: Path, need: int) -> None:
    if need > _free(folder):
        raise _too_small(folder, need)
    left = memory.available_bytes() if memory.is_in_memory(folder) else None
    # Its pages are charged to this container: a kernel that has none left kills it, in the middle of a write.
    if left is not None and need + BUFFERS_BYTES > left:
        raise WeightsError(
            Reason.STAGING_SPACE_TOO_SMALL,
            f"{need} bytes are needed, and {BUFFERS_BYTES} to write them, in a staging volume that lies in"
            f" memory; this container may take {left} more; raise its memory limit, or stage on disk",
        )


def _free(folder: Path) -> int:
    volume = os.statvfs(folder)
    return volume.f_bavail * volume.f_frsize


def _too_small(folder: Path, need: int) -> WeightsError:
    volume = next(each for each in folder.parents if each.is_dir())
    missing = f"{need} bytes are needed" if need else "nothing can be added"
    inodes = os.statvfs(volume)
    if inodes.f_files and not inodes.f_favail:  # some file systems do not count them
        missing += " and no inode is left"
    return WeightsError(
        Reason.STAGING_SPACE_TOO_SMALL,
        f"{missing}, {_free(volume)} bytes are free in the staging volume ({volume}); enlarge it,"
        " or set staging.keepLastGood: false",
    )
