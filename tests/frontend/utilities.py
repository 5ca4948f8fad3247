"""The utility calls of a core, by the frontend's names for them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from frontend.messages import Call
from frontend.workers import Workers
from simulator.calls import MEMORY_TAGS
from simulator.core import Core, Pause

PAUSES: Final = {"abort": Pause.ABORT, "wait": Pause.WAIT, "keep": Pause.KEEP}
COLLECTIVE: Final = "collective_rpc"


def name(call: Call) -> str:
    """What a script calls it: for a collective call that of the method it runs on the workers."""
    return str(call.arguments[0]) if call.method == COLLECTIVE else call.method


@dataclass(frozen=True, slots=True)
class Utilities:
    core: Core
    workers: Workers

    async def run(self, call: Call) -> object:
        """Execute it between two steps. What it raises is the call's failure."""
        method: Callable[..., Awaitable[object]] | None = getattr(self, f"_{call.method}", None)
        if method is None:
            raise AttributeError(f"'EngineCoreProc' object has no attribute '{call.method}'")
        return await method(*call.arguments)

    async def _get_supported_tasks(self) -> list[str]:
        return ["generate"]

    async def _pause_generation(self, mode: str = "abort", clear_cache: bool = True) -> None:
        await self._pause(mode, clear_cache=clear_cache, for_sleep=False)

    async def _pause(self, mode: str, *, clear_cache: bool, for_sleep: bool) -> None:
        pause = partial(self.core.pause, PAUSES[mode], clear_cache=clear_cache, for_sleep=for_sleep)
        await self._in_core(pause)
        if PAUSES[mode] is Pause.WAIT:
            await self.core.drained()

    async def _resume_scheduler(self) -> None:
        await self._in_core(self.core.resume)

    async def _is_scheduler_paused(self) -> object:
        return await self._in_core(lambda: self.core.paused is not None)

    async def _sleep(self, level: int = 1, mode: str = "abort") -> None:
        await self._pause(mode, clear_cache=level > 0, for_sleep=True)
        await self._in_core(lambda: self._fall_asleep(level))

    async def _wake_up(self, tags: list[str] | None = None) -> object:
        return await self._in_core(lambda: self._wake(MEMORY_TAGS if tags is None else tags))

    async def _is_sleeping(self) -> object:
        return await self._in_core(lambda: self.core.paused is not None or bool(self.core.asleep))

    async def _set_weight_version(self, version: str) -> None:
        await self._in_core(lambda: setattr(self.core, "version", version))

    async def _get_weight_version(self) -> object:
        return await self._in_core(lambda: self.core.version)

    async def _collective_rpc(
        self, method: str, _timeout: float | None, _args: object, kwargs: dict[str, Any]
    ) -> list[object]:
        match method:
            case "init_weight_transfer_engine":
                payload = json.dumps(kwargs["init_info"]).encode()
                await self._in_core(lambda: self.workers.init(payload))
            case "start_weight_update":
                await self._in_core(lambda: self.workers.start("target"))
            case "start_draft_weight_update":
                await self._in_core(lambda: self.workers.start("draft"))
            case "update_weights":
                await self._update(json.dumps(kwargs["update_info"]).encode())
            case "finish_weight_update":
                await self._in_core(self.workers.finish)
            case _:
                raise AttributeError(f"'Worker' object has no attribute '{method}'")
        return [None]

    async def _update(self, payload: bytes) -> None:
        async def update() -> None:
            asleep = "weights" in self.core.asleep
            await self.workers.update(payload, asleep=asleep, fault=None)

        await self.core.utility(update)

    async def _in_core(self, work: Callable[[], object]) -> object:
        async def run() -> object:
            return work()

        return await self.core.utility(run)

    def _fall_asleep(self, level: int) -> None:
        if level > 0:
            self.core.asleep = set(MEMORY_TAGS)
        if level > 1:
            self.core.model.discard()

    def _wake(self, tags: "list[str] | frozenset[str]") -> bool:
        """An unknown tag wakes nothing and is no error. Whole awake means resumed."""
        self.core.asleep -= set(tags)
        if not self.core.asleep:
            self.core.resume()
        return not self.core.asleep
