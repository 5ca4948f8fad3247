"""Measure staging and write its section of docs/benchmarks.md."""

import os
import platform
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bench import staging
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


def main() -> None:
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        rounds = staging.measure(Path(folder) / "staging", ROUNDS)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}."
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
