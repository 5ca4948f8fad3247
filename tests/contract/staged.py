"""Write the image that an engine's load plan asks for, straight from a checkpoint."""

import hashlib
import zlib
from pathlib import Path

import checkpoints
from weightrollout.handover import files, records
from weightrollout.handover.records import BlockSum, ImageIndex, InitInfo, LoadPlan, RankImage


def stage(checkpoint: Path, plans: list[LoadPlan], staging: Path, *, txn: str) -> InitInfo:
    """Stage for all ranks. The digest only names the content here: it is not the product's."""
    digest = f"sha256:{hashlib.sha256(str(checkpoint).encode()).hexdigest()}"
    region = files.region(digest, plans[0].plan_id())
    folder = staging / region
    folder.mkdir(parents=True, exist_ok=True)
    ranks = tuple(_write_rank(checkpoint, plan, folder) for plan in plans)
    records.write(folder / files.INDEX, ImageIndex(digest, plans[0].plan_id(), ranks))
    return InitInfo(txn=txn, digest=digest, region=region)


def _write_rank(checkpoint: Path, plan: LoadPlan, folder: Path) -> RankImage:
    tensors = checkpoints.stored(checkpoint)
    whole = bytearray(plan.image_bytes)
    image = memoryview(whole)
    sums: list[BlockSum] = []
    for block in plan.blocks:
        inside = image[block.offset : block.offset + block.bytes]
        for piece in block.pieces:
            data = memoryview(tensors[piece.name].data())
            end = piece.source_offset + piece.bytes
            inside[piece.block_offset :][: piece.bytes] = data[piece.source_offset : end]
        sums.append(BlockSum(block.parameter, block.bytes, zlib.crc32(inside)))
    files.rank_image(folder, plan.rank).write_bytes(whole)
    return RankImage(plan.rank, plan.image_bytes, tuple(sums))
