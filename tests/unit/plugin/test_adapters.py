"""Adapters that were loaded after the start are seen by the next Init, and refuse it."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

from weightrollout.plugin.adapters import refusal

WITHOUT: Any = SimpleNamespace(lora_config=None)
WITH: Any = SimpleNamespace(lora_config=object())


def model(*adapters: int) -> Any:
    known = dict.fromkeys(adapters)
    return SimpleNamespace(lora_manager=SimpleNamespace(list_adapters=lambda: known))


def test_engine_without_adapters_is_swapped() -> None:
    assert refusal(WITHOUT, SimpleNamespace()) == ("", "")
    assert refusal(WITH, model()) == ("", "")


def test_loaded_adapters_are_counted_and_refused() -> None:
    reason, message = refusal(WITH, model(1, 7))
    assert reason == "LorasLoaded"
    assert "2 LoRA adapters" in message


def test_engine_that_does_not_tell_its_adapters_is_refused() -> None:
    assert refusal(WITH, SimpleNamespace())[0] == "LorasUnknown"
