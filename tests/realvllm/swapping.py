"""The product's own swap against a real engine, without agent and cluster.

Staged by the product's store, driven by its driver, with its adapters: only the journal is missing.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from realvllm.engine import RealEngine
from realvllm.tiny import Version
from weightrollout.agent.handover_volume import read_reports
from weightrollout.api.spec import Draft, PauseMode
from weightrollout.clock import SystemClock
from weightrollout.engine.protocol import Engine, Inference
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.engine.vllm_http import VllmHttp
from weightrollout.handover.records import EngineReport
from weightrollout.swap import machine
from weightrollout.swap.backends.shared_memory import SharedMemory
from weightrollout.swap.book import Transaction
from weightrollout.swap.records import Content, DraftLoad, SwapRequest, SwapState
from weightrollout.swap.run import Hands, SwapRun
from weightrollout.weights import digest
from weightrollout.weights.staging import Store

#: Longest attempt. A tiny model takes 30 ms; a machine may be busy.
ATTEMPT_S: Final = 120.0
_numbers = itertools.count(1)


@dataclass(slots=True)
class Swapper:
    """One engine that is swapped. `journal`: the states that an agent would have written."""

    running: RealEngine
    control: Engine
    inference: Inference
    reports: tuple[EngineReport, ...]
    store: Store
    journal: list[SwapState] = field(default_factory=list)
    #: Where states are kept instead, as an agent does.
    record: Callable[[SwapState], None] | None = None

    async def swap(
        self, to: Version, name: str, *, with_draft: bool = True
    ) -> tuple[SwapState, Transaction]:
        """Stage and swap; the ended state, and what is told of it. Raises WeightsError.

        `with_draft` False: an engine's draft stays as it is.
        """
        content = await self.stage(to, name, with_draft=with_draft)
        return await self.load(content, with_draft=with_draft)

    async def stage(self, to: Version, name: str, *, with_draft: bool = True) -> Content:
        """Raises WeightsError."""
        draft = _own_draft(to) if with_draft else None
        index = await asyncio.to_thread(
            self.store.stage,
            f"{to.target.as_uri()}/",
            digest=None,
            reports=self.reports,
            progress=lambda count: None,
            cancelled=lambda: False,
            draft=draft,
        )
        return Content(name, name, to.target.as_uri(), index.digest, draft=draft)

    async def load(
        self,
        content: Content,
        pause_mode: PauseMode = PauseMode.ABORT,
        *,
        clear_cache: bool = True,
        with_draft: bool = True,
    ) -> tuple[SwapState, Transaction]:
        """Swap to what was staged."""
        run = self.begin(content, pause_mode, clear_cache=clear_cache, with_draft=with_draft)
        ended = await run.run()
        return ended, run.transaction()

    def begin(
        self,
        content: Content,
        pause_mode: PauseMode = PauseMode.ABORT,
        *,
        clear_cache: bool = True,
        with_draft: bool = True,
    ) -> SwapRun:
        """The swap, before its first step."""
        report = self.reports[0]
        load = (
            DraftLoad(report.draft.method, content.draft_digest)
            if report.draft is not None and with_draft
            else None
        )
        request = SwapRequest(
            txn=f"uid/{content.version}/pod/{next(_numbers)}",
            attempt=1,
            target=content,
            last_good=None,
            pause_mode=pause_mode,
            clear_cache=clear_cache,
            drain_s=0.0,
            deadline_s=ATTEMPT_S,
            prompts=(),
            target_draft=load,
        )
        clock = SystemClock()
        assert self.running.launch.handover is not None
        backend = SharedMemory(self.store, self.running.launch.handover, self.reports, clock)
        return SwapRun(
            Hands(self.control, self.inference, backend, clock),
            machine.begin(request, report.instance),
            record=self.record or self.journal.append,
            changed=lambda told: None,
        )


def _own_draft(version: Version) -> Draft | None:
    """A draft with a checkpoint of its own; None: it lies in the target's, or there is none."""
    if version.draft is None or version.draft == version.target:
        return None
    found = digest.digest_of(version.draft, threads=1)
    return Draft(uri=f"{version.draft.as_uri()}/", digest=found)


@asynccontextmanager
async def swapper(running: RealEngine) -> AsyncIterator[Swapper]:
    """For an engine that was started with the product's plugin."""
    assert running.launch.handover is not None
    assert running.launch.staging is not None
    control, inference = VllmGrpc(running.grpc_target), VllmHttp(running.http_url)
    try:
        reports = read_reports(running.launch.handover)
        yield Swapper(running, control, inference, reports, Store(running.launch.staging))
    finally:
        await inference.close()
        await control.close()
