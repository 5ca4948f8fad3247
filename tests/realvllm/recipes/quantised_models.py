"""A Qwen3 whose decoder linears are stored packed, as five quantisers publish them, written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import torch

from realvllm.recipes.writing import Recipe, Tensors, dense, edit_config, edit_weights

#: (rows out, columns in, generator) -> the tensors that stand for one linear's weight, by leaf name.
Packed = Callable[[int, int, torch.Generator], Tensors]

GROUP: Final = 32
_QWEN3: Final = dense("Qwen3")


def _pack(values: torch.Tensor, dim: int, order: Sequence[int] = range(8)) -> torch.Tensor:
    """Eight 4-bit values along `dim` into one int32, the first of `order` into the lowest bits."""
    wide = values.transpose(dim, -1).to(torch.int64)
    wide = wide.reshape(*wide.shape[:-1], -1, 8)[..., list(order)]
    packed = sum(wide[..., at] << (4 * at) for at in range(8))
    signed = torch.where(packed >= 2**31, packed - 2**32, packed)
    return signed.to(torch.int32).transpose(dim, -1)


def _group_scale(shape: tuple[int, int], columns: int, generator: torch.Generator) -> torch.Tensor:
    """So that a linear keeps the size of what goes through it: 4.6 is the deviation of 0..15."""
    return ((0.75 + 0.5 * torch.rand(shape, generator=generator)) / (4.6 * columns**0.5)).bfloat16()


def _gptq(rows: int, columns: int, generator: torch.Generator) -> Tensors:
    values = torch.randint(0, 16, (columns, rows), generator=generator)
    groups = columns // GROUP
    return {
        "qweight": _pack(values, 0),
        "qzeros": _pack(torch.full((groups, rows), 7), 1),
        "scales": _group_scale((groups, rows), columns, generator),
        "g_idx": torch.arange(columns, dtype=torch.int32) // GROUP,
    }


def _awq(rows: int, columns: int, generator: torch.Generator) -> Tensors:
    order, groups = (0, 2, 4, 6, 1, 3, 5, 7), columns // GROUP
    values = torch.randint(0, 16, (columns, rows), generator=generator)
    zeros = torch.randint(6, 10, (groups, rows), generator=generator)
    return {
        "qweight": _pack(values, 1, order),
        "qzeros": _pack(zeros, 1, order),
        "scales": _group_scale((groups, rows), columns, generator),
    }


def _int8(rows: int, columns: int, generator: torch.Generator) -> Tensors:
    values = torch.randint(-127, 128, (rows, columns), generator=generator)
    spread = 0.75 + 0.5 * torch.rand((rows, 1), generator=generator)
    return {
        "weight": values.to(torch.int8),
        "weight_scale": (spread / (73 * columns**0.5)).bfloat16(),
    }


def _w4a16(rows: int, columns: int, generator: torch.Generator) -> Tensors:
    values = torch.randint(0, 16, (rows, columns), generator=generator)
    return {
        "weight_packed": _pack(values, 1),
        "weight_scale": _group_scale((rows, columns // GROUP), columns, generator),
        "weight_shape": torch.tensor([rows, columns], dtype=torch.int64),
    }


def _fp8(rows: int, columns: int, generator: torch.Generator) -> Tensors:
    values = (torch.randn((rows, columns), generator=generator) * 100).clamp(-440, 440)
    spread = 0.75 + 0.5 * torch.rand((rows, 1), generator=generator)
    return {
        "weight": values.to(torch.float8_e4m3fn),
        "weight_scale": (spread / (100 * columns**0.5)).float(),
    }


def _compressed(
    form: str, weights: dict[str, Any], inputs: dict[str, Any] | None
) -> dict[str, Any]:
    """`quantization_config` of compressed-tensors with one group for all linears."""
    group = {
        "targets": ["Linear"],
        "weights": weights,
        "input_activations": inputs,
        "output_activations": None,
    }
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "quantization_status": "compressed",
        "ignore": ["lm_head"],
        "config_groups": {"group_0": group},
    }


def _numbers(
    bits: int, kind: str, strategy: str, *, dynamic: bool = False, group: int | None = None
) -> dict[str, Any]:
    return {
        "num_bits": bits,
        "type": kind,
        "symmetric": True,
        "strategy": strategy,
        "dynamic": dynamic,
        "group_size": group,
    }


def _quantised(config: dict[str, Any], pack: Packed) -> Recipe:
    def write(folder: Path, seed: int) -> None:
        _QWEN3(folder, seed)
        generator = torch.Generator().manual_seed(seed + 50)

        def replace(tensors: Tensors) -> Tensors:
            replaced: Tensors = {}
            for name, tensor in tensors.items():
                if name.endswith("_proj.weight"):
                    packed = pack(tensor.shape[0], tensor.shape[1], generator)
                    stem = name.removesuffix("weight")
                    replaced |= {f"{stem}{leaf}": value for leaf, value in packed.items()}
                else:
                    replaced[name] = tensor
            return replaced

        edit_weights(folder, replace)
        edit_config(folder, quantization_config=config)

    return write


_GPTQ_CONFIG: Final = {
    "quant_method": "gptq",
    "bits": 4,
    "group_size": GROUP,
    "desc_act": False,
    "sym": True,
    "lm_head": False,
    "checkpoint_format": "gptq",
}
_AWQ_CONFIG: Final = {
    "quant_method": "awq",
    "bits": 4,
    "group_size": GROUP,
    "zero_point": True,
    "version": "gemm",
    "modules_to_not_convert": ["lm_head"],
}
_INT8: Final = _numbers(8, "int", "channel")
_INT8_INPUTS: Final = _numbers(8, "int", "token", dynamic=True)
_INT4: Final = _numbers(4, "int", "group", group=GROUP)
_FP8: Final = _numbers(8, "float", "channel")
_FP8_INPUTS: Final = _numbers(8, "float", "token", dynamic=True)

RECIPES: Final[dict[str, Recipe]] = {
    "gptq": _quantised(_GPTQ_CONFIG, _gptq),
    "awq": _quantised(_AWQ_CONFIG, _awq),
    "int8": _quantised(_compressed("int-quantized", _INT8, _INT8_INPUTS), _int8),
    "w4a16": _quantised(_compressed("pack-quantized", _INT4, None), _w4a16),
    "fp8": _quantised(_compressed("float-quantized", _FP8, _FP8_INPUTS), _fp8),
}
