"""Only layers that were tried with this vLLM are swapped; all others are refused by their class, before any pause."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch

import quirks
from realvllm import proven
from weightrollout.handover.records import LayerReport
from weightrollout.plugin import layers
from weightrollout.plugin.birth import Birth
from weightrollout.plugin.recording import Given, Record
from weightrollout.plugin.subject import Subject, SubjectError

QUIRKS = "vllm.model_executor.layers.quirks"


def subject_of(change: Callable[[Any], None] = lambda model: None) -> Subject:
    """A loaded model; `change`: what its constructor did besides."""
    weights = quirks.checkpoint(1)
    model = quirks.Model()
    change(model)
    record = Record(Birth.of(model), "")
    record.given = {name: Given(each.dtype, tuple(each.shape)) for name, each in weights.items()}
    model.load_weights(weights.items())
    quirks.process(model)
    return Subject.of(model, None, record, whole=True)


def known() -> layers.Tested:
    """As a run of the families would write it."""
    table = proven.merged({}, "quirks", subject_of().layers)
    return {kind: {at: tuple(names) for at, names in by.items()} for kind, by in table.items()}


def path(subject: Subject) -> str:
    return subject.path("", 1 << 40, by_reference=True, known=known())


def test_layers_of_a_family_that_was_proven_are_swapped() -> None:
    assert path(subject_of()) == "flip"


def test_layer_that_holds_weights_is_described_by_class_and_method() -> None:
    found = {layer.first: layer for layer in subject_of().layers}
    assert found["experts"].kind == f"{QUIRKS}.Experts"
    assert found["experts"].parts == (f"{QUIRKS}.Method",)
    assert found["qkv"].parts == ()


def test_layer_of_an_unknown_class_is_refused_with_it_and_with_the_override() -> None:
    class Novel(quirks.Fused):
        pass

    Novel.__module__, Novel.__qualname__ = QUIRKS, "Novel"

    def novel(model: quirks.Model) -> None:
        model.extra = Novel()

    with pytest.raises(SubjectError, match=r"extra is a .*quirks\.Novel") as caught:
        path(subject_of(novel))
    assert caught.value.reason == "LayerUntested"
    assert f"{layers.OVERRIDE}={QUIRKS}.Novel " in str(caught.value)
    assert f"{QUIRKS}.Novel" in {layer.kind for layer in caught.value.layers}


def test_known_layer_with_an_unknown_method_is_refused() -> None:
    class Other(quirks.Method):
        pass

    Other.__module__, Other.__qualname__ = QUIRKS, "Other"

    def other(model: quirks.Model) -> None:
        model.experts.quant_method = Other()

    with pytest.raises(SubjectError, match=r"experts is a .*Experts with .*quirks\.Other"):
        path(subject_of(other))


def test_satellite_that_holds_tensors_is_part_of_the_layer() -> None:
    class Table(quirks.Method):
        pass

    Table.__module__ = QUIRKS

    def table(model: quirks.Model) -> None:
        model.qkv.helper = Table()
        model.qkv.helper.rows = [torch.ones(2)]

    with pytest.raises(SubjectError, match=r"qkv is a .*Fused with .*Table"):
        path(subject_of(table))


def test_cache_that_no_checkpoint_fills_makes_no_layer() -> None:
    def rotary(model: quirks.Model) -> None:
        model.rotary = torch.nn.Identity()
        model.rotary.register_buffer("cosines", torch.ones(4), persistent=False)

    assert path(subject_of(rotary)) == "flip"


def test_buffer_that_a_checkpoint_fills_makes_a_layer() -> None:
    def counting(model: quirks.Model) -> None:
        model.counter = torch.nn.Identity()
        model.counter.register_buffer("counts", torch.ones(4))

    with pytest.raises(SubjectError, match="counter is a torch"):
        path(subject_of(counting))


def test_forced_path_does_not_get_around_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SubjectError) as caught:
        subject_of().path("flip", 1 << 40, by_reference=True, known={})
    assert caught.value.reason == "LayerUntested"


@pytest.mark.parametrize("of", ["*", "named"])
def test_override_lets_through_what_it_names(monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    subject = subject_of()
    names = ", ".join(sorted({layer.kind for layer in subject.layers}))
    monkeypatch.setenv(layers.OVERRIDE, names if of == "named" else of)
    assert subject.path("", 1 << 40, by_reference=True, known={}) == "flip"


def test_override_lets_nothing_else_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(layers.OVERRIDE, f"{QUIRKS}.Fused")
    with pytest.raises(SubjectError) as caught:
        subject_of().path("", 1 << 40, by_reference=True, known={})
    assert f"{QUIRKS}.Experts" in str(caught.value)
    assert "qkv is" not in str(caught.value)


def test_minor_with_an_override_of_its_own_needs_no_second_one() -> None:
    assert subject_of().path("", 1 << 40, by_reference=True, known=None) == "flip"


def test_tried_minor_without_its_list_is_an_error_and_no_licence() -> None:
    with pytest.raises(OSError, match=r"layers-0\.1\.json"):
        layers.tested("0.1")


def test_layer_that_is_not_plain_says_why() -> None:
    reasons = {layer.first: layer.not_in_place for layer in subject_of().layers}
    assert reasons["up"] == "linear was made from the weights"
    assert reasons["mixer"] == "derived was made from the weights"
    assert "another layout" in reasons["conv"]
    assert reasons["qkv"] == ""


def test_layers_that_are_alike_are_one_entry_with_a_count() -> None:
    def twice(model: quirks.Model) -> None:
        model.again = quirks.Fused()

    [fused] = [each for each in subject_of(twice).layers if each.kind == f"{QUIRKS}.Fused"]
    assert (fused.first, fused.count) == ("qkv", 2)


def test_a_family_that_is_run_again_replaces_what_it_said_before() -> None:
    old = LayerReport("a.Old", ("a.Method",), "x", 1)
    new = LayerReport("a.New", ("a.Method", "a.Scheme"), "x", 1)
    table = proven.merged({}, "one", [old])
    table = proven.merged(table, "two", [old, new, new])
    table = proven.merged(table, "one", [new])
    assert table == {
        "a.Old": {"a.Method": ["two"]},
        "a.New": {"a.Method + a.Scheme": ["two", "one"]},
    }
