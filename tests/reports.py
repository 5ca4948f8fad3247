"""What an engine that was started on a checkpoint would report, for tests of staging and swap."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import checkpoints
from weightrollout.handover.fields import file_fields
from weightrollout.handover.records import (
    PAGE,
    Block,
    DraftReport,
    EngineReport,
    LoadPlan,
    Piece,
    TensorFact,
)
from weightrollout.weights import digest

Aliases = Mapping[str, tuple[str, ...]]


def report_of(
    folder: Path, *, instance: str = "engine-1", aliases: Aliases | None = None
) -> EngineReport:
    """One rank whose parameters are the checkpoint's tensors. An alias shares its tensor's block."""
    return _report(folder, 0, 1, instance, aliases or {}, _whole)


def sharded_reports(folder: Path, *, instance: str = "engine-1") -> tuple[EngineReport, ...]:
    """Two ranks: matrices are split by columns, so their pieces are strided; vectors go to both."""
    return tuple(_report(folder, rank, 2, instance, {}, _columns) for rank in range(2))


Cut = tuple[int, int]  # source offset, bytes
CutsOf = Callable[[checkpoints.Stored, int], list[Cut]]


def _whole(tensor: checkpoints.Stored, _: int) -> list[Cut]:
    return [(0, tensor.size)]


def _columns(tensor: checkpoints.Stored, rank: int) -> list[Cut]:
    if len(tensor.shape) != 2:
        return _whole(tensor, rank)
    row = tensor.size // tensor.shape[0]
    return [(at + rank * row // 2, row // 2) for at in range(0, tensor.size, row)]


def _report(
    folder: Path,
    rank: int,
    world_size: int,
    instance: str,
    aliases: Aliases,
    cuts_of: CutsOf,
) -> EngineReport:
    shared = {alias for each in aliases.values() for alias in each}
    tensors = [each for name, each in checkpoints.stored(folder).items() if name not in shared]
    blocks = []
    at = 0
    for tensor in tensors:
        pieces = []
        filled = 0
        for source, size in cuts_of(tensor, rank):
            pieces.append(Piece(tensor.name, source, filled, size))
            filled += size
        blocks.append(Block(tensor.name, at, filled, "direct", tuple(pieces)))
        at += -(-filled // PAGE) * PAGE
    return EngineReport(
        rank=rank,
        world_size=world_size,
        instance=instance,
        boot_nonce="nonce-1",
        engine_version="0.33.0",
        plugin_version="0.1.0",
        model=str(folder),
        file_hashes=digest.metadata_hashes(folder),
        quantisation="",
        eplb=False,
        kv_connector="",
        speculative="",
        draft=None,
        loras=0,
        free_bytes=1 << 30,
        tensors=tuple(
            TensorFact(each.name, each.dtype, each.shape, aliases.get(each.name, ()))
            for each in tensors
        ),
        plan=LoadPlan(rank, at, tuple(blocks)),
        file_fields=file_fields(folder),
    )


def with_draft(
    report: EngineReport, folder: Path, *, method: str = "mtp", names: tuple[str, ...] = ()
) -> EngineReport:
    """The same rank with a draft that was loaded from a checkpoint; `names` () for all of it."""
    of_draft = report_of(folder)
    kept = names or tuple(fact.name for fact in of_draft.tensors)
    blocks = []
    at = 0
    for block in of_draft.plan.blocks:
        if block.parameter in kept:
            blocks.append(replace(block, offset=at))
            at += -(-block.bytes // PAGE) * PAGE
    facts = tuple(fact for fact in of_draft.tensors if fact.name in kept)
    plan = LoadPlan(report.rank, at, tuple(blocks))
    return replace(report, speculative=method, draft=DraftReport(method, str(folder), facts, plan))
