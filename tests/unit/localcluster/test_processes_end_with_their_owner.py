"""Processes are found and ended whatever they do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import uuid
from pathlib import Path

import pytest

from localcluster.container import Backoff
from localcluster.guard import marked, sweep
from localcluster.processes import Command, Guard, log_tail, start_process
from localcluster.sweeper import Sweeper
from localcluster.waiting import NeverCame, eventually


def command(log: Path, script: str, **environment: str) -> Command:
    return Command(["sh", "-c", script], {"PATH": os.environ["PATH"], **environment}, log)


async def test_exit_code_and_log_are_kept(tmp_path: Path) -> None:
    process = start_process(command(tmp_path / "log", "echo out; echo err >&2; exit 3"))

    assert await asyncio.wait_for(process.wait(), 5) == 3
    assert process.exit_code == 3
    assert log_tail(tmp_path / "log", 1) == "err"


async def test_two_waiters_learn_of_one_end(tmp_path: Path) -> None:
    process = start_process(command(tmp_path / "log", "exit 0"))

    assert set(await asyncio.gather(process.wait(), process.wait())) == {0}


async def test_cancelled_waiter_takes_the_end_from_nobody(tmp_path: Path) -> None:
    process = start_process(command(tmp_path / "log", "sleep 1000"))
    waiter = asyncio.create_task(process.wait())
    await asyncio.sleep(0)  # lets the waiter begin
    waiter.cancel()

    assert await process.stop(5) == -signal.SIGTERM


async def test_deaf_process_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    process = start_process(command(tmp_path / "log", deaf))
    await eventually(lambda: "up" in log_tail(tmp_path / "log", 1), 5, "it is deaf")

    assert await process.stop(0.1) == -signal.SIGKILL


async def test_missing_program_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        start_process(Command(["no-such-program"], {}, tmp_path / "log"))


async def test_sweep_finds_a_process_that_left_its_group(tmp_path: Path) -> None:
    name, value = "LOCALCLUSTER_UNIT_TEST", uuid.uuid4().hex
    mark = f"{name}={value}"
    script = "setsid sleep 1000 & echo up; wait"
    process = start_process(command(tmp_path / "log", script, **{name: value}))
    await eventually(lambda: len(marked(mark)) == 2, 5, "both run")

    assert sweep(mark) >= 2

    assert marked(mark) == []
    await process.wait()


async def test_many_ends_at_once_are_all_swept(tmp_path: Path) -> None:
    name, values = "LOCALCLUSTER_UNIT_TEST", [uuid.uuid4().hex for _ in range(5)]
    left = [
        start_process(command(tmp_path / value, "sleep 1000", **{name: value})) for value in values
    ]
    sweeper = Sweeper()

    await asyncio.gather(*(sweeper.sweep(f"{name}={value}") for value in values))

    codes = await asyncio.gather(*(process.wait() for process in left))
    assert set(codes) == {-signal.SIGKILL}


async def test_guard_cleans_up_after_a_killed_owner(tmp_path: Path) -> None:
    name, value = "LOCALCLUSTER_UNIT_TEST", uuid.uuid4().hex
    mark, folder = f"{name}={value}", tmp_path / "scratch"
    folder.mkdir()
    owner = f"""
import subprocess
from localcluster.processes import Guard
from pathlib import Path
Guard({mark!r}, [Path({str(folder)!r})]).start()
subprocess.Popen(["setsid", "sleep", "1000"], env={{"PATH": "/usr/bin:/bin", {name!r}: {value!r}}})
print("up", flush=True)
import time; time.sleep(1000)
"""
    path = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": path}
    process = start_process(Command([sys.executable, "-c", owner], environment, tmp_path / "log"))
    await eventually(lambda: len(marked(mark)) == 1, 10, "the owner has started something")

    process.signal(signal.SIGKILL)

    await process.wait()
    await eventually(lambda: marked(mark) == [], 5, "nothing is left")
    await eventually(lambda: not folder.exists(), 5, "the folder is removed")


async def test_guard_that_was_never_started_may_be_released() -> None:
    await Guard("LOCALCLUSTER_UNIT_TEST=none", []).release(1)


def test_backoff_starts_at_once_then_doubles_up_to_its_cap() -> None:
    backoff = Backoff(base_s=0.5, cap_s=3, reset_s=10)

    assert [backoff.after(0.1) for _ in range(6)] == [0, 0.5, 1, 2, 3, 3]


def test_backoff_is_forgotten_after_a_healthy_run() -> None:
    backoff = Backoff(base_s=0.5, cap_s=3, reset_s=10)
    for _ in range(4):
        backoff.after(0.1)

    assert [backoff.after(11), backoff.after(0.1)] == [0, 0.5]


async def test_wait_tells_what_was_seen_last() -> None:
    def refuses() -> bool:
        raise LookupError("no pod p")

    with pytest.raises(NeverCame, match=r"the pod is there: not within 0.05 s.*no pod p"):
        await eventually(refuses, 0.05, "the pod is there")


async def test_wait_ends_although_its_condition_hangs() -> None:
    with pytest.raises(NeverCame, match="never answered"):
        await eventually(asyncio.Event().wait, 0.05, "it answers")


async def test_wait_lets_a_real_error_through() -> None:
    def breaks() -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await eventually(breaks, 1, "nothing")
