"""Start local processes that cannot outlive us, wait for them, end them.

In: a command. Out: a `Process` in a process group of its own, killed by the kernel (PR_SET_PDEATHSIG) when the thread that
started it ends, so start processes from a thread that lives as long as they should (the event loop's). Linux 5.3 or newer.
No Python runs between fork and exec: gRPC starts its threads anew in a forked child, which aborts when their files are closed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)
_SETPRIV: Final = shutil.which("setpriv")
#: Without this tool of util-linux only the `Guard` ends what outlives us.
_DIES_WITH_US: Final = (_SETPRIV, "--pdeathsig", "KILL", "--") if _SETPRIV else ()


@dataclass(frozen=True)
class Command:
    """What to run."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    log: Path  # standard output and standard error, appended
    folder: Path | None = None  # None: the folder we run in
    files: Sequence[int] = ()  # open files that it inherits


class Process:
    """One running command; all methods belong to the event loop's thread."""

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        """Use `start_process`."""
        self.pid = popen.pid
        self._popen = popen
        loop = asyncio.get_running_loop()
        self._done: asyncio.Future[int] = loop.create_future()
        self._pidfd = os.pidfd_open(popen.pid)
        loop.add_reader(self._pidfd, self._ended, loop)

    def _ended(self, loop: asyncio.AbstractEventLoop) -> None:
        code = self._popen.poll()
        if code is None:
            return
        loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        if not self._done.done():
            self._done.set_result(code)

    @property
    def exit_code(self) -> int | None:
        """As subprocess has it (negative: killed by that signal); None while it runs."""
        return self._done.result() if self._done.done() else None

    async def wait(self) -> int:
        """Return the exit code once the process has ended."""
        return await asyncio.shield(self._done)

    def signal(self, number: int) -> None:
        """Signal the process itself; nothing happens if it has ended."""
        if not self._done.done():
            self._popen.send_signal(number)

    def signal_group(self, number: int) -> None:
        """Signal all of its process group, also what is left of it after the process itself has ended."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def stop(self, grace_s: float) -> int:
        """SIGTERM, up to `grace_s` to end, then SIGKILL to the group. Returns the exit code."""
        self.signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.wait()
        self.signal_group(signal.SIGKILL)
        return await self.wait()


def start_process(command: Command) -> Process:
    """Start `command`; OSError when it cannot be executed. Needs a running event loop."""
    argv = [_executable(command), *command.argv[1:]]
    command.log.parent.mkdir(parents=True, exist_ok=True)
    with command.log.open("ab") as log:
        popen = subprocess.Popen(
            [*_DIES_WITH_US, *argv],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(command.environment),
            cwd=command.folder,
            start_new_session=True,
            pass_fds=command.files,
        )
    return Process(popen)


def _executable(command: Command) -> str:
    """Raises FileNotFoundError, as the exec that another program does for us would not."""
    name = command.argv[0]
    if os.sep in name and command.folder is not None:
        name = str(command.folder / name)
    found = shutil.which(name, path=command.environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command.argv[0])
    return str(Path(found).absolute())


def log_tail(log: Path, lines: int) -> str:
    """The last lines of a log file; says so when there is none."""
    if not log.exists():
        return f"(no log {log.name})"
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


@dataclass
class Guard:
    """A helper process that ends everything carrying `mark`, and removes `folders`, when we end in any way."""

    mark: str
    folders: Sequence[Path]
    _popen: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start to guard; call before the first marked process is started."""
        program = Path(__file__).with_name("guard.py")
        self._popen = subprocess.Popen(
            [sys.executable, "-I", str(program), self.mark, *map(str, self.folders)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )

    async def release(self, deadline_s: float) -> None:
        """Let it do its work now and wait for it; when it is late it goes on alone."""
        if self._popen is None:
            return
        popen, self._popen = self._popen, None
        assert popen.stdin is not None
        popen.stdin.close()
        try:
            await asyncio.to_thread(popen.wait, deadline_s)
        except subprocess.TimeoutExpired:
            log.warning("the guard of %s is still cleaning up", self.mark)
            popen.returncode = 0  # ours no more: no warning about a process that still runs
