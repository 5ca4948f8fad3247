"""Live tensors are written in place only where that is proven."""

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch

import quirks
from weightrollout.plugin.birth import Birth
from weightrollout.plugin.inplace import source
from weightrollout.plugin.paths import Direct, PathError
from weightrollout.plugin.recording import Given, Record
from weightrollout.plugin.subject import Subject
from weightrollout.plugin.tracing import Filling, Piece, coverage


class Plain(torch.nn.Module):
    """A fused and a simple parameter; loading is copies."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = quirks.Fused()
        self.norm = torch.nn.Parameter(torch.empty(4, dtype=torch.float32), requires_grad=False)

    def load_weights(self, weights: Iterator[tuple[str, torch.Tensor]]) -> None:
        for name, loaded in weights:
            if name == "norm":
                self.norm.data.copy_(loaded)
            else:
                self.qkv.weight.weight_loader(self.qkv.weight, loaded, name)


def _weights(seed: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    found = {part: torch.randn(4, 4).bfloat16() for part in "qkv"}
    return {**found, "norm": torch.randn(4).bfloat16()}  # cast while loading


def _subject(
    model: Any,
    weights: dict[str, torch.Tensor],
    after: Callable[[Any], None] = lambda model: None,
) -> Subject:
    record = Record(Birth.of(model), "")
    record.given = {name: Given(each.dtype, tuple(each.shape)) for name, each in weights.items()}
    record.again = lambda _: iter(weights.items())
    model.load_weights(iter(weights.items()))
    after(model)
    return Subject.of(model, None, record, whole=True)


def test_plain_model_is_filled_in_place_casts_included() -> None:
    model, b = Plain(), _weights(2)
    subject = _subject(model, _weights(1))
    assert subject.in_place.why == ""
    for target in subject.in_place.targets:
        for piece in target.pieces:
            assert piece.source is not None
            target.view(piece).copy_(source(piece, b[piece.source]))
    fresh = Plain()
    fresh.load_weights(iter(b.items()))
    assert torch.equal(model.qkv.weight, fresh.qkv.weight)
    assert torch.equal(model.norm, fresh.norm)


def _direct(subject: Subject, weights: dict[str, torch.Tensor]) -> Direct:
    region: Any = SimpleNamespace(tensors=lambda: iter(weights.items()))
    path = Direct(subject, region, lambda model: None)
    path.prepare()
    return path


def test_copies_that_were_prepared_arrive() -> None:
    model, weights = Plain(), _weights(2)
    path = _direct(_subject(model, _weights(1)), weights)
    path.guard()
    path.apply()
    assert torch.equal(model.norm, weights["norm"].float())
    assert torch.equal(model.qkv.weight, torch.cat([weights[part] for part in "qkv"]))


def test_tensor_that_was_exchanged_since_the_plan_was_made_stops_the_copies() -> None:
    model = Plain()
    path = _direct(_subject(model, _weights(1)), _weights(2))
    model.norm = torch.nn.Parameter(torch.ones(4), requires_grad=False)
    with pytest.raises(PathError, match=r"PlanStale.*norm"):
        path.guard()
    assert model.norm.tolist() == [1, 1, 1, 1]


def test_tensor_whose_memory_moved_since_the_plan_was_made_stops_the_copies() -> None:
    model = Plain()
    path = _direct(_subject(model, _weights(1)), _weights(2))
    model.qkv.weight.data = torch.ones_like(model.qkv.weight.data)
    with pytest.raises(PathError, match="PlanStale"):
        path.guard()
    assert bool((model.qkv.weight == 1).all())


def test_bytes_that_were_shuffled_in_place_after_loading_are_noticed() -> None:
    def shuffle(model: Plain) -> None:
        model.qkv.weight.data.copy_(model.qkv.weight.data.flip(0))

    assert "live bytes are not those of" in _subject(Plain(), _weights(1), shuffle).in_place.why


def test_tensor_that_was_derived_from_weights_is_noticed() -> None:
    def derive(model: Plain) -> None:
        model.qkv.halves = model.qkv.weight.data / 2

    assert "halves was made from the weights" in _subject(Plain(), _weights(1), derive).in_place.why


def test_handle_in_a_closure_is_noticed() -> None:
    def pack(model: Plain) -> None:
        packed = model.qkv.weight.data.clone()
        model.qkv.linear = lambda x: x @ packed

    assert "linear was made from the weights" in _subject(Plain(), _weights(1), pack).in_place.why


def test_live_tensor_of_another_layout_is_noticed() -> None:
    def transpose(model: Plain) -> None:
        model.norm.data = model.norm.data.double()

    assert "another layout" in _subject(Plain(), _weights(1), transpose).in_place.why


def test_loader_that_computes_is_noticed() -> None:
    model = quirks.Model()
    subject = _subject(model, quirks.checkpoint(1))
    assert "computes" in subject.in_place.why


def test_tied_head_that_a_checkpoint_may_repeat_is_an_alias() -> None:
    weights = {"embed.weight": torch.randn(8, 4).bfloat16()}
    model = quirks.Model()
    record = Record(Birth.of(model), "")
    record.given = {name: Given(each.dtype, tuple(each.shape)) for name, each in weights.items()}
    facts = Subject.of(model, None, record, whole=True).facts
    assert [(fact.name, fact.aliases) for fact in facts] == [("embed.weight", ("head.weight",))]


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.data())
def test_coverage_finds_every_gap_and_overlap(lengths: list[int], data: st.DataObject) -> None:
    total, at, pieces = sum(lengths), 0, []
    for length in lengths:
        pieces.append(Piece("x", (length,), (1,), 0, (1,), at))
        at += length
    pieces = data.draw(st.permutations(pieces))
    assert coverage(Filling(list(pieces)), (total,), (1,), 0) == ""
    broken = list(pieces)
    harm = data.draw(st.sampled_from(["gap", "twice", "beyond"]))
    if harm == "gap":
        broken.pop()
    elif harm == "twice":
        broken.append(broken[0])
    else:
        broken.append(Piece("x", (1,), (1,), 0, (1,), total))
    assert coverage(Filling(broken), (total,), (1,), 0) != ""


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_coverage_knows_columns_as_well_as_rows(rows: int, left: int, right: int) -> None:
    width = left + right
    pieces = [
        Piece("l", (rows, left), (left, 1), 0, (width, 1), 0),
        Piece("r", (rows, right), (right, 1), 0, (width, 1), left),
    ]
    shape = (rows, width)
    assert math.prod(shape) == rows * width
    assert coverage(Filling(pieces), shape, (width, 1), 0) == ""
    assert coverage(Filling(pieces[:1]), shape, (width, 1), 0) != ""
