"""One real engine, swapped by the product's own driver and journal, with each of its calls timed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from bench.swap.modes import ENGINES, Mode, Model
from realvllm import tiny
from realvllm.client import Client
from realvllm.engine import RealEngine, engine
from realvllm.swapping import Swapper, swapper
from weightrollout.api.spec import PauseMode, TakeOut
from weightrollout.api.swap import Outcome
from weightrollout.engine.protocol import Engine
from weightrollout.handover import files, records
from weightrollout.handover.records import Receipt
from weightrollout.swap import book
from weightrollout.swap.journal import Journal
from weightrollout.swap.records import Content, SwapState
from weightrollout.weights.staging import Store

CALL_S: Final = 120.0
Json = dict[str, Any]


class SwapFailed(Exception):
    """The transaction ended otherwise than committed; the message says how."""


class TimedCalls:
    """An engine whose calls are written down: name, begin and end in seconds of the monotonic clock."""

    def __init__(self, inner: Engine) -> None:
        self._inner = inner
        self.calls: list[tuple[str, float, float]] = []

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._inner, name)

        async def timed(*args: Any, **keywords: Any) -> Any:
            begun = time.monotonic()
            try:
                return await call(*args, **keywords)
            finally:
                self.calls.append((name, begun, time.monotonic()))

        return timed


@dataclass
class Session:
    """Swaps back and forth between both versions."""

    model: Model
    kind: str
    running: RealEngine
    swaps: Swapper
    calls: TimedCalls
    folder: Path
    start_s: float  # from the start of the process to the first token
    contents: dict[str, Content] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    serving: str = "a"

    @property
    def client(self) -> Client:
        return Client(self.running.http_url, str(self.running.launch.model))

    @property
    def modes(self) -> list[Mode]:
        return [mode for mode in self.model.modes if mode.engine == self.kind]

    @property
    def image(self) -> Path:
        """Of version a: the bytes that a swap moves."""
        plan_id = self.swaps.reports[0].plan.plan_id()
        return files.rank_image(self.swaps.store.region(self.contents["a"].digest, plan_id), 0)

    @property
    def pinned(self) -> set[int]:
        """Cores that a process of the engine keeps itself to."""
        everywhere = os.sched_getaffinity(0)
        pinned: set[int] = set()
        for pid in self.running.processes():
            with suppress(ProcessLookupError):
                if (cores := os.sched_getaffinity(pid)) < everywhere:
                    pinned |= cores
        return pinned

    async def stage(self) -> list[float]:
        """Both versions, once; seconds of each."""
        pair = tiny.pair(self.model.family)
        seconds = []
        for name, version in (("a", pair.a), ("b", pair.b)):
            begun = time.monotonic()
            self.contents[name] = await self.swaps.stage(version, name)
            self.folders[name] = version.target
            seconds.append(time.monotonic() - begun)
        return seconds

    async def swap(
        self, mode: Mode, pause_mode: PauseMode = PauseMode.ABORT, *, clear_cache: bool = True
    ) -> Json:
        """To the other version; milliseconds. Raises SwapFailed; then the next swap may succeed."""
        to = "b" if self.serving == "a" else "a"
        handover = self.running.launch.handover
        assert handover is not None
        choice = {"path": mode.path, "folder": str(self.folders[to])}
        (handover / "choice.json").write_text(json.dumps(choice))
        journal = Journal(self.folder / "journal.json", book.Book())
        journaled: list[tuple[float, float]] = []

        def record(state: SwapState) -> None:
            begun = time.monotonic()
            journal.put(book.noted(journal.book, state))
            journaled.append((begun, time.monotonic()))

        self.swaps.record = record
        run = self.swaps.begin(self.contents[to], pause_mode, clear_cache=clear_cache)
        journal.put(book.begun(journal.book, run.state, TakeOut.NONE))
        self.calls.calls.clear()
        ended = await run.run()
        if ended.outcome is not Outcome.COMMITTED:
            await self._go_on()
            raise SwapFailed(f"{ended.outcome}: {ended.failure}")
        self.serving = to
        receipt = records.read(Receipt, files.receipt(handover, ended.transfer_id, 0))
        parts = json.loads((handover / "parts.json").read_bytes())
        told = self._told(parts, receipt.millis if receipt else 0.0)
        paused = told["at"]["pause"]
        told["journal"] = 1000 * sum(end - begin for begin, end in journaled if begin > paused)
        told["anon_mib"] = self._anonymous_mib()
        return told

    def _anonymous_mib(self) -> float:
        """Memory of the engine's processes that is no file."""
        kib = 0
        for pid in self.running.processes():
            with suppress(OSError):  # it ended meanwhile
                for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                    if line.startswith("RssAnon:"):
                        kib += int(line.split()[1])
        return kib / 1024

    async def _go_on(self) -> None:
        """Whatever it holds now, the next swap replaces it."""
        try:
            await self.calls.resume(deadline_s=CALL_S)
        except Exception as error:  # not paused, or gone: the next swap says so
            print(f"  resume: {error!r}", flush=True)

    def _told(self, parts: Json, worker: float) -> Json:
        at = {name: (begun, ended) for name, begun, ended in self.calls.calls}
        order = ["pause", "start_update", "update", "finish_update"]
        order += ["start_draft_update"] if "start_draft_update" in at else []
        paused, resumed = at["pause"][0], at["resume"][1]
        calls: dict[str, float] = {}
        for name, begun, ended in self.calls.calls:
            if paused <= begun <= resumed:
                named = name if name in (*order, "resume") else "read back"
                calls[named] = calls.get(named, 0.0) + 1000 * (ended - begun)
        pause = 1000 * (resumed - paused)
        return {
            "pause": pause,
            "calls": calls,
            "worker": worker,
            "prepare": 1000 * (at["pause"][0] - at["init_transfer"][1]),
            "parts": parts,
            "at": {
                "init": at["init_transfer"][0],
                "pause": at["pause"][0],
                "resumed": at["resume"][1],
            },
        }


@asynccontextmanager
async def session(folder: Path, model: Model, kind: str, store: Store) -> AsyncIterator[Session]:
    """An engine that has answered once. Raises EngineNotStarted."""
    launch = tiny.pair(model.family).a.launch("measured")
    launch = replace(
        launch,
        handover=folder / "handover",
        staging=store.root,
        max_model_tokens=model.max_tokens,
        environment={**launch.environment, **ENGINES[kind]},
    )
    begun = time.monotonic()
    async with engine(folder, launch) as running:
        client = Client(running.http_url, str(launch.model))
        await client.answers(("hello",), max_tokens=1, deadline_s=CALL_S)
        start_s = time.monotonic() - begun
        async with swapper(running) as swaps:
            calls = TimedCalls(swaps.control)
            swaps.control, swaps.store = cast("Engine", calls), store
            yield Session(model, kind, running, swaps, calls, folder, start_s)
