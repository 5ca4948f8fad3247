"""A small model with every habit that has made a weight update wrong in silence, one class each.

Its classes live where vLLM's layers live, as far as the plugin can see. `build` and `process` are
what an engine does at its start; `answer` depends on every weight.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import torch
from torch import nn

_LAYERS: Final = "vllm.model_executor.layers.quirks"
WIDTH: Final = 4


def checkpoint(seed: int) -> dict[str, torch.Tensor]:
    """Name -> tensor, bf16 except `mixer.rate` (f32)."""
    generator = torch.Generator().manual_seed(seed)
    names = ("q", "k", "v", "up", "experts.0", "experts.1", "conv")
    found = {
        f"{name}.weight": torch.randn(WIDTH, WIDTH, generator=generator).bfloat16()
        for name in names
    }
    found["embed.weight"] = torch.randn(8, WIDTH, generator=generator).bfloat16()
    found["norm.weight"] = torch.randn(WIDTH, generator=generator).bfloat16()
    found["mixer.rate"] = torch.rand(WIDTH, generator=generator)
    return found


class Method:
    """A satellite: packs on the first call only, as vLLM's unquantised MoE does."""

    def __init__(self) -> None:
        self.kernel: Kernel | None = None

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        if self.kernel is None:
            self.kernel = Kernel(layer)
            self.kernel.pack()


class Kernel:
    """Made while loading; holds its layer."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer

    def pack(self) -> None:
        self.layer.weight = nn.Parameter(self.layer.weight.data.flip(-1), requires_grad=False)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.layer.weight.flip(-1).transpose(-1, -2).float().mean(0)


class Fused(nn.Module):
    """Three checkpoint tensors in one parameter; the loader is a bound method."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = parameter(3 * WIDTH, WIDTH, self.load)

    def load(self, target: nn.Parameter, loaded: torch.Tensor, part: str) -> None:
        target.data.narrow(0, "qkv".index(part) * WIDTH, WIDTH).copy_(loaded)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight.T.float()).view(-1, 3, WIDTH).sum(1)


class Packed(nn.Module):
    """The weight becomes a handle in a closure, and itself empty."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = parameter(WIDTH, WIDTH)

    def process(self) -> None:
        handle = self.weight.data.T.float().contiguous()
        self.linear: Callable[[torch.Tensor], torch.Tensor] = lambda x: x @ handle
        self.weight = nn.Parameter(torch.empty(0, dtype=torch.bfloat16), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class Experts(nn.Module):
    """Packed by a satellite."""

    def __init__(self) -> None:
        super().__init__()
        self.quant_method = Method()
        self.weight = nn.Parameter(
            torch.empty(2, WIDTH, WIDTH, dtype=torch.bfloat16), requires_grad=False
        )

    def process(self) -> None:
        self.quant_method.process_weights_after_loading(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert self.quant_method.kernel is not None
        return self.quant_method.kernel(x)


class Conv(nn.Module):
    """A buffer made at construction as a view of a parameter that is packed and emptied later."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = parameter(WIDTH, WIDTH)
        self.register_buffer("rows", self.weight.data.view(-1), persistent=False)

    def process(self) -> None:
        self.weight = nn.Parameter(torch.empty(0, dtype=torch.bfloat16), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.rows.view(WIDTH, WIDTH).float()


class Mixer(nn.Module):
    """The loader computes; a derived tensor is a plain attribute; a scale is in no checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = nn.Parameter(torch.empty(WIDTH), requires_grad=False)
        self.scale = nn.Parameter(torch.tensor([2.0]), requires_grad=False)
        self.kv_cache = torch.tensor([])

    def load(self, target: nn.Parameter, loaded: torch.Tensor) -> None:
        target.data.copy_(-torch.exp(loaded))

    def process(self) -> None:
        self.rate.data = self.rate.data * 1.5  # the same object, other memory
        self.derived = self.rate.data * self.scale
        self.factor = float(self.derived.sum())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.derived + self.factor + self.rate


class Model(nn.Module):
    def __init__(self, *, tied: bool = True) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, WIDTH, dtype=torch.bfloat16)
        self.embed.weight.requires_grad = False
        self.head = nn.Linear(WIDTH, 8, bias=False, dtype=torch.bfloat16)
        self.head.weight.requires_grad = False
        if tied:
            self.head.weight = self.embed.weight
        self.qkv, self.up, self.experts = Fused(), Packed(), Experts()
        self.conv, self.mixer = Conv(), Mixer()
        self.norm = nn.Parameter(torch.empty(WIDTH, dtype=torch.bfloat16), requires_grad=False)
        self.layers: list[Any] = [self.qkv, self.up, self.experts, self.conv, self.mixer]

    def load_weights(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, loaded in weights:
            match name.split("."):
                case ["q" | "k" | "v" as part, _]:
                    self.qkv.weight.weight_loader(self.qkv.weight, loaded, part)
                case ["experts", number, _]:
                    self.experts.weight.data[int(number)].copy_(loaded)
                case ["mixer", _]:
                    self.mixer.load(self.mixer.rate, loaded)
                case ["norm", _]:
                    self.norm.data.copy_(loaded)
                case [module, _]:
                    getattr(self, module).weight.data.copy_(loaded)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens).float()
        for layer in self.layers:
            x = torch.tanh(layer(x)) * self.norm.float()
        return x @ self.head.weight.T.float()


for _class in (Method, Kernel, Fused, Packed, Experts, Conv, Mixer, Model):
    _class.__module__ = _LAYERS


def parameter(rows: int, columns: int, loader: Any = None) -> nn.Parameter:
    made = nn.Parameter(torch.empty(rows, columns, dtype=torch.bfloat16), requires_grad=False)
    made.weight_loader = loader
    return made


def process(model: nn.Module) -> None:
    for module in model.modules():
        if hasattr(module, "process"):
            module.process()


def fresh(weights: dict[str, torch.Tensor], *, tied: bool = True) -> Model:
    """What a new process serves."""
    model = Model(tied=tied)
    model.load_weights(weights.items())
    process(model)
    return model


def answer(model: nn.Module) -> torch.Tensor:
    found: torch.Tensor = model(torch.arange(8))
    return found


def offered(weights: dict[str, torch.Tensor]) -> Iterator[tuple[str, torch.Tensor]]:
    yield from weights.items()
