"""The load plan of a simulated engine: every tensor copied in place, each rank its own range."""

import secrets
from dataclasses import dataclass
from typing import Final, Self

from simulator.model import Bytes, Model, Tensor
from simulator.settings import Settings
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
from weightrollout.weights.digest import metadata_hashes

PLUGIN_VERSION: Final = "simulated"


@dataclass(frozen=True, slots=True)
class Shard:
    """The plan of one rank, and the live bytes that its blocks fill, in block order."""

    plan: LoadPlan
    live: tuple[Bytes, ...]


def shards(model: Model, ranks: int) -> tuple[Shard, ...]:
    """Split each tensor into `ranks` contiguous ranges of whole elements; one rank: identity."""
    return tuple(_shard(model, rank, ranks) for rank in range(ranks))


def _shard(model: Model, rank: int, ranks: int) -> Shard:
    blocks: list[Block] = []
    live: list[Bytes] = []
    offset = 0
    for tensor in model.tensors:
        begin, end = _range(tensor, rank, ranks)
        size = end - begin
        if size == 0:
            continue
        piece = Piece(tensor.name, source_offset=begin, block_offset=0, bytes=size)
        blocks.append(Block(tensor.name, offset, size, "direct", (piece,)))
        live.append(tensor.data[begin:end])
        offset += -(-size // PAGE) * PAGE
    return Shard(LoadPlan(rank, offset, tuple(blocks)), tuple(live))


def _range(tensor: Tensor, rank: int, ranks: int) -> tuple[int, int]:
    elements = tensor.data.size // tensor.item_bytes
    return (
        elements * rank // ranks * tensor.item_bytes,
        elements * (rank + 1) // ranks * tensor.item_bytes,
    )


@dataclass(frozen=True, slots=True)
class Side:
    """A model, and how its ranks are filled: the target's or the draft's."""

    model: Model
    shards: tuple[Shard, ...]

    @classmethod
    def of(cls, model: Model, ranks: int) -> Self:
        return cls(model, shards(model, ranks))

    @property
    def bytes(self) -> int:
        return sum(live.size for shard in self.shards for live in shard.live)

    @property
    def facts(self) -> tuple[TensorFact, ...]:
        return tuple(TensorFact(each.name, each.dtype, each.shape) for each in self.model.tensors)


def reports(settings: Settings, target: Side, draft: Side | None = None) -> list[EngineReport]:
    """What each rank writes at load."""
    hashes = metadata_hashes(settings.model)
    fields = file_fields(settings.model)
    nonce = secrets.token_hex(8)
    return [
        EngineReport(
            rank=shard.plan.rank,
            world_size=len(target.shards),
            instance=settings.instance,
            boot_nonce=nonce,
            engine_version=settings.engine_version,
            plugin_version=PLUGIN_VERSION,
            model=str(settings.model),
            file_hashes=hashes,
            quantisation=settings.quantisation,
            eplb=settings.eplb,
            kv_connector=settings.kv_connector,
            speculative=settings.speculative,
            draft=None if draft is None else _draft(settings, draft, number),
            loras=settings.loras,
            free_bytes=settings.free_bytes,
            tensors=target.facts,
            plan=shard.plan,
            file_fields=fields,
        )
        for number, shard in enumerate(target.shards)
    ]


def _draft(settings: Settings, draft: Side, number: int) -> DraftReport:
    return DraftReport(
        method=settings.speculative,
        model=str(settings.draft or settings.model),
        tensors=draft.facts,
        plan=draft.shards[number].plan,
    )
