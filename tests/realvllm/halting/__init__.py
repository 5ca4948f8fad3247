"""Two places inside an engine at which its worker stops on demand: before it prepares, and halfway through an update.

Does something only where REALVLLM_HALTS names a folder; see `halts`.
"""

from __future__ import annotations

from typing import Any, Final

PREPARE: Final = "engine/prepare"
UPDATE: Final = "engine/update"


def register() -> None:
    """Entry point. Wraps two methods of the product's plugin. Twice is once."""
    from .halts import Halts

    halts = Halts.from_environment()
    if halts is None:
        return
    from weightrollout.plugin.exchange import Exchange
    from weightrollout.plugin.region import Region

    if getattr(Exchange, "halting", False):
        return
    apply, populate = Exchange.apply, Region.populate

    def halfway(self: Exchange) -> list[Any]:
        half = len(self.entries) // 2
        replaced = apply(Exchange(self.entries[:half], self.shadow))
        halts.stop(UPDATE)
        return replaced + apply(Exchange(self.entries[half:], self.shadow))

    def late(self: Region) -> None:
        halts.stop(PREPARE)
        populate(self)

    Exchange.halting = True  # type: ignore[attr-defined]
    Exchange.apply = halfway  # type: ignore[method-assign]
    Region.populate = late  # type: ignore[method-assign]
