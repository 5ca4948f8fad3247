"""The model families on which a swap is tried, and how an engine is started for each.

Which recipe gives the checkpoints, which flags an engine needs beside the usual ones, and what vLLM's own update does to the
family on CPU, as observed with 0.32.0. Pure: `tiny` makes the checkpoints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final


class Own(StrEnum):
    """What vLLM's own start, update and finish leave on CPU, compared with a fresh process."""

    RIGHT = "right"
    TIED_HEAD = "the head's packed copy stays old"
    EXPERTS = "expert weights are read as if packed"
    CONVOLUTION = "the convolution's packed copy stays old"
    UNSEEN_LOADS = "experts and sinks stay old: the loader bypasses what vLLM counts"
    FREED_SCALES = "log-probabilities are NaN: the kernel keeps scales that were freed"


@dataclass(frozen=True)
class Speculation:
    """A draft. `recipe`: of a checkpoint of its own; None: inside the target's."""

    method: str
    tokens: int
    recipe: str | None = None


@dataclass(frozen=True)
class Family:
    """One row of the compatibility table."""

    name: str
    recipe: str
    architecture: str  # as vLLM calls it
    own: Own = Own.RIGHT
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    speculation: Speculation | None = None
    ranks: int = 1  # of tensor parallelism times replicas
    replicas: int = 1  # of data parallelism

    def recipes(self) -> tuple[str, ...]:
        """All checkpoints it needs."""
        draft = self.speculation.recipe if self.speculation else None
        return (self.recipe,) if draft in (None, self.recipe) else (self.recipe, str(draft))

    def engine_flags(self, draft: Path | None = None) -> tuple[str, ...]:
        """Beside the usual ones; `draft`: the folder of the draft's checkpoint, where it has one of its own."""
        if self.speculation is None:
            return self.flags
        config: dict[str, Any] = {
            "method": self.speculation.method,
            "num_speculative_tokens": self.speculation.tokens,
        }
        if self.speculation.recipe is not None:
            if draft is None:
                raise ValueError(f"{self.name} needs the folder of a draft")
            config["model"] = str(draft)
        return (*self.flags, "--speculative-config", json.dumps(config))


def _by_name(*families: Family) -> Mapping[str, Family]:
    return MappingProxyType({family.name: family for family in families})


#: One worker per core. vLLM binds workers to memory nodes by default, and one node is too few for two.
_TWO_WORKERS: Final = {"VLLM_CPU_OMP_THREADS_BIND": "0|1"}

FAMILIES: Final = _by_name(
    Family("qwen3_tied", "qwen3_tied", "Qwen3ForCausalLM", Own.TIED_HEAD),
    Family("qwen3", "qwen3", "Qwen3ForCausalLM"),
    Family("llama_tied", "llama_tied", "LlamaForCausalLM", Own.TIED_HEAD),
    Family("llama", "llama", "LlamaForCausalLM"),
    Family("qwen2", "qwen2", "Qwen2ForCausalLM"),
    Family("mistral", "mistral", "MistralForCausalLM"),
    Family("gemma2", "gemma2", "Gemma2ForCausalLM"),
    Family("gemma3", "gemma3", "Gemma3ForCausalLM", Own.TIED_HEAD),
    Family("qwen2_moe", "qwen2_moe", "Qwen2MoeForCausalLM", Own.EXPERTS),
    Family("qwen3_moe", "qwen3_moe", "Qwen3MoeForCausalLM", Own.EXPERTS),
    Family("mixtral", "mixtral", "MixtralForCausalLM", Own.EXPERTS),
    Family("deepseek_v2", "deepseek_v2", "DeepseekV2ForCausalLM", Own.EXPERTS),
    Family("deepseek_v3", "deepseek_v3", "DeepseekV3ForCausalLM", Own.EXPERTS),
    Family("mamba2", "mamba2", "Mamba2ForCausalLM", Own.CONVOLUTION),
    Family("nemotron_h", "nemotron_h", "NemotronHForCausalLM", Own.CONVOLUTION),
    Family("gpt_oss", "gpt_oss", "GptOssForCausalLM", Own.UNSEEN_LOADS),
    Family("qwen3_next", "qwen3_next", "Qwen3NextForCausalLM", Own.EXPERTS),
    Family("gptq", "gptq", "Qwen3ForCausalLM"),
    Family("awq", "awq", "Qwen3ForCausalLM"),
    Family("w4a16", "w4a16", "Qwen3ForCausalLM"),
    Family("fp8", "fp8", "Qwen3ForCausalLM"),
    Family("int8", "int8", "Qwen3ForCausalLM", Own.FREED_SCALES),
    # An adapter cannot be loaded through the Rust frontend of 0.32.0; the base below it is what we roll.
    Family(
        "lora_base",
        "llama",
        "LlamaForCausalLM",
        flags=("--enable-lora", "--max-lora-rank", "8"),
    ),
    # Draft and target from one checkpoint: the acceptance rate shows which weights the draft has.
    Family(
        "draft_model",
        "qwen3",
        "Qwen3ForCausalLM",
        speculation=Speculation("draft_model", 3, "qwen3"),
    ),
    Family(
        "eagle3",
        "llama_deep",
        "LlamaForCausalLM",
        speculation=Speculation("eagle3", 2, "eagle3_llama"),
    ),
    Family(
        "mtp",
        "deepseek_v3_mtp",
        "DeepseekV3ForCausalLM",
        Own.EXPERTS,
        speculation=Speculation("mtp", 1),
    ),
    Family(
        "tp2",
        "qwen3",
        "Qwen3ForCausalLM",
        flags=("--tensor-parallel-size", "2"),
        environment=_TWO_WORKERS,
        ranks=2,
    ),
    Family(
        "dp2",
        "qwen3",
        "Qwen3ForCausalLM",
        flags=("--data-parallel-size", "2"),
        ranks=2,
        replicas=2,
    ),
)

#: Not in the table, so that the plugin has to refuse it: its norms and its table of positions are of classes that none of the families has.
UNTRIED: Final = Family("gpt2", "gpt2", "GPT2LMHeadModel")

#: For what engines do with requests: its answers are as long as they are asked for, up to 8,192 tokens.
ENDLESS: Final = Family("endless", "endless", "Qwen3ForCausalLM")

#: For measuring, not for comparing: see `recipes.payload`.
PAYLOADS: Final = _by_name(
    Family("payload_tied", "payload_tied", "Qwen3ForCausalLM", Own.TIED_HEAD),
    Family("payload_untied", "payload_untied", "Qwen3ForCausalLM"),
)
