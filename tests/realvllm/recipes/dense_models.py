"""Decoders without experts, states or packed weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from realvllm.recipes.tokenizer import END_ID
from realvllm.recipes.writing import DENSE, TOKENS, Recipe, Tensors, dense, edit_weights, model

#: Four layers, because every second one attends to a window only.
_GEMMA: Final[dict[str, Any]] = {
    "num_hidden_layers": 4,
    "tie_word_embeddings": True,
    "query_pre_attn_scalar": 32,
    "sliding_window": 64,
}

_LONG_QWEN3: Final = dense("Qwen3", max_position_embeddings=8192)


def _endless(folder: Path, seed: int) -> None:
    """A Qwen3 that never ends an answer by itself: the logit of the end is always 0, and others are above it."""
    _LONG_QWEN3(folder, seed)

    def mute_the_end(tensors: Tensors) -> Tensors:
        tensors["lm_head.weight"][END_ID] = 0
        return tensors

    edit_weights(folder, mute_the_end)


RECIPES: Final[dict[str, Recipe]] = {
    "qwen3": dense("Qwen3"),
    "endless": _endless,
    "qwen3_tied": dense("Qwen3", tie_word_embeddings=True),
    "qwen2": dense("Qwen2"),  # has biases at q, k and v
    "llama": dense("Llama"),
    "llama_tied": dense("Llama", tie_word_embeddings=True),
    "llama_deep": dense("Llama", num_hidden_layers=4),  # EAGLE-3 looks at three layers of it
    "mistral": dense("Mistral", sliding_window=None),
    "gemma2": dense("Gemma2", **_GEMMA),
    "gemma3": model("Gemma3ForCausalLM", "Gemma3TextConfig", **(DENSE | _GEMMA)),
    "gpt2": model(
        "GPT2LMHeadModel", "GPT2Config", **TOKENS, n_embd=64, n_layer=2, n_head=2, n_inner=128
    ),
}
