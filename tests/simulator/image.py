"""A staged image as the plugin sees it: mapped before the pause, copied in it."""

import mmap
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from simulator.layout import Shard
from simulator.model import Bytes
from weightrollout.handover import files, records
from weightrollout.handover.records import BlockSum, ImageIndex

CHUNK: Final = 8 << 20  # an update can be paced and cut between two of these


class ImageRefused(Exception):
    """The image cannot be used. `reason` is CamelCase, for Prepared."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class RankSource:
    """What one rank will copy, in block order, with checksums taken while it was mapped."""

    blocks: tuple[Bytes, ...]
    sums: tuple[BlockSum, ...]


def open_image(
    digest: str, region: str, staging: Path, shards: tuple[Shard, ...]
) -> list[RankSource]:
    """Map the image of every rank and check that it is the one our plan asks for."""
    folder = (staging / region).resolve()
    if not folder.is_relative_to(staging.resolve()):
        raise ImageRefused("RegionUnsafe", f"{region} leaves the staging volume")
    index = records.read(ImageIndex, folder / files.INDEX)
    if index is None:
        raise ImageRefused("ImageMissing", f"{region}/{files.INDEX} is absent")
    wanted = (digest, shards[0].plan.plan_id())
    if (index.digest, index.plan_id) != wanted:
        raise ImageRefused(
            "ImageMismatch",
            f"{region} holds {index.digest}, plan {index.plan_id};"
            f" wanted is {wanted[0]}, plan {wanted[1]}",
        )
    return [_open_rank(files.rank_image(folder, shard.plan.rank), shard) for shard in shards]


def _open_rank(path: Path, shard: Shard) -> RankSource:
    try:
        with path.open("rb") as file:
            mapped = np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8)
    except (OSError, ValueError) as error:
        raise ImageRefused("ImageMissing", f"{path.name}: {error}") from error
    if mapped.size != shard.plan.image_bytes:
        raise ImageRefused(
            "ImageMismatch", f"{path.name} has {mapped.size} bytes, not {shard.plan.image_bytes}"
        )
    blocks = tuple(mapped[each.offset : each.offset + each.bytes] for each in shard.plan.blocks)
    return RankSource(
        blocks,
        tuple(
            BlockSum(block.parameter, block.bytes, zlib.crc32(data.data))
            for block, data in zip(shard.plan.blocks, blocks, strict=True)
        ),
    )


def copy(pairs: Iterable[tuple[Bytes, Bytes]], *, limit: int, bytes_per_second: float) -> None:
    """Copy (live, source) pairs, at most `limit` bytes, no faster than the given rate. Blocks."""
    begun = time.monotonic()
    done = 0
    for live, source in pairs:
        for at in range(0, live.size, CHUNK):
            size = min(CHUNK, live.size - at, limit - done)
            if size <= 0:
                return
            np.copyto(live[at : at + size], source[at : at + size])
            done += size
            ahead = done / bytes_per_second - (time.monotonic() - begun)
            if ahead > 0:
                time.sleep(ahead)
