"""What an engine started is found and ended, whatever became of its parent and of its environment."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from localcluster.processes import Command, log_tail, start_process
from localcluster.waiting import eventually
from realvllm import leftovers
from realvllm.leftovers import Watch

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[2]
#: As vLLM's workers are: in the session of the first process, and without its environment.
STRIPPED_CHILD = "env -i sleep 1000 & echo started; wait"


@pytest.fixture
def mark() -> str:
    return f"REALVLLM_TEST={uuid.uuid4().hex}"


def engine_like(log: Path, mark: str) -> Command:
    name, _, value = mark.partition("=")
    return Command(["sh", "-c", STRIPPED_CHILD], {"PATH": os.environ["PATH"], name: value}, log)


async def test_worker_without_mark_or_parent_is_found_and_ended(tmp_path: Path, mark: str) -> None:
    first = start_process(engine_like(tmp_path / "log", mark))
    await eventually(lambda: len(leftovers.of(first.pid, mark)) == 2, 5, "both run")
    first.signal(signal.SIGKILL)
    await first.wait()
    assert len(leftovers.of(first.pid, mark)) == 1

    assert leftovers.kill(first.pid, mark) == []
    assert leftovers.of(first.pid, mark) == []


async def test_process_that_left_the_session_is_found_by_its_mark(
    tmp_path: Path, mark: str
) -> None:
    name, _, value = mark.partition("=")
    command = Command(
        ["sh", "-c", "setsid sleep 1000 & wait"],
        {"PATH": os.environ["PATH"], name: value},
        tmp_path / "log",
    )
    first = start_process(command)
    await eventually(lambda: len(leftovers.of(first.pid, mark)) == 2, 5, "both run")

    assert leftovers.kill(first.pid, mark) == []
    await first.wait()


async def test_watch_ends_all_when_it_is_released(tmp_path: Path, mark: str) -> None:
    first = start_process(engine_like(tmp_path / "log", mark))
    await eventually(lambda: len(leftovers.of(first.pid, mark)) == 2, 5, "both run")
    watch = Watch.over(first.pid, mark)

    assert await watch.release() == 0
    assert leftovers.of(first.pid, mark) == []
    await first.wait()


async def test_killed_test_run_leaves_no_worker(tmp_path: Path, mark: str) -> None:
    """The run that started an engine is killed with SIGKILL: it cannot clean up."""
    script = f"""
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, {str(TESTS)!r})
from localcluster.processes import Command, start_process
from realvllm.leftovers import Watch, of

async def main():
    name, _, value = {mark!r}.partition("=")
    environment = {{"PATH": os.environ["PATH"], name: value}}
    first = start_process(Command(["sh", "-c", {STRIPPED_CHILD!r}], environment, Path({str(tmp_path / "log")!r})))
    Watch.over(first.pid, {mark!r})
    while len(of(first.pid, {mark!r})) < 2:
        await asyncio.sleep(0.01)
    print(first.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
    assert run.stdout is not None
    session = int(await asyncio.wait_for(run.stdout.readline(), 30))
    assert len(leftovers.of(session, mark)) == 2
    run.kill()
    await run.wait()

    await eventually(lambda: not leftovers.of(session, mark), 30, "all gone")
    assert "started" in log_tail(tmp_path / "log", 5)
