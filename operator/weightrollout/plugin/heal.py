"""Undo a reload of vLLM's own that somebody began and did not end.

Such a reload (`reload_weights` over the engine's development routes) is one call in the worker. Where it
fails in the middle, live tensors stay parked and others without memory, or half-filled, are in their place.
Call this between two steps of the worker, never while one runs.
"""

import logging

from torch import nn

log = logging.getLogger(__name__)


def heal(model: nn.Module) -> bool:
    """Put parked tensors back. Whether there were any."""
    from vllm.model_executor.model_loader.reload import layerwise

    healed = False
    for layer in model.modules():
        info = layerwise.LAYERWISE_INFO.get(layer)
        if info is None or not info.can_load():
            continue
        if info.kernel_tensors is not None:
            layerwise._place_kernel_tensors(layer, info)
        info.reset()
        healed = True
    if healed:
        log.warning("weightrollout: a reload that somebody had begun was undone")
    return healed
