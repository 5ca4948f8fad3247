"""Stage one checkpoint at a time, in a thread, beside the serving engine."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.state import Board, Staging
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft, Metadata
from weightrollout.api.swap import FailureClass
from weightrollout.clock import Clock
from weightrollout.metrics import (
    AGENT_NODE_BYTES,
    AGENT_NODE_NOTICES,
    AGENT_STAGED_BYTES,
    AGENT_STAGING_SECONDS,
    Metrics,
)
from weightrollout.swap.records import Content
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.node_notices import Notice
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.weights.sharing import Sharing
from weightrollout.weights.staging import StageCount, Store

#: Progress that goes to the wire; the store counts about as often.
PROGRESS_S: Final = 0.1
#: Long enough that a range of a slow source falls into it, short enough that a stall is seen.
RATE_S: Final = 5.0

log = logging.getLogger(__name__)


class Stager:
    """Owns `board.staging` and `board.staged`."""

    def __init__(self, store: Store, board: Board, clock: Clock, metrics: Metrics) -> None:
        self._store = store
        self._board = board
        self._clock = clock
        self._metrics = metrics
        self._job: _Job | None = None
        self._known = ("", "", "")

    async def know(self, sight: EngineSight) -> None:
        """Which images fit this engine and its draft; none when it cannot be swapped."""
        self._known = known = sight.layouts
        try:
            found = await asyncio.to_thread(self._staged, sight)
        except WeightsError as error:
            log.error("images cannot be listed: %s", error)
            # An unreadable volume is no reason to end beside a good engine.
            found = (frozenset(), frozenset(), frozenset())
        board = self._board
        if found != (board.staged, board.drafts_staged, board.signed) and known == self._known:
            board.staged, board.drafts_staged, board.signed = found
            board.bell.ring()

    def _staged(self, sight: EngineSight) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """For the engine and for its draft, whose config nobody reports; and what is signed."""
        store, none = self._store, frozenset[str]()
        return (
            store.staged(sight.plan_id, sight.reports) if sight.plan_id else none,
            store.staged(sight.draft_plan_id) if sight.draft_plan_id else none,
            store.signed(),
        )

    def hold_to(self, limit: int) -> None:
        """Bytes per second from the source, also of a staging that runs; 0: as fast as they come.

        Without an operator it stays what it was.
        """
        self._store.pace.hold_to(limit if limit > 0 else None)
        job = self._job
        if job is not None and not job.progress.done and job.progress.limit != self._limit:
            job.progress = replace(job.progress, limit=self._limit)
            self._show(job.progress)

    @property
    def _limit(self) -> int:
        return self._store.pace.limit or 0

    async def stage(self, want: Content, sight: EngineSight, keep: Collection[str]) -> "_Job":
        """Join the same staging, or replace another: the operator wants the newest."""
        job = self._job
        if job is not None and not job.task.done():
            if job.want == _wish(want) and job.instance == sight.instance:
                return job
            job.cancelled.set()
            await asyncio.wait({job.task})
        job = _Job(want, sight.instance, self._limit)
        self._job = job
        self._show(job.progress)
        job.task = asyncio.create_task(self._run(job, want, sight, keep), name="stage")
        return job

    async def stop(self) -> None:
        if self._job is not None and not self._job.task.done():
            self._job.cancelled.set()
            await asyncio.wait({self._job.task})

    async def _run(
        self, job: "_Job", want: Content, sight: EngineSight, keep: Collection[str]
    ) -> None:
        begun = self._clock.monotonic()
        loop = asyncio.get_running_loop()

        def progress(count: StageCount) -> None:  # in the store's thread
            loop.call_soon_threadsafe(self._count, job, count)

        try:
            index = await asyncio.to_thread(self._work, job, want, sight, keep, progress)
        except WeightsError as error:
            self._fail(job, error.failure_class, error.reason, error.message)
        except Exception as error:  # the door of a thread: a bug must end the stream, not hang it
            log.exception("staging %s", want.uri)
            self._fail(job, FailureClass.ENVIRONMENT, "StagingCrashed", repr(error))
        else:
            self._metrics.histogram(AGENT_STAGING_SECONDS).observe(self._clock.monotonic() - begun)
            job.progress = replace(job.progress, digest=index, done=True, message="")
            await self.know(sight)
        self._end(job)

    def _work(
        self,
        job: "_Job",
        want: Content,
        sight: EngineSight,
        keep: Collection[str],
        progress: Callable[[StageCount], None],
    ) -> str:
        removed = self._store.collect({*keep, *want.digests})
        if removed:
            log.info("removed images of %s", ", ".join(removed))
        index = self._store.stage(
            want.uri,
            digest=want.digest or None,
            reports=sight.reports,
            policy=want.metadata,
            progress=progress,
            cancelled=job.cancelled.is_set,
            draft=want.draft,
            signature=want.signature,
        )
        return index.digest

    def _count(self, job: "_Job", count: StageCount) -> None:
        if job is not self._job or job.progress.done:
            return
        now = self._clock.monotonic()
        read = count.bytes - count.kept - count.shared
        self._metrics.counter(AGENT_STAGED_BYTES).inc(max(0, read - job.read))
        self._metrics.counter(AGENT_NODE_BYTES).inc(max(0, count.shared - job.shared))
        job.read, job.shared = read, count.shared
        if count.note and not job.progress.message:
            log.info("staging %s %s", job.progress.uri, count.note)
        job.progress = replace(
            job.progress,
            bytes=count.bytes,
            total=count.total,
            bytes_per_second=job.rate.of(now, read + count.shared),
            message=count.note,
        )
        if now - job.told_at >= PROGRESS_S:
            job.told_at = now
            self._show(job.progress)

    def _fail(self, job: "_Job", failure_class: FailureClass, reason: str, message: str) -> None:
        job.progress = replace(
            job.progress, done=True, failure_class=failure_class, reason=reason, message=message
        )

    def _end(self, job: "_Job") -> None:
        """A failure stays on the board until the next staging; a success is in `staged`."""
        self._show(job.progress if job.progress.reason else None)

    def _show(self, staging: Staging | None) -> None:
        self._board.staging = staging
        self._board.bell.ring()


def sharing(folder: Path | None, keep_free_percent: int, metrics: Metrics) -> Sharing | None:
    """Of the node's volume; None: there is none."""

    def tell(notice: Notice) -> None:
        log.warning("node volume: %s", notice)
        metrics.counter(AGENT_NODE_NOTICES).labels(notice.why).inc()

    if folder is None:
        return None
    return Sharing(NodeVolume(folder, keep_free_percent=keep_free_percent), tell)


def _wish(want: Content) -> tuple[str, str, Metadata, Draft | None, Signature | None]:
    """What makes two stagings the same."""
    return want.uri, want.digest, want.metadata, want.draft, want.signature


class Rate:
    """Of what grows, over the last RATE_S seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()  # when, how much

    def of(self, now: float, count: int) -> int:
        """Per second; 0 where nothing can be said yet."""
        seen = self._seen
        if not seen or now - seen[-1][0] >= PROGRESS_S:
            seen.append((now, count))
        while len(seen) > 2 and now - seen[1][0] >= RATE_S:
            seen.popleft()
        begin, before = seen[0]
        return int((count - before) / (now - begin)) if now - begin >= PROGRESS_S else 0


class _Job:
    """One staging. `progress` is complete, and final once it is `done`."""

    task: asyncio.Task[None]

    def __init__(self, want: Content, instance: str, limit: int) -> None:
        self.want = _wish(want)
        self.instance = instance
        self.cancelled = threading.Event()
        self.progress = Staging(uri=want.uri, digest=want.digest, limit=limit)
        self.read = 0  # bytes, from the source
        self.shared = 0  # from the node's volume
        self.rate = Rate()
        self.told_at = float("-inf")
