"""The calls a swap makes, whatever the engine is reached by."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from weightrollout.api.spec import PauseMode


@dataclass(frozen=True, slots=True)
class Capabilities:
    """True only where every core of the engine reports it."""

    rl: bool = False  # it has the calls at all
    transfer: bool = False
    sleep: bool = False
    draft: bool = False
    reset_cache: bool = False  # its prefix cache can be emptied by itself


NO_CAPABILITIES: Final = Capabilities()


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """GetServerInfo: cached facts, answered at once also in mid-update."""

    instance: str  # differs after every engine restart
    engine_version: str
    transfer_backend: str  # "" where weight transfer is not configured on every core
    world_size: int  # ranks that write receipts; at least 1
    capabilities: Capabilities = NO_CAPABILITIES


@dataclass(frozen=True, slots=True)
class EngineLoad:
    running: int
    waiting: int

    @property
    def idle(self) -> bool:
        return self.running == 0 and self.waiting == 0


class Engine(Protocol):
    """As vllm.Control has it. Every call raises `EngineError`; `deadline_s` is seconds from now."""

    async def info(self, *, deadline_s: float) -> EngineInfo: ...

    async def model(self, *, deadline_s: float) -> str:
        """Path or name of the model that the engine was started with."""
        ...

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None: ...

    async def resume(self, *, deadline_s: float) -> None: ...

    async def is_paused(self, *, deadline_s: float) -> bool:
        """Waits behind a running update; never a liveness question."""
        ...

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None: ...

    async def start_update(self, *, deadline_s: float) -> None: ...

    async def start_draft_update(self, *, deadline_s: float) -> None:
        """The session that follows loads the speculative draft. Refused where there is none."""
        ...

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None: ...

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None: ...

    async def set_version(self, version: str, *, deadline_s: float) -> None: ...

    async def version(self, *, deadline_s: float) -> str: ...

    async def shutdown(self, *, deadline_s: float) -> None: ...

    async def close(self) -> None: ...


class PauseWay(StrEnum):
    """What becomes of running requests, in vLLM's words. A swap uses KEEP and ABORT alone."""

    ABORT = "abort"
    WAIT = "wait"  # until they end; the engine's mutex is held so long
    KEEP = "keep"


class Lifecycle(Engine, Protocol):
    """What a trainer asks for beyond a swap."""

    async def pause_as(
        self, way: PauseWay, *, clear_cache: bool | None, deadline_s: float
    ) -> None: ...

    async def sleep(self, level: int, way: PauseWay, *, deadline_s: float) -> None: ...

    async def wake_up(self, tags: tuple[str, ...], *, deadline_s: float) -> None:
        """Resumes where nothing sleeps any more. Tags that are unknown or awake wake nothing, and are no error."""
        ...

    async def served_name(self, *, deadline_s: float) -> str:
        """Of the model, as requests name it."""
        ...

    async def is_sleeping(self, *, deadline_s: float) -> bool:
        """Also where it is only paused."""
        ...

    async def reset_prefix_cache(self, *, running: bool, external: bool, deadline_s: float) -> bool:
        """False: blocks are still held, and nothing was emptied. `running`: preempt what runs; `external`: of the KV
        connector, too. Refused where the engine has no such call."""
        ...


class Vital(Protocol):
    """What a liveness probe is about."""

    async def serving(self, *, deadline_s: float) -> bool:
        """False: dead, by its own word. Raises EngineUnreachable, EngineStateUnknown: it said nothing."""
        ...


class Driven(Lifecycle, Vital, Protocol):
    """All that an agent asks an engine's control side for."""


@dataclass(frozen=True, slots=True)
class AnswerToken:
    id: int
    top: Mapping[int, float]  # id -> natural logarithm of its probability


class Inference(Protocol):
    """The engine's HTTP side."""

    async def load(self, *, deadline_s: float) -> EngineLoad: ...

    async def complete(self, prompt: str, *, max_tokens: int, deadline_s: float) -> str: ...

    async def complete_tokens(
        self, prompt: str, *, max_tokens: int, top: int, deadline_s: float
    ) -> tuple[AnswerToken, ...]:
        """The greedy answer token by token, with at least the `top` likeliest ids for each."""
        ...

    async def close(self) -> None: ...
