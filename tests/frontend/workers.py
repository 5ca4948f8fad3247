"""What a core does to its weights: the simulator's plugin, or an update session without weights."""

from typing import Protocol

from simulator.faults import Do
from simulator.model import Model
from simulator.plugin import Plugin, WorkerError
from simulator.settings import Settings
from simulator.speculation import load_draft


class Workers(Protocol):
    def init(self, payload: bytes) -> None: ...

    def start(self, session: str) -> None: ...

    async def update(self, payload: bytes, *, asleep: bool, fault: Do | None) -> None: ...

    def finish(self) -> None: ...


class SessionOnly:
    """A backend that takes any payload and copies nothing; keeps vLLM's order and its words."""

    def __init__(self) -> None:
        self._open = False

    def init(self, payload: bytes) -> None:
        pass

    def start(self, session: str) -> None:
        if self._open:
            raise WorkerError(
                f"start_weight_update called while a weight update is already active ({session})."
                " Call finish_weight_update first."
            )
        self._open = True

    async def update(self, payload: bytes, *, asleep: bool, fault: Do | None) -> None:
        if not self._open:
            raise WorkerError("start_weight_update must be called before update_weights.")

    def finish(self) -> None:
        if not self._open:
            raise WorkerError("finish_weight_update called without a matching start_weight_update.")
        self._open = False


def workers(settings: Settings, model: Model) -> Plugin | SessionOnly:
    """Blocks: a draft is loaded."""
    return Plugin(settings, model, load_draft(settings)) if settings.has_plugin else SessionOnly()
