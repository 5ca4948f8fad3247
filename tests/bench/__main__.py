"""Measure staging, and what passes from apply to the first pause; write their sections of docs/benchmarks.md."""

import asyncio
import os
import platform
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import applying, staging
from bench.page import PAGE, ROOT, with_section
from bench.staging import Round

ROUNDS: Final = 5

TITLE: Final = "Staging"
INTRO: Final = """{machine} Medians of {rounds} rounds, all ways in turn within each.

The reference payload ({bytes:,} bytes in {files} files) from the page cache into an image on the same disk,
synced: manifest, checks against the engine report, SHA-256 of every file, CRC-32 of every block, scan for NaN
and Inf, one copy. Beside it, the same files with one process per file on all cores.

| | median | GB/s | staging takes, of its time |
| --- | --- | --- | --- |
"""

APPLY_TITLE: Final = "From apply to the first pause"
APPLY_ROUNDS: Final = 10
APPLY: Final = """{machine} A real API server, operator and agents; {pods} simulated engines, looked at every {poll:.0f} ms.

The digest is given, `takeOut` is None, and both versions were staged before. From the moment when the object is sent to the API
server to the first engine that says it is paused: median {middle:.3f} s of {rounds} rounds, longest {most:.3f} s. To reach: 0.5 s.
"""


def main() -> None:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}."
    measure_staging(machine)
    measure_apply(machine)


def measure_apply(machine: str) -> None:
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        seconds = asyncio.run(applying.measure(Path(folder), APPLY_ROUNDS))
    text = APPLY.format(
        machine=machine,
        pods=applying.PODS,
        poll=1000 * applying.POLL_S,
        rounds=APPLY_ROUNDS,
        middle=statistics.median(seconds),
        most=max(seconds),
    )
    PAGE.write_text(with_section(PAGE.read_text(), APPLY_TITLE, text))
    print(text)


def measure_staging(machine: str) -> None:
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        rounds = staging.measure(Path(folder) / "staging", ROUNDS)
    text = INTRO.format(
        rounds=ROUNDS, machine=machine, bytes=staging.PAYLOAD_BYTES, files=staging.FILES
    )
    text += _row("staging", rounds, lambda each: each.stage)
    text += _row("`cat`", rounds, lambda each: each.read)
    text += _row("`sha256sum` (coreutils)", rounds, lambda each: each.coreutils)
    if rounds[0].openssl is not None:
        text += _row("`openssl sha256`", rounds, lambda each: each.openssl or 0.0)
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, text))
    print(text)


def _row(name: str, rounds: list[Round], seconds: Callable[[Round], float]) -> str:
    middle = statistics.median(seconds(each) for each in rounds)
    ratio = statistics.median(each.stage / seconds(each) for each in rounds)
    rate = staging.PAYLOAD_BYTES / middle / 1e9
    return f"| {name} | {middle:.2f} s | {rate:.2f} | {ratio:.2f} |\n"


if __name__ == "__main__":
    (ROOT / "build").mkdir(exist_ok=True)
    main()
