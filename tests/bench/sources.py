"""Measure staging from S3 and HTTPS beside curl; write its section of docs/benchmarks.md. WEIGHTROLLOUT_BENCH_GB=5: one large object instead."""

import os
import platform
import shutil
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

import checkpoints
from bench.page import PAGE, ROOT, with_section
from bench.remote import Bench, Took, anonymous, bench

ROUNDS: Final = 5
TITLE: Final = "Staging from S3 and HTTPS"
INTRO: Final = """{machine} Medians of {rounds} rounds, all ways in turn within each; load average {load}.

The reference payload ({bytes:,} bytes in 2 files) from a real S3 server (versitygw) on the same machine, over HTTP, and over HTTPS from the same
server. Server and reader share the cores, so their CPU time decides: *CPU* is what both took together. Staging ends with the bytes hashed, checked and synced;
beside it, curl into files on the same disk and a hash of them, one process for each file, without and with a sync of what was written. The
ratio is of rates within a round. To reach: 0.9 of curl and `sha256sum`. openssl's hash uses the processor's instructions for SHA-256, as staging does,
coreutils' does not; curl asks for whole files, which this server sends without a copy, as it does not send ranges: *in ranges* are those of 8 MiB that
staging asks for, one after the other. Staging also computes a CRC-32 of each block and looks for NaN. Repeat with `make bench-sources`.

| | | median | MB/s | CPU | staging's rate, of its |
| --- | --- | --- | --- | --- | --- |
"""
WAYS: Final = {
    "curl, `openssl sha256`, synced": "{curl} -o {out}; openssl sha256 {out}; sync {out}",
    "curl in ranges, `openssl sha256`, synced": "{ranges} > {out}; openssl sha256 {out}; sync {out}",
    "curl, `openssl sha256`": "{curl} -o {out}; openssl sha256 {out}",
    "curl, `sha256sum` (coreutils), synced": "{curl} -o {out}; sha256sum {out}; sync {out}",
    "curl to `/dev/null`": "{curl} -o /dev/null",
}
#: What asks for ranges, too; where it is installed.
AWS: Final = {
    "`aws s3 cp`, `openssl sha256`, synced": "aws s3 cp --only-show-errors {uri} {out}; openssl sha256 {out}; sync {out}"
}


def main() -> None:
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        if size := os.environ.get("WEIGHTROLLOUT_BENCH_GB"):
            stage_large(Path(folder), int(size) * 10**9)
        else:
            compare(Path(folder))


def compare(work: Path) -> None:
    rounds: list[dict[tuple[str, str], Took]] = []
    with bench(work, checkpoints.qwen3_06b_shapes(), files=2) as ground:
        load = []
        for _ in range(ROUNDS):
            load.append(os.getloadavg()[0])
            rounds.append(_round(ground))
    text = INTRO.format(
        machine=f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.",
        rounds=ROUNDS,
        load=f"{min(load):.1f} to {max(load):.1f}",
        bytes=ground.bytes,
    )
    for kind, way in rounds[0]:  # in the order in which they ran
        took = [each[kind, way] for each in rounds]
        seconds = statistics.median(each.seconds for each in took)
        cpu = statistics.median(each.cpu_s for each in took)
        ratio = statistics.median(
            each[kind, way].seconds / each[kind, "staging"].seconds for each in rounds
        )
        text += f"| {kind} | {way} | {seconds:.2f} s | {ground.bytes / seconds / 1e6:.0f} | {cpu:.1f} s | {ratio:.2f} |\n"
    most = max(each[kind, "staging"].bytes for each in rounds for kind in ground.places)
    text += f"\nThe most memory that a staging took, beyond what its process held before: {most >> 20} MiB.\n"
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, text))
    print(text)


def _round(ground: Bench) -> dict[tuple[str, str], Took]:
    found = {}
    for kind in ground.places:
        found[kind, "staging"] = ground.stage(kind)
        for way, script in {
            **WAYS,
            **(AWS if kind == "s3" and shutil.which("aws") else {}),
        }.items():
            found[kind, way] = ground.run(kind, script)
    return found


def stage_large(work: Path, size: int) -> None:
    """One object of `size` bytes from S3; prints the memory of this process along the way."""
    rows = size // (64 * 2 * 4096)
    shapes = {f"layers.{number}.weight": ("BF16", (rows, 4096)) for number in range(64)}
    with bench(work, shapes, files=1) as ground:
        before, begun, done = anonymous(), time.perf_counter(), threading.Event()
        curve: list[str] = []

        def look() -> None:
            while not done.wait(2.0):
                curve.append(f"{time.perf_counter() - begun:.0f} s {(anonymous() - before) >> 20}")

        watcher = threading.Thread(target=look)
        watcher.start()
        took = ground.stage("s3")
        done.set()
        watcher.join()
    print(
        f"{ground.bytes:,} bytes in one object: {took.seconds:.1f} s, most {took.bytes >> 20} MiB"
    )
    print("MiB beyond the start:", ", ".join(curve))
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
