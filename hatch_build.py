"""Build hook: the C helper of the transfer core, for every machine that there is a compiler for.

The wheel stays py3-none-any: the helper is loaded by ctypes where it fits, and where it is absent or
does not load the core copies with memmove (docs/decisions/0005).
"""

import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).parent / "operator/weightrollout/plugin/transfer/streaming.c"
#: Flags beyond those that all share. On arm: atomics without a call into libgcc.
MACHINES = {"x86_64": [], "aarch64": ["-mno-outline-atomics"]}
#: No C library is linked: memcpy is found in the process that loads the helper, glibc's or musl's.
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
FLAGS += ["-ffreestanding", "-nostdlib", "-Wl,--build-id=none", "-s"]


class StreamingHelper(BuildHookInterface):
    """Also runs for editable installs, where it leaves the libraries beside their source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for machine in MACHINES:
            library = build(machine, SOURCE.parent)
            if library is None:
                self.app.display_warning(
                    f"no C compiler for {machine}: the core copies slower there"
                )
            else:
                build_data["artifacts"].append(f"/{library.relative_to(self.root).as_posix()}")


def build(machine: str, folder: Path) -> Path | None:
    """The helper for `machine` in `folder`; None where no compiler for it is installed."""
    compiler = _compiler(machine)
    if compiler is None:
        return None
    library = folder / f"streaming-{machine}.so"
    # Another name first: a process may have the old one mapped.
    fresh = library.with_suffix(".new")
    command = [compiler, *FLAGS, *MACHINES[machine], "-o", str(fresh), str(SOURCE)]
    subprocess.run(command, check=True, timeout=60)
    fresh.replace(library)
    return library


def _compiler(machine: str) -> str | None:
    names = [f"{machine}-linux-gnu-gcc"]
    if machine == platform.machine() and sys.platform == "linux":
        names += ["cc", "gcc", "clang"]
    return next((found for name in names if (found := shutil.which(name))), None)
