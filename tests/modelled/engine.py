"""A model engine: some blocks of weights, a label, a pause, a session, and the released one's habits.

No call asks whether it is paused. From Start on the old weights are gone. A failed Update closes
the session and leaves what it had written. A speculative draft has a session of its own and answers
nobody. Whoever asks a half-loaded engine kills it. The caller's
end does not stop a call. A restart brings base weights, the version "default" and a new instance.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from modelled.strikes import Boundaries, Victim
from weightrollout.api.names import BASELINE_VERSION
from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import AnswerToken, EngineInfo, EngineLoad
from weightrollout.handover.records import BACKEND, DRAFT, TARGET
from weightrollout.swap.backends.protocol import BackendError, Transfer
from weightrollout.swap.records import Answer, Failure
from weightrollout.weights.golden import Golden

#: Transfer id, and the digests of target and draft ("" for none).
Prepared = tuple[str, str, str]

BASE: Final = "base"
GONE: Final = "gone"
BLOCKS: Final = 3
#: Copying one block.
BLOCK_S: Final = 0.02
RESTART_S: Final = 1.5


class ModelEngine:
    """`broke` hears of what must never happen."""

    def __init__(
        self, pod: str, boundaries: Boundaries, broke: Callable[[str], None], *, drafts: bool
    ) -> None:
        self.pod = pod
        self.drafts = drafts  # it speculates with a draft model
        self.up = True
        self.number = 1
        self.died: Callable[[], None] = lambda: None
        self.may_change: Callable[[], str] = lambda: ""  # why weights must not change now; ""
        self._boundaries = boundaries
        self._broke = broke
        self.ever_held: set[str] = set()  # by any of its processes, in any block
        self._updating: asyncio.Task[None] | None = None
        self._born()

    def _born(self) -> None:
        self.blocks = [BASE] * BLOCKS
        self.version = BASELINE_VERSION
        self.paused = False
        self.confirmed = False  # somebody was told that it is paused
        self.session = ""  # TARGET or DRAFT while one is open
        self.prepared: Prepared | None = None
        self.receipt: tuple[str, str] | None = None  # transfer id, digest
        self.draft = BASE
        self.draft_receipt: tuple[str, str] | None = None

    @property
    def instance(self) -> str:
        return f"{self.pod}-engine-{self.number}"

    @property
    def whole(self) -> str | None:
        """The digest that it holds; None: half-loaded."""
        same = len(set(self.blocks)) == 1 and self.blocks[0] != GONE
        return self.blocks[0] if same and self.session != TARGET else None

    @property
    def busy(self) -> bool:
        return self._updating is not None and not self._updating.done()

    def die(self) -> None:
        if not self.up:
            return
        self.up = False
        if self._updating is not None:
            self._updating.cancel()
        self.died()
        asyncio.get_running_loop().call_later(RESTART_S, self._restart)

    def _restart(self) -> None:
        self.number += 1
        self.up = True
        self._born()
        self._boundaries.say(f"{self.pod} engine is back as {self.instance}")

    def answer(self) -> str | None:
        """One request; None: it waits, or there is nobody."""
        if not self.up or self.paused or self.busy:
            return None
        if self.whole is None:
            self._broke(f"{self.pod} answered with half-loaded weights {self.blocks}")
            self.die()
            return None
        return self.whole

    # -- calls, once they have arrived ----------------------------------------------------

    async def init(self, transfer: str, digest: str, draft: str) -> None:
        self.prepared = (transfer, digest, draft)

    async def pause(self) -> None:
        self.paused, self.confirmed = True, False

    async def resume(self) -> None:
        self.paused, self.confirmed = False, False
        self.answer()  # somebody was waiting

    async def start(self) -> None:
        if self.session:
            raise EngineStateUnknown("Internal", "already active")
        self.session = TARGET
        self._write(range(BLOCKS), GONE)

    async def start_draft(self) -> None:
        if not self.drafts:
            raise EngineRefused("FailedPrecondition", "no draft model")
        if self.session:
            raise EngineStateUnknown("Internal", "already active")
        self.session = DRAFT

    async def update(self, session: str, transfer: str, digest: str, draft: str) -> None:
        if self.session != session or self.prepared != (transfer, digest, draft):
            self.session = ""
            raise EngineStateUnknown("Internal", "not prepared, or without a start")
        if session == DRAFT:
            await self._copy_draft(transfer, draft)
            return
        self.receipt = None
        self._updating = asyncio.get_running_loop().create_task(self._copy(transfer, digest))
        await self.idle()

    async def _copy(self, transfer: str, digest: str) -> None:
        for block in range(BLOCKS):
            await asyncio.sleep(BLOCK_S)
            self._boundaries.cross(f"engine copies block {block}", self.pod)
            if not self.up:
                return
            self._write([block], digest)
        self.receipt = (transfer, digest)

    async def _copy_draft(self, transfer: str, draft: str) -> None:
        self.draft, self.draft_receipt = GONE, None
        self._boundaries.cross("engine copies the draft", self.pod)
        if self.up:
            self.draft, self.draft_receipt = draft, (transfer, draft)

    async def finish(self, version: str | None) -> None:
        if not self.session:
            raise EngineStateUnknown("Internal", "finish without a matching start")
        self.session = ""
        if version is not None:
            self.version = version

    async def label(self, version: str) -> None:
        self.version = version

    async def idle(self) -> None:
        """Its one loop does one thing at a time."""
        while self._updating is not None and not self._updating.done():
            await asyncio.wait({self._updating})

    def _write(self, blocks: "range | list[int]", content: str) -> None:
        why = "it is not paused" if not self.paused else ""
        why = why or ("nobody was told that it is paused" if not self.confirmed else "")
        why = why or self.may_change()
        if why:
            self._broke(f"invariant 2: weights of {self.pod} change while {why}")
        self.ever_held.add(content)
        for block in blocks:
            self.blocks[block] = content


class Door:
    """`Engine` and `Inference`, as one agent reaches them. Each call is two boundaries."""

    def __init__(
        self, engine: ModelEngine, cross: Callable[[str], frozenset[Victim]], bad: frozenset[str]
    ) -> None:
        self._engine = engine
        self._cross = cross
        self._bad = bad

    async def info(self, *, deadline_s: float) -> EngineInfo:
        await self._call("GetServerInfo", self._nothing, waits=False)
        return EngineInfo(self._engine.instance, "0.33.0", BACKEND, 1)

    async def model(self, *, deadline_s: float) -> str:
        return "model"

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        await self._call("Pause", self._engine.pause)

    async def resume(self, *, deadline_s: float) -> None:
        await self._call("Resume", self._engine.resume)

    async def is_paused(self, *, deadline_s: float) -> bool:
        await self._call("IsPaused", self._nothing)
        self._engine.confirmed = self._engine.paused
        return self._engine.paused

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None:
        transfer, digest, draft = init_info_json.decode().split(" ")
        await self._call("Init", lambda: self._engine.init(transfer, digest, draft))

    async def start_update(self, *, deadline_s: float) -> None:
        await self._call("Start", self._engine.start)

    async def start_draft_update(self, *, deadline_s: float) -> None:
        await self._call("StartDraft", self._engine.start_draft)

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        session, *prepared = update_info_json.decode().split(" ")
        transfer, digest, draft = prepared
        name = "Update" if session == TARGET else "Update of the draft"
        await self._call(name, lambda: self._engine.update(session, transfer, digest, draft))

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        lies = await self._call("Finish", lambda: self._engine.finish(version))
        if Victim.LIAR in lies and version is not None:
            self._engine.version = "another"
            raise EngineStateUnknown(LABEL_NOT_SET, "update_weight_version failed")

    async def set_version(self, version: str, *, deadline_s: float) -> None:
        await self._call("UpdateWeightVersion", lambda: self._engine.label(version))

    async def version(self, *, deadline_s: float) -> str:
        await self._call("GetWeightVersion", self._nothing)
        return self._engine.version

    async def shutdown(self, *, deadline_s: float) -> None:
        self._engine.die()

    async def close(self) -> None:
        """Nothing is open."""

    async def load(self, *, deadline_s: float) -> EngineLoad:
        return EngineLoad(0, 0)

    async def complete(self, prompt: str, *, max_tokens: int, deadline_s: float) -> str:
        await self._call("Prompt", self._nothing)
        answered = self._engine.answer()
        if answered is None:
            raise EngineStateUnknown("Cut", "no answer")
        return "wrong" if answered in self._bad else "right"

    async def complete_tokens(
        self, prompt: str, *, max_tokens: int, top: int, deadline_s: float
    ) -> tuple[AnswerToken, ...]:
        raise AssertionError("no prompt of this world asks for tokens")

    async def _nothing(self) -> None:
        """A question changes nothing."""

    async def _call(
        self, name: str, execute: Callable[[], Awaitable[None]], *, waits: bool = True
    ) -> frozenset[Victim]:
        engine = self._engine
        struck = self._cross(f"{name} on its way")
        if not engine.up:
            raise EngineUnreachable("Unavailable", "connection refused")
        if Victim.WIRE in struck:
            raise EngineStateUnknown("Deadline", f"{name} was lost")
        if Victim.LIAR in struck and name in ("Pause", "Resume", "UpdateWeightVersion"):
            return frozenset()
        instance = engine.instance
        if waits:
            await engine.idle()
        if engine.up:
            await execute()
        struck = self._cross(f"{name} executed, not yet answered")
        if Victim.WIRE in struck or (engine.up, engine.instance) != (True, instance):
            raise EngineStateUnknown("Cut", f"the answer of {name} was lost")
        return struck


class ModelBackend:
    """`Backend`: what the plugin leaves in the handover volume, without files."""

    def __init__(self, engine: ModelEngine) -> None:
        self._engine = engine

    def init_info(self, transfer: Transfer) -> bytes:
        return f"{transfer.id} {transfer.content.digest} {transfer.draft}".encode()

    def update_info(self, transfer: Transfer, *, session: str = TARGET) -> bytes:
        return f"{session} ".encode() + self.init_info(transfer)

    async def prepared(self, transfer: Transfer, *, deadline_s: float) -> None:
        mine = (transfer.id, transfer.content.digest, transfer.draft)
        if (self._engine.instance, self._engine.prepared) != (transfer.instance, mine):
            await asyncio.sleep(deadline_s)
            raise _failed(Answer.UNKNOWN, "PrepareTimedOut", "not prepared in time")

    def golden(self, transfer: Transfer) -> Golden | None:
        return None

    def prove(self, transfer: Transfer, *, session: str = TARGET) -> None:
        engine = self._engine
        mine, receipt = (transfer.id, transfer.content.digest), engine.receipt
        if session == DRAFT:
            mine, receipt = (transfer.id, transfer.draft), engine.draft_receipt
        if (engine.instance, receipt) != (transfer.instance, mine):
            raise _failed(Answer.WRONG, "ReceiptsDiffer", f"{receipt}")


def _failed(answer: Answer, reason: str, message: str) -> BackendError:
    return BackendError(answer, Failure(FailureClass.POD, reason, message))
