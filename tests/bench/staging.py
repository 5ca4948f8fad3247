"""Staging the reference payload, beside reading and hashing the same bytes with coreutils."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import checkpoints
from reports import report_of
from weightrollout.weights.staging import Store

FILES: Final = 2
PAYLOAD_BYTES: Final = 1_503_264_768


@dataclass(frozen=True)
class Round:
    """Seconds of one round; all ways in turn, so that a noisy moment hits each of them."""

    read: float
    coreutils: float
    openssl: float | None  # None: not installed
    stage: float


def measure(work: Path, rounds: int) -> list[Round]:
    """`work`: a folder on the medium to be measured; what is written there is removed."""
    source = checkpoints.write_checkpoint(
        work / "source", seed=1, tensors=checkpoints.qwen3_06b_shapes(), files=FILES
    )
    openssl = shutil.which("openssl") is not None
    try:
        return [
            Round(
                read=_seconds(lambda: _each_file(source, "cat")),
                coreutils=_seconds(lambda: _each_file(source, "sha256sum")),
                openssl=_seconds(lambda: _each_file(source, "openssl", "sha256"))
                if openssl
                else None,
                stage=stage_once(source, work / "staging"),
            )
            for _ in range(rounds)
        ]
    finally:
        shutil.rmtree(work, ignore_errors=True)


def stage_once(source: Path, root: Path) -> float:
    """Seconds of staging into `root`, which is emptied first."""
    report = report_of(source)
    shutil.rmtree(root, ignore_errors=True)
    store = Store(root)
    return _seconds(
        lambda: store.stage(
            source.as_uri(),
            digest=None,
            reports=[report],
            progress=lambda _: None,
            cancelled=lambda: False,
        )
    )


def _each_file(folder: Path, *command: str) -> None:
    """One process per file, as many at a time as there are cores."""
    files = "\0".join(str(path) for path in sorted(folder.glob("*.safetensors")))
    subprocess.run(
        ["xargs", "-0", "-n1", f"-P{os.cpu_count()}", *command],
        input=files.encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
