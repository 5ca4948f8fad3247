"""Stage a checkpoint in one line, and read back what lies in the image."""

from collections.abc import Sequence
from pathlib import Path

import checkpoints
from weightrollout.api.spec import Metadata
from weightrollout.handover import files
from weightrollout.handover.records import EngineReport, ImageIndex
from weightrollout.weights.staging import Store


def stage(
    store: Store,
    folder: Path,
    reports: Sequence[EngineReport],
    *,
    digest: str | None = None,
    policy: Metadata = Metadata.REQUIRE,
) -> ImageIndex:
    return store.stage(
        folder.as_uri(),
        digest=digest,
        reports=reports,
        policy=policy,
        progress=lambda _: None,
        cancelled=lambda: False,
    )


def block_bytes(region: Path, report: EngineReport, parameter: str) -> bytes:
    """What the image holds for one parameter of one rank."""
    (block,) = (block for block in report.plan.blocks if block.parameter == parameter)
    image = files.rank_image(region, report.rank).read_bytes()
    return image[block.offset : block.offset + block.bytes]


def source_bytes(folder: Path, report: EngineReport, parameter: str) -> bytes:
    """What it should hold, read from the checkpoint piece by piece."""
    (block,) = (block for block in report.plan.blocks if block.parameter == parameter)
    stored = checkpoints.stored(folder)
    data = {name: stored[name].data() for name in {piece.name for piece in block.pieces}}
    pieces = sorted(block.pieces, key=lambda piece: piece.block_offset)
    return b"".join(
        data[piece.name][piece.source_offset : piece.source_offset + piece.bytes]
        for piece in pieces
    )


def finished(store: Store) -> list[str]:
    """Of these, without what a failure that may pass has left for the next staging."""
    return [name for name in visible(store) if not name.startswith(".part-")]


def visible(store: Store) -> list[str]:
    """Names of everything below the images folder, finished or not."""
    return sorted(path.name for path in (store.root / files.IMAGES).iterdir())
