"""A trainer's update by our own backend: it names a checkpoint, and the agent does the rest.

`ready` stages and checks the checkpoint and lets every rank prepare to copy it, and touches nothing of what the engine
serves: what is wrong with a checkpoint is found there. `load` is the part that belongs into a pause, proven by receipts.
"""

import asyncio
import secrets
from dataclasses import dataclass, field
from typing import Final

from weightrollout.agent.drafts import load_of
from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.fitness import refuse_unfit
from weightrollout.agent.reasons import Refused
from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.wishes import Checkpoint
from weightrollout.agent.stage import Stager
from weightrollout.agent.state import Board
from weightrollout.agent.swaps import Swaps
from weightrollout.api.names import TRAINER_REVISION
from weightrollout.api.swap import FailureClass
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown, EngineUnreachable
from weightrollout.engine.protocol import Lifecycle
from weightrollout.handover.records import BACKEND
from weightrollout.swap.backends.protocol import Backend, BackendError, Transfer
from weightrollout.swap.hold import DRAFT, TARGET
from weightrollout.swap.journal import Journal
from weightrollout.swap.patience import CALL_S
from weightrollout.swap.records import Content, Step

#: Packing the weights of a large model, on cores that serve beside it.
PREPARE_S: Final = 1800.0
#: How often an engine that prepares is looked at: one that is gone answers in no file.
ALIVE_S: Final = 1.0
#: Of receipts, in the pause.
READ_S: Final = 1.0


@dataclass(slots=True)
class Loading:
    """What the engine's plugin has prepared, until its next Init."""

    transfer: Transfer
    backend: Backend
    swaps: str  # the newest swap that had ended: a later one has sent an Init of its own
    used: set[str] = field(
        default_factory=set
    )  # sessions: an old receipt must not prove a later update


class Images:
    def __init__(
        self, journal: Journal, board: Board, watch: EngineWatch, stager: Stager, swaps: Swaps
    ) -> None:
        self._journal = journal
        self._board = board
        self._watch = watch
        self._stager = stager
        self._swaps = swaps
        self._loading: Loading | None = None

    @property
    def are_taken(self) -> bool:
        """By the engine that is there: it was started with our backend."""
        return self._watch.sight.backend == BACKEND

    async def ready(self, engine: Lifecycle, named: Checkpoint, session: str = TARGET) -> Loading:
        """Every rank can copy it at once. Raises Failed, EngineError: nothing was touched."""
        sight = await self._watch.fresh(READ_S)
        try:
            refuse_unfit(self._board, sight)
        except Refused as refused:
            raise Failed(409, refused.reason, refused.message) from refused
        content = await self._staged(named, sight)
        known = self._loading
        if known is None or not self._is_good(known, content, sight, session):
            known = self._loading = await self._prepared(engine, content, sight)
        if session == DRAFT and not known.transfer.draft:
            raise Failed(409, "NoDraft", f"{named.uri} has no draft that this engine can load")
        return known

    async def load(self, engine: Lifecycle, loading: Loading, session: str) -> None:
        """In the pause. Raises EngineError; from Start on it is EngineStateUnknown, whatever it was."""
        transfer, backend = loading.transfer, loading.backend
        loading.used.add(session)
        start = engine.start_draft_update if session == DRAFT else engine.start_update
        await start(deadline_s=CALL_S[Step.START])
        try:
            info = backend.update_info(transfer, session=session)
            await engine.update(info, deadline_s=PREPARE_S)
            backend.prove(transfer, session=session)
        except (EngineRefused, EngineUnreachable) as error:
            raise EngineStateUnknown(error.reason, error.message) from error
        except BackendError as error:
            raise EngineStateUnknown(error.failure.reason, error.failure.message) from error

    async def _staged(self, named: Checkpoint, sight: EngineSight) -> Content:
        """With its digest. Raises Failed."""
        want = Content(TRAINER_REVISION, "", named.uri, named.digest)
        book, stable = self._journal.book, self._board.stable.content
        held = (each for each in (book.told, book.last_good, stable) if each is not None)
        keep = frozenset[str]().union(*(each.digests for each in held))
        job = await self._stager.stage(want, sight, keep)
        await asyncio.wait({job.task})
        ended = job.progress
        if ended.reason:
            status = 400 if ended.failure_class is FailureClass.WEIGHTS else 503
            raise Failed(status, ended.reason, ended.message)
        return Content(TRAINER_REVISION, "", named.uri, ended.digest)

    def _is_good(self, known: Loading, content: Content, sight: EngineSight, session: str) -> bool:
        """For one more session, without another Init."""
        mine = (known.transfer.content.digest, known.transfer.instance, known.swaps)
        now = (content.digest, sight.instance, self._newest_swap())
        return mine == now and session not in known.used

    async def _prepared(self, engine: Lifecycle, content: Content, sight: EngineSight) -> Loading:
        draft = load_of(self._board, content, sight)
        transfer = Transfer(
            f"trainer/{secrets.token_hex(8)}",
            content,
            sight.instance,
            draft.digest if draft is not None else "",
        )
        backend = self._swaps.backend(transfer.id, sight.reports)
        loading = Loading(transfer, backend, self._newest_swap())
        try:
            info = backend.init_info(transfer)
            await engine.init_transfer(info, deadline_s=CALL_S[Step.INIT])
            await self._wait(transfer, backend)
        except BackendError as error:
            raise Failed(409, error.failure.reason, error.failure.message) from error
        return loading

    async def _wait(self, transfer: Transfer, backend: Backend) -> None:
        """Raises BackendError, Failed."""
        ready = asyncio.ensure_future(backend.prepared(transfer, deadline_s=PREPARE_S))
        try:
            while not (await asyncio.wait({ready}, timeout=ALIVE_S))[0]:
                sight = self._watch.sight
                if sight.answered_at is None or sight.instance != transfer.instance:
                    raise Failed(503, "EngineUnreachable", "the engine ended while it prepared")
            ready.result()
        finally:
            ready.cancel()
            await asyncio.gather(ready, return_exceptions=True)

    def _newest_swap(self) -> str:
        ended = self._journal.book.finished
        return ended[0].txn if ended else ""
