"""The reference payload: a model with the shapes of Qwen3-0.6B, for measuring with.

Tied: 310 tensors, 1,192,099,840 bytes; untied: 311 tensors, 1,503,264,768 bytes. The shapes are those of the
payload that the simulator serves.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import torch
from transformers import Qwen3Config

from checkpoints import qwen3_06b_shapes
from realvllm.recipes.drawing import draw
from realvllm.recipes.tokenizer import END_ID, save_tokenizer
from realvllm.recipes.writing import Recipe, save

VOCABULARY: Final = 151_936


def _payload(*, tied: bool) -> Callable[[Path, int], None]:
    def write(folder: Path, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        shapes = {name: shape for name, (_, shape) in qwen3_06b_shapes().items()}
        if tied:
            del shapes["lm_head.weight"]
        tensors = {
            name: draw(name, torch.empty(shape, device="meta"), generator, tied=tied).bfloat16()
            for name, shape in shapes.items()
        }
        save(folder, tensors)
        _config(tied=tied).save_pretrained(folder)
        save_tokenizer(folder, VOCABULARY)

    return write


def _config(*, tied: bool) -> Qwen3Config:
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=1024,
        intermediate_size=3072,
        num_hidden_layers=28,
        num_attention_heads=16,
        num_key_value_heads=8,
        head_dim=128,
        max_position_embeddings=4096,
        tie_word_embeddings=tied,
        eos_token_id=END_ID,
        dtype="bfloat16",
    )
    config.architectures = ["Qwen3ForCausalLM"]
    return config


RECIPES: Final[dict[str, Recipe]] = {
    "payload_tied": _payload(tied=True),
    "payload_untied": _payload(tied=False),
}
