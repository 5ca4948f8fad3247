"""Swaps and staging while clients stream: what they see of it."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.page import ROOT
from bench.swap import gaps, stream
from bench.swap.modes import ALL, SPARE, UNDER_LOAD, Mode, Model, Settings
from bench.swap.session import CALL_S, Session
from localcluster.node_settings import python_environment
from localcluster.processes import Command, Process, log_tail, start_process
from localcluster.waiting import eventually
from weightrollout.api.spec import PauseMode

Json = dict[str, Any]
PREEMPTED: Final = "vllm:num_preemptions_total"
TOKENS_S: Final = 120.0
#: Of serving without and with staging beside it; enough for a 99th percentile of a tiny model's tokens.
BASELINE_S: Final = 6.0


@dataclass
class Streams:
    """Clients at work. A token's time is appended to a file by the client's own process."""

    outs: list[Path]
    processes: list[Process]
    log: Path

    def times(self) -> list[list[float]]:
        """Whole lines only."""
        texts = [out.read_text() if out.exists() else "" for out in self.outs]
        return [[float(line) for line in text.split("\n")[:-1]] for text in texts]

    async def reach(self, count: int, *, since: float = 0.0) -> None:
        """Wait until each stream has `count` tokens after a moment. NeverCame."""

        def enough() -> bool:
            if any(process.exit_code is not None for process in self.processes):
                raise RuntimeError(f"a stream ended too soon: {log_tail(self.log, 3)}")
            return all(sum(each > since for each in times) >= count for times in self.times())

        await eventually(enough, TOKENS_S, f"{count} tokens of each stream", every_s=0.1)


@asynccontextmanager
async def streams(session: Session, model: Model) -> AsyncIterator[Streams]:
    """They are cut at the end."""
    tokens = str(model.max_tokens - 64)
    environment = python_environment(ROOT / "operator", ROOT / "tests")
    with tempfile.TemporaryDirectory(dir=session.folder) as folder:
        outs = [Path(folder) / f"{number}.times" for number in range(model.streams)]
        port, name = str(session.running.ports.http), str(session.running.launch.model)
        command = (sys.executable, "-m", "bench.swap.stream", port, name, tokens)
        log = session.folder / "streams.log"
        running = [start_process(Command((*command, str(out)), environment, log)) for out in outs]
        try:
            yield Streams(outs, running, log)
        finally:
            for each in running:
                await each.stop(1.0)


async def measure(sessions: Sequence[Session], settings: Settings, said: Json) -> None:
    """Into `said`: a list of cells per mode and what becomes of the KV cache; "errors"."""
    turns = [
        (session, mode, clear)
        for session in sessions
        for mode in session.modes
        for clear in (True, False)
        if (mode.name, clear) in UNDER_LOAD
    ]
    until = time.monotonic() + settings.part_s
    for number in range(settings.load_rounds):
        if number and time.monotonic() > until:
            break
        for session, mode, clear in turns:
            name = f"{mode.name}, KV {'cleared' if clear else 'kept'}"
            cell = await _tried(session, mode, name, said, clear=clear)
            if cell is None:
                continue
            said.setdefault("cells", {}).setdefault(name, []).append(cell)
            worst = max(each["stall"] for each in cell["streams"])
            print(f"  {name}: pause {cell['swap']['pause']:.0f}, stall {worst:.0f} ms", flush=True)


async def _tried(
    session: Session, mode: Mode, name: str, said: Json, *, clear: bool
) -> Json | None:
    """A second time if need be: a client may be lost before it began. None: written down."""
    for last in (False, True):
        try:
            return await _cell(session, mode, clear=clear)
        except Exception as error:  # the other cells are worth as much
            print(f"  {name}: {error!r}"[:600], flush=True)
            if last:
                said.setdefault("errors", []).append({"where": name, "error": f"{error!r}"[:600]})
    return None


async def _cell(session: Session, mode: Mode, *, clear: bool) -> Json:
    model = session.model
    async with streams(session, model) as clients:
        await clients.reach(model.before)
        begun = await session.client.metrics(deadline_s=CALL_S)
        swap = await session.swap(mode, PauseMode.KEEP, clear_cache=clear)
        await clients.reach(model.after, since=swap["at"]["resumed"])
        times = clients.times()
        ended = await session.client.metrics(deadline_s=CALL_S)
    prompt = len(stream.PROMPT.encode())
    told = [gaps.seen(each, swap["at"], prompt) for each in times]
    preempted = ended.get(PREEMPTED, 0.0) - begun.get(PREEMPTED, 0.0)
    recomputed = sum(each["context"] for each in told) if preempted >= len(told) else 0
    return {"swap": swap, "streams": told, "preempted": preempted, "recomputed": recomputed}


async def staging(session: Session, source: Path, rounds: int) -> Json:
    """Gaps of tokens without and with staging of `source` in a process of its own, in turn.

    That process may run on all cores, or only on those that no worker of the engine is pinned to.
    """
    everywhere = os.sched_getaffinity(0)
    spare = everywhere - session.pinned
    ways = {ALL: everywhere, **({SPARE: spare} if spare and spare != everywhere else {})}
    said: Json = {"without": [], "with": {name: [] for name in ways}, "seconds": {}}
    for _ in range(rounds):
        for name, cores in ways.items():
            async with streams(session, session.model) as clients:
                await clients.reach(3)
                begun = time.monotonic()
                await asyncio.sleep(BASELINE_S)
                turned = time.monotonic()
                await _stage(session, source, sorted(cores))
                ended = time.monotonic()
                for times in clients.times():
                    said["without"] += gaps.between(times, begun, turned)
                    said["with"][name] += gaps.between(times, turned, ended)
                said["seconds"].setdefault(name, []).append(ended - turned)
    for name, seen in said["with"].items():
        quiet = gaps.quantile(said["without"], 0.99)
        print(f"  on {name}: p99 {quiet:.1f} -> {gaps.quantile(seen, 0.99):.1f} ms", flush=True)
    return said


async def _stage(session: Session, source: Path, cores: Sequence[int]) -> None:
    environment = python_environment(ROOT / "operator", ROOT / "tests")
    log = session.folder / "stager.log"
    with tempfile.TemporaryDirectory(dir=session.folder) as target:
        command = [sys.executable, "-m", "bench.swap.stager", str(source), target]
        command += [str(core) for core in cores]
        stager = start_process(Command(command, environment, log))
        try:
            code = await stager.wait()
        finally:
            await stager.stop(1.0)
    if code != 0:
        raise RuntimeError(f"staging ended with {code}: {log_tail(log, 5)}")
