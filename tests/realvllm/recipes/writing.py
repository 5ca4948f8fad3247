"""Write a checkpoint folder as its publisher would: config, tokenizer, safetensors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from safetensors.torch import load_file, save_file

from realvllm.recipes.drawing import redraw
from realvllm.recipes.tokenizer import END_ID, TINY_VOCABULARY, save_tokenizer

#: Write into this folder what this seed gives.
Recipe = Callable[[Path, int], None]
Tensors = dict[str, torch.Tensor]

WEIGHTS: Final = "model.safetensors"
TOKENS: Final[dict[str, Any]] = {
    "vocab_size": TINY_VOCABULARY,
    "max_position_embeddings": 512,
    "eos_token_id": END_ID,
    "bos_token_id": None,
    "pad_token_id": None,
}
#: Sizes are multiples of 32: packed and grouped layouts on CPU refuse others.
DENSE: Final[dict[str, Any]] = TOKENS | {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "tie_word_embeddings": False,
}


def model(architecture: str, config_class: str, **config: Any) -> Recipe:
    """A recipe for transformers' `architecture`, in bfloat16."""

    def write(folder: Path, seed: int) -> None:
        torch.manual_seed(seed)
        built = getattr(transformers, architecture)(
            getattr(transformers, config_class)(**config)
        ).to(torch.bfloat16)
        redraw(built, seed)
        built.save_pretrained(folder)
        save_tokenizer(folder)

    return write


def dense(family: str, **config: Any) -> Recipe:
    """A decoder of two layers, `family` as transformers names it, with `config` changed."""
    return model(f"{family}ForCausalLM", f"{family}Config", **(DENSE | config))


def edit_config(folder: Path, **changes: Any) -> None:
    """Set fields of config.json; None removes one."""
    path = folder / "config.json"
    config: dict[str, Any] = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in config.items() if v is not None}, indent=1))


def edit_weights(folder: Path, edit: Callable[[Tensors], Tensors]) -> None:
    """Replace the tensors of a checkpoint that has them in one file."""
    save(folder, edit(load_file(folder / WEIGHTS)))


def save(folder: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write `tensors` as the folder's one file."""
    folder.mkdir(parents=True, exist_ok=True)
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, folder / WEIGHTS, metadata={"format": "pt"})
