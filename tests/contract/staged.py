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
    image = bytearray(plan.image_bytes)
    for block in plan.blocks:
        for piece in block.pieces:
            data = tensors[piece.name].data()
            at = block.offset + piece.block_offset
            image[at : at + piece.bytes] = data[piece.source_offset :][: piece.bytes]
    files.rank_image(folder, plan.rank).write_bytes(image)
    sums = (
        BlockSum(each.parameter, each.bytes, zlib.crc32(image[each.offset :][: each.bytes]))
        for each in plan.blocks
    )
    return RankImage(plan.rank, plan.image_bytes, tuple(sums))
