"""An armed point kills one process once, and lets every other one live."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from killing.armed import VARIABLE, Armed

TESTS = Path(__file__).resolve().parents[2]
LIVE = """
from killing.armed import Armed
armed = Armed.from_environment()
for point in ("one", "two", "three"):
    armed.strike(point)
    print(point, flush=True)
"""


def live(folder: Path) -> tuple[int, list[str]]:
    """A process that comes by one, two and three; its exit code and how far it came."""
    ended = subprocess.run(
        [sys.executable, "-c", LIVE],
        env={**os.environ, "PYTHONPATH": str(TESTS), VARIABLE: str(folder)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return ended.returncode, ended.stdout.split()


@pytest.mark.slow
def test_process_dies_at_its_point_and_its_successor_at_the_next_one(tmp_path: Path) -> None:
    armed = Armed(tmp_path)
    armed.arm(["two", "three"])
    assert live(tmp_path) == (-signal.SIGKILL, ["one"])
    assert live(tmp_path) == (-signal.SIGKILL, ["one", "two"])
    assert live(tmp_path) == (0, ["one", "two", "three"])
    assert len(armed.struck()) == 2


def test_nobody_dies_where_nothing_is_armed(tmp_path: Path) -> None:
    armed = Armed(tmp_path)
    armed.strike("one")
    armed.arm(["two"])
    armed.disarm()
    armed.strike("two")
    assert armed.struck() == []
