"""Disks that fail on demand: a preloaded library that refuses calls, and volumes that are small.

disk = FaultyDisk(folder); run a process with `disk.environment`; then at any time
disk.fail(Fault("pwrite", errno.ENOSPC, str(staging), skip=3)); disk.heal()
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tiers import unavailable

SOURCE: Final = Path(__file__).with_name("shim.c")
COMPILE_S: Final = 120.0
#: The errno of a flock that gives everybody the lock.
GRANTED: Final = -1
#: The calls that the library stands in for. `create` is an open for writing.
CALLS: Final = frozenset(
    {
        "open",
        "create",
        "list",
        "read",
        "write",
        "pwrite",
        "fsync",
        "fallocate",
        "flock",
        "rename",
        "mkdir",
        "unlink",
    }
)


@dataclass(frozen=True)
class Fault:
    """Of the calls on paths that begin with `prefix`, `skip` go through and `count` fail (0: all)."""

    call: str
    errno: int
    prefix: Path | str
    skip: int = 0
    count: int = 0
    delay_ms: int = 0  # before the call; errno 0: nothing but the delay

    def line(self) -> str:
        assert self.call in CALLS, self.call
        return f"{self.call} {self.errno} {self.skip} {self.count} {self.delay_ms} {self.prefix}\n"


class FaultyDisk:
    """One library and its rules; several processes may run under it, each counts for itself."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._rules = folder / "rules"
        self._library = _built(folder)
        self.heal()

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "WR_FAULTY_DISK": str(self._rules)}

    def fail(self, *faults: Fault) -> None:
        """These and no others, counted from now on."""
        whole = self._rules.with_suffix(".new")
        whole.write_text("".join(each.line() for each in faults))
        whole.replace(self._rules)  # a new inode: seen also within one tick of the clock

    def heal(self) -> None:
        self.fail()


class SmallVolume:
    """A tmpfs in a mount namespace of its own, reached through /proc; it ends with this process."""

    def __init__(self, shell: "subprocess.Popen[str]", mounted: Path) -> None:
        self._shell = shell
        self._mounted = mounted
        self.path = Path(f"/proc/{shell.pid}/root{mounted}")

    def resize(self, options: str) -> None:
        self._run(f"mount -o remount,{options} {self._mounted}")

    def _run(self, command: str) -> None:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{command} 2>&1; echo ended $?\n")
        self._shell.stdin.flush()
        said = ""
        while not said.startswith("ended"):
            said = self._shell.stdout.readline()
            assert said, f"{command}: the shell is gone"
        assert said.split() == ["ended", "0"], f"{command}: {said}"


@contextmanager
def small_volume(folder: Path, options: str) -> Iterator[SmallVolume]:
    """`options` as for mount: "size=64k", "nr_inodes=8"."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        unavailable("a small volume needs root and unshare")
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.stdin is not None
        try:
            volume = SmallVolume(shell, folder.resolve())
            try:
                volume._run(f"mount -t tmpfs -o {options} tmpfs {volume._mounted}")
            except (AssertionError, BrokenPipeError) as refused:
                unavailable(f"a small volume could not be mounted: {refused}")
            yield volume
        finally:
            shell.stdin.close()  # the shell ends, and with it the namespace and the mount


def _built(folder: Path) -> Path:
    library = folder / "faultydisk.so"
    if library.exists():
        return library
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        unavailable("a faulty disk needs a C compiler (gcc)")
    subprocess.run(
        [
            str(compiler),
            "-O1",
            "-shared",
            "-fPIC",
            "-o",
            str(library),
            str(SOURCE),
            "-ldl",
            "-lpthread",
        ],
        check=True,
        timeout=COMPILE_S,
    )
    return library
