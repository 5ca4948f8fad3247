"""How long a pause was, when its engine dies in it: the restart that follows is no pause."""

from collections.abc import Mapping
from typing import Any, Final

from modelled.clockwork import StoryClock, StoryLoop
from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import Outcome
from weightrollout.engine.errors import EngineStateUnknown, EngineUnreachable
from weightrollout.engine.protocol import EngineInfo, EngineLoad
from weightrollout.handover.records import BACKEND
from weightrollout.swap import machine
from weightrollout.swap.backends.protocol import Transfer
from weightrollout.swap.book import Transaction
from weightrollout.swap.records import Content, SwapRequest, SwapState
from weightrollout.swap.run import Hands, SwapRun

UPDATE_S: Final = 0.5
NEW: Final = Content("rev-2", "v2", "file:///v2/", "sha256:" + "2" * 64)
REQUEST: Final = SwapRequest(
    txn="cr/rev-2/pod/1",
    attempt=1,
    target=NEW,
    last_good=None,
    pause_mode=PauseMode.KEEP,
    clear_cache=True,
    drain_s=0.0,
    deadline_s=300.0,
    prompts=(),
)


class CutInUpdate:
    """Nobody answers for `away_s` after half a second of its first Update; then process `after` does."""

    def __init__(self, loop: StoryLoop, away_s: float, after: str) -> None:
        self._loop = loop
        self._away_s = away_s
        self._after = after
        self._instance = "e-1"
        self._back_at: float | None = None
        self.paused = False
        self.version_ = "v1"

    def _answers(self) -> None:
        if self._back_at is None:
            return
        if self._loop.now < self._back_at:
            raise EngineUnreachable("ConnectionRefused", "nobody listens")
        self._instance, self._back_at = self._after, None

    async def info(self, *, deadline_s: float) -> EngineInfo:
        self._answers()
        return EngineInfo(self._instance, "0.33.0", BACKEND, 1)

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        self.paused = True

    async def resume(self, *, deadline_s: float) -> None:
        self.paused = False

    async def is_paused(self, *, deadline_s: float) -> bool:
        return self.paused

    async def version(self, *, deadline_s: float) -> str:
        return self.version_

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        self._loop.now += UPDATE_S
        if self._away_s:
            self._back_at, self._away_s = self._loop.now + self._away_s, 0.0
            raise EngineStateUnknown("Unavailable", "the connection was cut")

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        self.version_ = version or self.version_

    async def nothing(self, *_: object, **__: object) -> None:
        """Init, Start: always done."""

    init_transfer = start_update = nothing


class Idle:
    async def load(self, *, deadline_s: float) -> EngineLoad:
        return EngineLoad(0, 0)


class Believed:
    """A backend whose images and receipts are always right."""

    def init_info(self, transfer: Transfer) -> bytes:
        return b""

    update_info = init_info

    def golden(self, transfer: Transfer) -> None:
        return None

    prove = golden

    async def prepared(self, transfer: Transfer, *, deadline_s: float) -> None:
        return None


def swapped(*, away_s: float, after: str) -> Transaction:
    loop = StoryLoop()
    parts: Mapping[str, Any] = {
        "engine": CutInUpdate(loop, away_s, after),
        "inference": Idle(),
        "backend": Believed(),
    }
    run = SwapRun(
        Hands(**parts, clock=StoryClock(loop)),
        machine.begin(REQUEST, "e-1"),
        record=lambda _: None,
        changed=lambda _: None,
    )
    ended: SwapState = loop.run_until_complete(run.run())
    loop.close()
    assert run.transaction().outcome is ended.outcome
    return run.transaction()


def test_restart_of_an_engine_that_died_in_the_pause_is_not_pause() -> None:
    ended = swapped(away_s=60.0, after="e-2")
    assert ended.outcome is Outcome.RESTARTED
    assert ended.pause_millis == UPDATE_S * 1000


def test_engine_that_was_only_cut_off_for_a_while_was_paused_all_the_time() -> None:
    ended = swapped(away_s=60.0, after="e-1")
    assert ended.outcome is Outcome.COMMITTED
    assert ended.pause_millis >= 60_000 + 2 * UPDATE_S * 1000
