"""LoRA adapters: trained on the weights that are there, wrong beside others. Whoever loaded some is told to unload them.

The engine's report is written at its start, when there are none, so that each Init asks again.
"""

from typing import Any

from torch import nn


def refusal(vllm_config: Any, model: nn.Module) -> tuple[str, str]:
    """(reason, message), both "" where no adapter is loaded. What cannot be found out is refused."""
    if vllm_config.lora_config is None:
        return "", ""
    try:
        count = len(model.lora_manager.list_adapters())
    except (AttributeError, TypeError):
        return "LorasUnknown", "this engine does not say which LoRA adapters it has loaded"
    if count:
        return (
            "LorasLoaded",
            f"{count} LoRA adapters were trained on the weights loaded: unload them",
        )
    return "", ""
