"""Packing in the pause needs no memory for two models, and does not wait for Python's garbage."""

import gc
from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch
from torch.multiprocessing.reductions import StorageWeakRef

import quirks
from weightrollout.plugin import paths
from weightrollout.plugin.birth import Birth
from weightrollout.plugin.recording import Given, Record
from weightrollout.plugin.subject import Subject

A, B = quirks.checkpoint(1), quirks.checkpoint(2)


class Image:
    """The part of a Region that a path needs; nothing in it is kept by the engine."""

    def __init__(self, weights: dict[str, torch.Tensor]) -> None:
        self._weights = {name: tensor.clone() for name, tensor in weights.items()}

    def tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        yield from self._weights.items()

    def holds(self, tensor: torch.Tensor) -> bool:
        return tensor.data_ptr() in {each.data_ptr() for each in self._weights.values()}


@pytest.fixture
def serving() -> Iterator[Subject]:
    """A packed model that serves A. Python looks for no garbage while the test runs."""
    model = quirks.Model()
    record = Record(Birth.of(model), "")
    record.given = {name: Given(each.dtype, tuple(each.shape)) for name, each in A.items()}
    model.load_weights(A.items())
    quirks.process(model)
    subject = Subject.of(model, None, record, whole=True)
    gc.collect()
    gc.disable()
    yield subject
    gc.enable()


def swap(subject: Subject, kind: type[paths.Path], weights: dict[str, torch.Tensor]) -> None:
    path = kind(subject, Image(weights), quirks.process)  # type: ignore[arg-type]
    with torch.no_grad():
        path.prepare()
        path.start()
        path.guard()
        path.apply()
        path.finish()
        path.free()


def held(model: quirks.Model) -> list[StorageWeakRef]:
    """What the live model's weights lie in, the packed form in a closure included."""
    handle = next(cell.cell_contents for cell in model.up.linear.__closure__ or ())
    tensors = [*model.parameters(), handle, model.mixer.derived]
    return [StorageWeakRef(each.untyped_storage()) for each in tensors if each.numel()]


@pytest.mark.parametrize("before", [paths.Repack, paths.Flip])
def test_old_weights_are_free_before_new_ones_are_loaded(
    serving: Subject, before: type[paths.Path]
) -> None:
    swap(serving, before, B)
    swap(serving, before, A)
    old = held(serving.model)
    assert len(old) > 6
    paths._let_go(serving)
    assert [each.expired() for each in old] == [True] * len(old)


def test_engine_that_packs_in_the_pause_answers_as_a_fresh_one(serving: Subject) -> None:
    for kind, weights in (
        (paths.Repack, B),
        (paths.Repack, A),
        (paths.Flip, B),
        (paths.Repack, A),
        (paths.Repack, B),
    ):
        swap(serving, kind, weights)
        assert torch.equal(quirks.answer(serving.model), quirks.answer(quirks.fresh(weights)))


def test_load_that_failed_in_the_pause_can_be_run_again(serving: Subject) -> None:
    torn = {name: tensor for name, tensor in B.items() if name != "up.weight"}
    torn["up.weight"] = torch.zeros(1, 1, 3)
    with pytest.raises(RuntimeError):
        swap(serving, paths.Repack, torn)
    swap(serving, paths.Repack, B)
    assert torch.equal(quirks.answer(serving.model), quirks.answer(quirks.fresh(B)))
