"""Drafts with a checkpoint of their own that serve beside a target."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import torch
from transformers import LlamaConfig

from realvllm.recipes.drawing import linear, norm
from realvllm.recipes.tokenizer import TINY_VOCABULARY, save_tokenizer
from realvllm.recipes.writing import DENSE, Recipe, edit_config, save

HIDDEN: Final = int(DENSE["hidden_size"])
MLP: Final = int(DENSE["intermediate_size"])
KV: Final = int(DENSE["head_dim"])  # one head of keys and values
#: Layers of `llama_deep` whose hidden states the head reads. With less than four layers in the target it fails at the first request.
LOOKED_AT: Final = [1, 2, 3]


def _eagle3_llama(folder: Path, seed: int) -> None:
    """An EAGLE-3 head for `llama_deep`: its attention reads the embedding beside the hidden state."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "self_attn.q_proj": (HIDDEN, 2 * HIDDEN),
        "self_attn.k_proj": (KV, 2 * HIDDEN),
        "self_attn.v_proj": (KV, 2 * HIDDEN),
        "self_attn.o_proj": (HIDDEN, HIDDEN),
        "mlp.gate_proj": (MLP, HIDDEN),
        "mlp.up_proj": (MLP, HIDDEN),
        "mlp.down_proj": (HIDDEN, MLP),
    }
    tensors = {f"midlayer.{at}.weight": linear(*shape, generator) for at, shape in shapes.items()}
    for at in ("post_attention_layernorm", "input_layernorm", "hidden_norm"):
        tensors[f"midlayer.{at}.weight"] = norm(HIDDEN, generator)
    tensors["fc.weight"] = linear(HIDDEN, len(LOOKED_AT) * HIDDEN, generator)
    tensors["norm.weight"] = norm(HIDDEN, generator)
    tensors["lm_head.weight"] = linear(TINY_VOCABULARY, HIDDEN, generator)
    save(folder, tensors)
    config = LlamaConfig(**(DENSE | {"num_hidden_layers": 1}))
    config.architectures = ["LlamaForCausalLMEagle3"]
    config.save_pretrained(folder)
    edit_config(
        folder,
        draft_vocab_size=TINY_VOCABULARY,
        eagle_aux_hidden_state_layer_ids=LOOKED_AT,
        torch_dtype="bfloat16",
    )
    save_tokenizer(folder)


RECIPES: Final[dict[str, Recipe]] = {"eagle3_llama": _eagle3_llama}
