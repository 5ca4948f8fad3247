"""Undo a reload of vLLM's own that somebody began and did not end.

Such a reload (`reload_weights` over the engine's development routes) parks the live tensors and puts
others without memory in their place; writing those would end the process.
"""

import logging

from torch import nn

log = logging.getLogger(__name__)


def heal(model: nn.Module) -> bool:
    """Put parked tensors back. Whether there were any."""
    if not any(parameter.is_meta for parameter in model.parameters()):
        return False
    from vllm.model_executor.model_loader.reload import layerwise

    for layer in model.modules():
        info = layerwise.LAYERWISE_INFO.get(layer)
        if info is None or not info.can_load():
            continue
        if info.kernel_tensors is not None:
            layerwise._place_kernel_tensors(layer, info)
        info.reset()
    log.warning("weightrollout: a reload that somebody had begun was undone")
    return True
