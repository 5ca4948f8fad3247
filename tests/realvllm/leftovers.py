"""Find and end what an engine started, also what lost its parent or its environment.

vLLM renames its processes, which overwrites the memory that /proc shows as their environment: a mark there finds only some of
them. All stay in the session of the first process, which `start_process` made for it. Both ways together find each. None
of the workers ends when the first process is killed, so somebody has to look.

Run as a program (``python -m realvllm.leftovers SESSION MARK``) it waits until its standard input closes, which happens when
whoever started it ends in any way, then ends all of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localcluster.guard import marked

TESTS: Final = Path(__file__).resolve().parent.parent
#: A process may fork between our look and our kill.
ROUNDS: Final = 20
ROUND_S: Final = 0.05


def of(session: int, mark: str) -> list[int]:
    """Ids of processes of this session, or with this `NAME=value` in their environment; zombies left out."""
    return sorted({*_in_session(session), *(pid for pid in marked(mark) if not _is_zombie(pid))})


def kill(session: int, mark: str) -> list[int]:
    """SIGKILL until none is left; return the ids of those that would not go."""
    for _ in range(ROUNDS):
        left = of(session, mark)
        if not left:
            return []
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(ROUND_S)
    return of(session, mark)


@dataclass
class Watch:
    """A process that ends all of a session when we end, in whatever way."""

    _popen: subprocess.Popen[bytes]

    @classmethod
    def over(cls, session: int, mark: str) -> Watch:
        """Begin to watch."""
        return cls(
            subprocess.Popen(
                [sys.executable, "-m", "realvllm.leftovers", str(session), mark],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(TESTS)},
                start_new_session=True,
            )
        )

    async def release(self) -> int:
        """Let it do its work now and wait for it; its exit code is the number of processes that would not go."""
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        return await asyncio.to_thread(self._popen.wait)


def main(session: int, mark: str) -> int:
    """Wait for the end of standard input, then end the session; returns how many would not go."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # we end after the one we watch, never before it
    while os.read(0, 4096):
        pass
    return len(kill(session, mark))


def _in_session(session: int) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (stat := _stat(int(entry.name))):
            state, in_session = stat
            if in_session == session and state != "Z":
                found.append(int(entry.name))
    return found


def _is_zombie(pid: int) -> bool:
    stat = _stat(pid)
    return stat is None or stat[0] == "Z"


def _stat(pid: int) -> tuple[str, int] | None:
    """State letter and session of a process; None once it is gone."""
    try:
        # The name, in parentheses, may hold anything; the fields after it may not.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[3])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))
