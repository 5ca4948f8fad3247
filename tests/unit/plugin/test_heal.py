"""What a foreign reload left behind when it failed is put back, whole or half done; nothing else is touched."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch
from torch import nn

from weightrollout.plugin.heal import heal


class Reload(ModuleType):
    """vLLM's bookkeeping of its own reload, as far as healing looks at it (0.32: reload/layerwise.py)."""

    def __init__(self) -> None:
        super().__init__("reload")
        self.layerwise = self
        self.LAYERWISE_INFO: dict[nn.Module, Any] = {}

    def begin(self, layer: nn.Module) -> None:
        parked = dict(layer.named_parameters(recurse=False)), dict(layer.named_buffers())
        info = SimpleNamespace(kernel_tensors=parked, load_numel_total=1)
        info.can_load = lambda: info.load_numel_total is not None
        info.reset = lambda: vars(info).update(kernel_tensors=None, load_numel_total=None)
        self.LAYERWISE_INFO[layer] = info
        for name, each in parked[0].items():
            layer.register_parameter(name, nn.Parameter(each.to("meta"), False))
        for name, each in parked[1].items():
            layer.register_buffer(name, each.to("meta"))

    def _place_kernel_tensors(self, layer: nn.Module, info: Any) -> None:
        parameters, buffers = info.kernel_tensors
        for name, each in parameters.items():
            layer.register_parameter(name, each)
        for name, each in buffers.items():
            layer.register_buffer(name, each)


@pytest.fixture
def reload(monkeypatch: pytest.MonkeyPatch) -> Reload:
    found = Reload()
    package = "vllm.model_executor.model_loader.reload"
    for parent in ("vllm", "vllm.model_executor", "vllm.model_executor.model_loader"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    monkeypatch.setitem(sys.modules, package, found)
    return found


def layers() -> nn.Sequential:
    scaled = nn.Linear(2, 2)
    scaled.register_buffer("scale", torch.ones(1))
    return nn.Sequential(nn.Linear(2, 2), scaled)


def tensors(model: nn.Module) -> list[int]:
    return [id(each) for each in (*model.parameters(), *model.buffers())]


def test_engine_that_nobody_reloaded_is_left_alone(reload: Reload) -> None:
    model = layers()
    before = tensors(model)
    assert not heal(model)
    assert tensors(model) == before


def test_live_tensors_are_back_after_a_reload_that_did_not_end(reload: Reload) -> None:
    model = layers()
    before = tensors(model)
    for layer in model:
        reload.begin(layer)
    assert heal(model)
    assert tensors(model) == before
    assert not heal(model)


def test_reload_is_undone_too_where_only_a_buffer_is_without_memory(reload: Reload) -> None:
    """All weights had come, and the trainer died before the end: attention layers wait for it."""
    model = layers()
    before = tensors(model)
    reload.begin(model[1])
    for name, each in model[1].named_parameters():
        model[1].register_parameter(name, nn.Parameter(torch.zeros_like(each, device="cpu")))
    assert heal(model)
    assert tensors(model) == before
