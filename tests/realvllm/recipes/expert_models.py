"""Mixtures of experts, with and without latent attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch

from realvllm.recipes.drawing import linear, norm
from realvllm.recipes.writing import (
    TOKENS,
    Recipe,
    Tensors,
    dense,
    edit_config,
    edit_weights,
    model,
)

_FOUR_EXPERTS: Final[dict[str, Any]] = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "decoder_sparse_step": 1,
}
#: kv_lora_rank 512 with a rope head of 64 is the only shape that vLLM's CPU kernel has.
_LATENT: Final[dict[str, Any]] = TOKENS | {
    "hidden_size": 64,
    "intermediate_size": 128,
    "moe_intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "kv_lora_rank": 512,
    "q_lora_rank": 32,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 64,
    "v_head_dim": 64,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "tie_word_embeddings": False,
    "n_group": 1,
    "topk_group": 1,
    "routed_scaling_factor": 1.0,
}
#: transformers 5 does not write it; without it vLLM makes no e_score_correction_bias and fails on that name.
_TOPK: Final = "noaux_tc"
_DEEPSEEK_V3: Final = model(
    "DeepseekV3ForCausalLM", "DeepseekV3Config", **_LATENT, norm_topk_prob=True
)
_GPT_OSS: Final = dense(
    "GptOss",
    num_local_experts=4,
    num_experts_per_tok=2,
    sliding_window=64,
    layer_types=["sliding_attention", "full_attention"],
    head_dim=64,
    intermediate_size=64,
)


def _deepseek_v3(folder: Path, seed: int) -> None:
    _DEEPSEEK_V3(folder, seed)
    edit_config(folder, topk_method=_TOPK)


def _deepseek_v3_mtp(folder: Path, seed: int) -> None:
    """With one layer that predicts the token after the next: the last layer, and what such a layer has beside."""
    _DEEPSEEK_V3(folder, seed)

    def add(tensors: Tensors) -> Tensors:
        generator = torch.Generator().manual_seed(seed + 100)
        at, hidden = "model.layers.2", _LATENT["hidden_size"]
        tensors[f"{at}.eh_proj.weight"] = linear(hidden, 2 * hidden, generator)
        for name in ("enorm", "hnorm", "shared_head.norm"):
            tensors[f"{at}.{name}.weight"] = norm(hidden, generator)
        tensors[f"{at}.embed_tokens.weight"] = tensors["model.embed_tokens.weight"].clone()
        tensors[f"{at}.shared_head.head.weight"] = tensors["lm_head.weight"].clone()
        return tensors

    edit_weights(folder, add)
    edit_config(folder, num_hidden_layers=2, num_nextn_predict_layers=1, topk_method=_TOPK)


def _gpt_oss(folder: Path, seed: int) -> None:
    """In bfloat16: the published MXFP4 has no kernel on CPU."""
    _GPT_OSS(folder, seed)
    edit_config(folder, quantization_config=None)


RECIPES: Final[dict[str, Recipe]] = {
    "qwen2_moe": dense("Qwen2Moe", **_FOUR_EXPERTS, shared_expert_intermediate_size=64),
    "qwen3_moe": dense("Qwen3Moe", **_FOUR_EXPERTS, norm_topk_prob=True),
    "mixtral": dense("Mixtral", num_local_experts=4, num_experts_per_tok=2, sliding_window=None),
    "deepseek_v2": model(
        "DeepseekV2ForCausalLM",
        "DeepseekV2Config",
        **_LATENT,
        topk_method="greedy",
        scoring_func="softmax",
        norm_topk_prob=False,
    ),
    "deepseek_v3": _deepseek_v3,
    "deepseek_v3_mtp": _deepseek_v3_mtp,
    "gpt_oss": _gpt_oss,
    "qwen3_next": dense(
        "Qwen3Next",
        **_FOUR_EXPERTS,
        num_hidden_layers=4,
        layer_types=["linear_attention"] * 3 + ["full_attention"],
        shared_expert_intermediate_size=64,
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        # A head of 32 starts well and fails at the first request.
        linear_key_head_dim=128,
        linear_value_head_dim=128,
        linear_conv_kernel_dim=4,
    ),
}
