"""Models with a recurrent state: Mamba-2, alone and between attention layers."""

from __future__ import annotations

from typing import Any, Final

from realvllm.recipes.writing import TOKENS, Recipe, model

_STATE: Final[dict[str, Any]] = TOKENS | {
    "hidden_size": 64,
    "tie_word_embeddings": False,
    "expand": 2,
    "n_groups": 1,
    "conv_kernel": 4,
    "chunk_size": 32,
}

RECIPES: Final[dict[str, Recipe]] = {
    "mamba2": model(
        "Mamba2ForCausalLM",
        "Mamba2Config",
        **_STATE,
        num_hidden_layers=2,
        state_size=16,
        head_dim=32,
        num_heads=4,
        rms_norm=True,
    ),
    "nemotron_h": model(
        "NemotronHForCausalLM",
        "NemotronHConfig",
        **_STATE,
        intermediate_size=128,
        layers_block_type=["mamba", "attention", "mlp", "mamba"],
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        ssm_state_size=16,
        mamba_num_heads=4,
        mamba_head_dim=32,
        use_mamba_kernels=False,
    ),
}
