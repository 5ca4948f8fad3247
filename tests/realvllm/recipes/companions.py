"""What serves beside a target: a draft head, an adapter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig

from realvllm.recipes.drawing import linear, norm
from realvllm.recipes.tokenizer import TINY_VOCABULARY, save_tokenizer
from realvllm.recipes.writing import DENSE, Recipe, edit_config, save

HIDDEN: Final = int(DENSE["hidden_size"])
MLP: Final = int(DENSE["intermediate_size"])
KV: Final = int(DENSE["head_dim"])  # one head of keys and values
LORA_RANK: Final = 8
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


def _lora_llama(folder: Path, seed: int) -> None:
    """An adapter of rank 8 for `llama`, as PEFT writes it."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {
        "self_attn.q_proj": (HIDDEN, HIDDEN),
        "self_attn.v_proj": (KV, HIDDEN),
        "mlp.down_proj": (HIDDEN, MLP),
    }
    tensors = {}
    for layer in range(int(DENSE["num_hidden_layers"])):
        for at, (rows, columns) in shapes.items():
            stem = f"base_model.model.model.layers.{layer}.{at}"
            tensors[f"{stem}.lora_A.weight"] = linear(LORA_RANK, columns, generator)
            tensors[f"{stem}.lora_B.weight"] = linear(rows, LORA_RANK, generator)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    config: dict[str, Any] = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": LORA_RANK,
        "lora_alpha": 16,
        "lora_dropout": 0.0,
        "bias": "none",
        "base_model_name_or_path": "llama",
        "target_modules": ["q_proj", "v_proj", "down_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))


RECIPES: Final[dict[str, Recipe]] = {"eagle3_llama": _eagle3_llama, "lora_llama": _lora_llama}
