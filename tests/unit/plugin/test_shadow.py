"""What a loaded shadow leaves behind is what a fresh process would serve, whatever layers do."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch

import quirks
from weightrollout.plugin.birth import Birth
from weightrollout.plugin.exchange import Exchange
from weightrollout.plugin.shadow import Shadow, ShadowError

A, B = quirks.checkpoint(1), quirks.checkpoint(2)


def _live(weights: dict[str, torch.Tensor], *, tied: bool = True) -> tuple[quirks.Model, Birth]:
    model = quirks.Model(tied=tied)
    birth = Birth.of(model)
    model.load_weights(weights.items())
    quirks.process(model)
    return model, birth


def _exchange(
    birth: Birth,
    weights: dict[str, torch.Tensor],
    foreign: Callable[[torch.Tensor], bool] = lambda tensor: False,
) -> Exchange:
    shadow = Shadow.of(birth)
    shadow.load(weights.items())
    shadow.process(quirks.process)
    return Exchange.of(shadow, foreign=foreign)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.equal(one, other))


def test_engine_after_an_exchange_answers_as_a_fresh_one() -> None:
    model, birth = _live(A)
    for weights in (B, A, B):
        _exchange(birth, weights).apply()
        assert _same(quirks.answer(model), quirks.answer(quirks.fresh(weights)))


def test_engine_answers_as_before_until_the_exchange() -> None:
    model, birth = _live(A)
    before = quirks.answer(model)
    exchange = _exchange(birth, B)
    assert _same(quirks.answer(model), before)
    exchange.apply()
    assert not _same(quirks.answer(model), before)


def test_exchange_that_is_run_again_changes_nothing_more() -> None:
    model, birth = _live(A)
    exchange = _exchange(birth, B)
    exchange.apply()
    exchange.apply()
    assert _same(quirks.answer(model), quirks.answer(quirks.fresh(B)))


def test_whoever_holds_a_module_or_a_parameter_sees_the_new_weights() -> None:
    model, birth = _live(A)
    module, embedding, method = model.up, model.embed.weight, model.experts.quant_method
    _exchange(birth, B).apply()
    assert model.up is module
    assert model.embed.weight is embedding
    assert model.head.weight is embedding
    assert model.experts.quant_method is method
    assert _same(embedding, B["embed.weight"])


def test_what_runs_the_model_keeps_its_cache() -> None:
    model, birth = _live(A)
    model.mixer.kv_cache = cache = torch.ones(3)
    _exchange(birth, B).apply()
    assert model.mixer.kv_cache is cache


def test_no_tensor_of_the_image_stays_in_the_engine() -> None:
    model, birth = _live(A)
    image = {name: tensor.clone() for name, tensor in B.items()}
    held = {tensor.data_ptr() for tensor in image.values()}
    exchange = _exchange(birth, image, lambda tensor: tensor.data_ptr() in held)
    exchange.apply()
    for tensor in image.values():
        tensor.fill_(float("nan"))
    assert _same(quirks.answer(model), quirks.answer(quirks.fresh(B)))


def test_head_that_the_checkpoint_unties_is_refused_with_its_name() -> None:
    model = quirks.Model(tied=False)
    birth = Birth.of(model)
    head = {"head.weight": A["embed.weight"]}
    model.load_weights({**A, **head}.items())
    model.head.weight = model.embed.weight  # an engine ties them when they are equal
    quirks.process(model)
    other = {"head.weight": A["embed.weight"]}
    with pytest.raises(ShadowError, match="one tensor with another"):
        _exchange(birth, {**B, **other})


def test_large_tensor_that_no_checkpoint_fills_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weightrollout.plugin.birth.VALUE_BYTES", 4)
    _, birth = _live(A)
    without = {name: tensor for name, tensor in B.items() if name != "norm.weight"}
    with pytest.raises(ShadowError, match="no checkpoint tensor fills norm"):
        _exchange(birth, without)


def test_tensors_that_somebody_exchanges_after_the_preparation_are_filled_all_the_same() -> None:
    """A reload that failed parks the live tensors; they are put back before the pause."""
    model, birth = _live(A)
    for module in model.modules():
        for name, parked in list(module.named_parameters(recurse=False)):
            module.register_parameter(name, torch.nn.Parameter(parked.to("meta"), False))
            module.__dict__.setdefault("parked", {})[name] = parked
    exchange = _exchange(birth, B)
    for module in model.modules():
        for name, parked in module.__dict__.pop("parked", {}).items():
            module.register_parameter(name, parked)
    exchange.apply()
    assert _same(quirks.answer(model), quirks.answer(quirks.fresh(B)))


def test_tensor_that_is_gone_at_the_pause_is_named_before_anything_changes() -> None:
    model, birth = _live(A)
    exchange = _exchange(birth, B)
    assert exchange.missing() == ""
    del model.norm
    assert exchange.missing() == "norm"


def test_replaced_modules_can_be_freed() -> None:
    model, birth = _live(A)
    gone = [thing for thing in birth.things.values() if thing.live() is model.up]
    model.up = quirks.Packed()
    model.layers[1] = model.up
    assert gone[0].live() is None
