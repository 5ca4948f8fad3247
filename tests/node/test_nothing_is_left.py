"""A node ends with the run that started it, however that ends, and leaves the machine as it was."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localcluster.waiting import eventually
from localnode import cgroups, leftovers
from localnode.ground import Ground
from localnode.node import TESTS
from localnode.world import KERNEL_SETTINGS

UP_S = 120.0
GONE_S = 30.0


@pytest.fixture
def run(ground: Ground, tmp_path: Path) -> Iterator["Run"]:
    """A run of its own, beside the session's node: that one is on the machine before and after, too."""
    found = Run(tmp_path / "log")
    yield found
    found.kill()


class Run:
    """`python -m localnode up`."""

    def __init__(self, log: Path) -> None:
        self._log = log
        with log.open("wb") as out:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "localnode", "up"],
                stdout=out,
                stderr=out,
                env={**os.environ, "PYTHONPATH": str(TESTS)},
                start_new_session=True,
            )

    async def up(self) -> str:
        """Wait until its node is Ready; the name of its folder."""

        def says() -> str:
            text = self._log.read_text()
            assert self.popen.poll() is None, text
            found = text.rpartition("export KUBECONFIG=")[2].splitlines()
            return found[0] if "export KUBECONFIG=" in text and "nsenter" in text else ""

        return Path(await eventually(says, UP_S, "the node is up")).parents[1].name

    def guard(self) -> int:
        """The process that cleans up."""
        children = Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text()
        for pid in map(int, children.split()):
            if b"localnode.guard" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        raise AssertionError("no guard")

    def kill(self) -> None:
        self.popen.kill()
        self.popen.wait()


def machine() -> dict[str, Any]:
    """What a node could have changed here."""
    return {
        "mounts": sorted(Path("/proc/self/mounts").read_text().splitlines()),
        "links": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "addresses": _said("ip", "-brief", "address"),
        "routes": _said("ip", "route", "show", "table", "all"),
        "rules": [line for line in _said("iptables-save").splitlines() if line[:1] not in "#:"],
        "settings": {name: Path("/proc/sys", name).read_text() for name in KERNEL_SETTINGS},
        "forwarding": Path("/proc/sys/net/ipv4/ip_forward").read_text(),
        "folders": sorted(str(path) for path in Path("/var/lib").iterdir()),
    }


def traces(name: str) -> list[str]:
    """Of one node: its processes, cgroups and folder."""
    found = [str(path) for path in cgroups.found(name)]
    found += [str(path) for path in Path(tempfile.gettempdir()).glob(name)]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                about = (entry / "cmdline").read_bytes() + (entry / "cgroup").read_bytes()
            except OSError:  # ended meanwhile
                continue
            if name.encode() in about:
                found.append(entry.name)
    return found


async def no_trace(name: str) -> None:
    def gone() -> bool:
        left = traces(name)
        assert not left, left
        return True

    await eventually(gone, GONE_S, "nothing is left")


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def test_node_that_is_stopped_leaves_nothing(run: Run) -> None:
    before = machine()
    name = await run.up()
    assert machine() == before, "a node that runs is seen on the machine"
    assert len(traces(name)) > 20, "the traces of a node that runs are not found"

    run.popen.send_signal(signal.SIGINT)
    await asyncio.to_thread(run.popen.wait)

    await no_trace(name)
    assert machine() == before


async def test_run_that_is_killed_leaves_nothing(run: Run) -> None:
    before = machine()
    name = await run.up()

    run.kill()

    await no_trace(name)
    assert machine() == before


async def test_what_a_killed_run_and_its_killed_guard_left_is_removed_by_the_next(
    run: Run,
) -> None:
    before = machine()
    name = await run.up()
    os.kill(run.guard(), signal.SIGKILL)
    run.kill()
    assert traces(name), "with its guard dead, nobody has removed its folder"

    await asyncio.to_thread(leftovers.sweep, print)

    await no_trace(name)
    assert machine() == before
