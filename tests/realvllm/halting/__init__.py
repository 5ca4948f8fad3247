"""Two places inside an engine at which its worker stops on demand: before it prepares, and halfway through an update.
And one at which somebody else begins a reload, and fails halfway.

Does something only where REALVLLM_HALTS names a folder; see `halts`.
"""

from __future__ import annotations

from typing import Any, Final

PREPARE: Final = "engine/prepare"
UPDATE: Final = "engine/update"
#: Between two steps of the worker, before our next call looks for it.
FOREIGN: Final = "engine/foreign"


def register() -> None:
    """Entry point. Wraps three functions of the product's plugin. Twice is once."""
    from .halts import Halts

    halts = Halts.from_environment()
    if halts is None:
        return
    from weightrollout.plugin import heal
    from weightrollout.plugin.exchange import Exchange
    from weightrollout.plugin.region import Region

    if getattr(Exchange, "halting", False):
        return
    apply, populate, healing = Exchange.apply, Region.populate, heal.heal

    def halfway(self: Exchange) -> list[Any]:
        half = len(self.entries) // 2
        replaced = apply(Exchange(self.entries[:half], self.shadow))
        halts.stop(UPDATE)
        return replaced + apply(Exchange(self.entries[half:], self.shadow))

    def late(self: Region) -> None:
        halts.stop(PREPARE)
        populate(self)

    def healed(model: Any) -> bool:
        if halts.passes(FOREIGN):
            _begin_foreign_reload(model)
        return healing(model)

    Exchange.halting = True  # type: ignore[attr-defined]
    Exchange.apply = halfway  # type: ignore[method-assign]
    Region.populate = late  # type: ignore[method-assign]
    heal.heal = healed


def _begin_foreign_reload(model: Any) -> None:
    """What `reload_weights` leaves when its source ends in the middle: norms are loaded, all else is parked."""
    import torch
    from vllm.model_executor.model_loader.reload import initialize_layerwise_reload

    initialize_layerwise_reload(model)
    norms = [
        (name, torch.full(each.shape, 7.0, dtype=each.dtype))
        for name, each in model.named_parameters()
        if "norm" in name
    ]
    with torch.no_grad():
        model.load_weights(iter(norms))
