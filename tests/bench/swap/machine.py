"""Facts of this machine that figures depend on; nothing that names it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from realvllm import venv

_VERSIONS = """
import importlib.metadata, json
print(json.dumps({name: importlib.metadata.version(name) for name in ("torch", "vllm")}))
"""


def facts() -> dict[str, Any]:
    """Needs the environment with vLLM."""
    done = subprocess.run(
        [str(venv.python()), "-c", _VERSIONS], capture_output=True, text=True, check=True
    )
    return {**host(), **json.loads(done.stdout)}


def host() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "cpu": _cpu(),
        "memory_gib": round(memory / 2**30, 1),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
    }


def load() -> float:
    """Processes that wanted to run in the last minute."""
    return round(os.getloadavg()[0], 2)


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.machine()
