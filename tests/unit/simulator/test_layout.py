"""The load plans of all ranks together cover every byte of every tensor once."""

from pathlib import Path

import pytest

import checkpoints
from simulator.layout import shards
from simulator.model import Model
from weightrollout.handover.records import PAGE, Piece


@pytest.mark.parametrize("ranks", [1, 2, 3, 40])
def test_ranks_share_each_tensor_without_gap_or_overlap(tmp_path: Path, ranks: int) -> None:
    model = Model.load(checkpoints.write_checkpoint(tmp_path, seed=1))
    pieces: dict[str, list[Piece]] = {tensor.name: [] for tensor in model.tensors}
    for shard in shards(model, ranks):
        for block in shard.plan.blocks:
            for piece in block.pieces:
                pieces[piece.name].append(piece)
    for tensor in model.tensors:
        at = 0
        for piece in sorted(pieces[tensor.name], key=lambda piece: piece.source_offset):
            assert piece.source_offset == at
            assert piece.bytes % tensor.item_bytes == 0
            at += piece.bytes
        assert at == tensor.data.size


def test_blocks_lie_on_pages_and_do_not_touch(tmp_path: Path) -> None:
    model = Model.load(checkpoints.write_checkpoint(tmp_path, seed=1))
    [shard] = shards(model, 1)
    end = 0
    for block in shard.plan.blocks:
        assert block.offset % PAGE == 0
        assert block.offset >= end
        end = block.offset + block.bytes
    assert shard.plan.image_bytes >= end


def test_same_architecture_has_the_same_plan_whatever_its_values(tmp_path: Path) -> None:
    a = Model.load(checkpoints.write_checkpoint(tmp_path / "a", seed=1))
    b = Model.load(checkpoints.write_checkpoint(tmp_path / "b", seed=2))
    assert shards(a, 1)[0].plan.plan_id() == shards(b, 1)[0].plan.plan_id()
