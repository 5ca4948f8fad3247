"""Decoders without experts, states or packed weights."""

from __future__ import annotations

from typing import Any, Final

from realvllm.recipes.writing import DENSE, Recipe, dense, model

#: Four layers, because every second one attends to a window only.
_GEMMA: Final[dict[str, Any]] = {
    "num_hidden_layers": 4,
    "tie_word_embeddings": True,
    "query_pre_attn_scalar": 32,
    "sliding_window": 64,
}

RECIPES: Final[dict[str, Recipe]] = {
    "qwen3": dense("Qwen3"),
    "qwen3_tied": dense("Qwen3", tie_word_embeddings=True),
    "qwen2": dense("Qwen2"),  # has biases at q, k and v
    "llama": dense("Llama"),
    "llama_tied": dense("Llama", tie_word_embeddings=True),
    "llama_deep": dense("Llama", num_hidden_layers=4),  # EAGLE-3 looks at three layers of it
    "mistral": dense("Mistral", sliding_window=None),
    "gemma2": dense("Gemma2", **_GEMMA),
    "gemma3": model("Gemma3ForCausalLM", "Gemma3TextConfig", **(DENSE | _GEMMA)),
}
