"""Find and end what an engine started, also what lost its parent or its environment.

vLLM renames its processes, which overwrites the memory that /proc shows as their environment: a mark there finds only some of
them. All stay in the session of the first process, which `start_process` made for it. Both ways together find each.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from localcluster.guard import marked


def of(session: int, mark: str) -> list[int]:
    """Ids of processes of this session, or with this `NAME=value` in their environment; zombies left out."""
    return sorted({*_in_session(session), *(pid for pid in marked(mark) if not _is_zombie(pid))})


def kill(session: int, mark: str) -> None:
    """SIGKILL to each of them; what ends meanwhile is none of our business."""
    for pid in of(session, mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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
