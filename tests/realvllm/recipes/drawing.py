"""Draw weights so that answers tell one checkpoint from another, tensor by tensor.

The usual initialiser (standard deviation 0.02) gives flat logits behind which a stale head hides. Here logits spread by about 2,
norm weights are not 1 and biases are not 0: any tensor that is stale shows in the log-probabilities.
"""

from __future__ import annotations

from typing import Final

import torch

#: Their norms multiply by 1 + weight.
ZERO_CENTRED: Final = ("Gemma", "Qwen3Next")


def redraw(model: torch.nn.Module, seed: int) -> None:
    """Replace all parameters, and the routers' correction biases, in place."""
    generator = torch.Generator().manual_seed(seed)
    tied = bool(getattr(model.config, "tie_word_embeddings", False))
    zero_centred = any(name in type(model).__name__ for name in ZERO_CENTRED)
    for name, parameter in model.named_parameters():
        centre = 0.0 if zero_centred and "linear_attn" not in name else 1.0
        drawn = draw(name, parameter, generator, tied=tied, norm_centre=centre)
        parameter.data.copy_(drawn.to(parameter.dtype))
    for name, buffer in model.named_buffers():
        if "e_score_correction_bias" in name:
            buffer.copy_(0.05 * torch.randn(buffer.shape, generator=generator))


def draw(
    name: str,
    like: torch.Tensor,
    generator: torch.Generator,
    *,
    tied: bool,
    norm_centre: float = 1.0,
) -> torch.Tensor:
    """Float32 values for the parameter `name` with the shape of `like`; some stay near what they were."""
    noise = torch.randn(like.shape, generator=generator)
    leaf = name.rpartition(".")[2]
    narrow = 1 / like.shape[-1] ** 0.5
    if leaf == "A_log":
        return like.float() + 0.2 * noise
    if leaf in ("dt_bias", "D", "sinks"):
        return like.float() + 0.3 * noise
    if "embed_tokens" in name or name.endswith("embeddings.weight"):
        return noise * (2.0 * narrow if tied else 0.5)
    if "lm_head" in name:
        return noise * 2.0 * narrow
    if "conv1d" in name:
        return 0.4 * noise
    if like.ndim == 1 and "norm" in name and leaf == "weight":
        return norm_centre + 0.2 * noise
    if like.ndim == 1:
        return 0.2 * noise
    return noise * narrow


def linear(rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
    """bfloat16 [rows, columns] of a linear layer that keeps the size of what goes through it."""
    return (torch.randn((rows, columns), generator=generator) / columns**0.5).bfloat16()


def norm(size: int, generator: torch.Generator) -> torch.Tensor:
    """bfloat16 [size] of a norm around 1."""
    return (1 + 0.2 * torch.randn(size, generator=generator)).bfloat16()
