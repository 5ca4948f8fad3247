"""Eight pods of a node stage the same weights from an S3 server, with and without a node volume: `make bench-node-volume`.

Each pod is a process with its own staging volume. The server is the real one of the tests; what stands before it counts what
it gives, and lets through as much as a node's network does.
"""

import json
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import checkpoints
from bench.page import FIGURES, PAGE, ROOT, with_section
from objectstore.front import Answer, Answerer, Request, forward, front
from objectstore.server import s3_server
from sources.sharer import Order, Outcome, outcome, started
from weightrollout.weights import digest

TITLE: Final = "Pods of a node"
PODS: Final = 8
ROUNDS: Final = int(os.environ.get("BENCH_ROUNDS", "3"))
#: Bytes per second that the node reads; None: as fast as the server gives.
PACES: Final = {"1 Gbit/s": 125_000_000, "loopback, no limit": None}
SHAPES: Final = {f"layer.{number}.weight": ("BF16", (4096, 2048)) for number in range(16)}
FILES: Final = 4

INTRO: Final = """{machine} {pods} pods stage {bytes:,} bytes in {files} files from an S3 server, all at once: each is a process with a
staging volume of its own, and all stand on these cores. The server's answers pass a counter, which also holds them to the pace of
a node's network. Sums over all pods; of {rounds} round(s), both ways in turn within each, the fastest. Raw figures:
[node-volume.json](benchmarks/node-volume.json); repeat with `make bench-node-volume`.

| source | node volume | read from the source | of the checkpoint | taken from the volume | until the last pod has it | first pod | on disk |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
OUTRO: Final = """
What is read beyond one checkpoint are headers, lists and the files without tensors, which every pod takes from the source. *On disk*
are the images of all pods, and with a volume one more copy of the files. Every pod hashes all bytes either way.
"""


class Gauge:
    """Counts bodies, and lets them go at a pace."""

    def __init__(self, answerer: Answerer, bytes_per_s: int | None) -> None:
        self._answerer = answerer
        self._bytes_per_s = bytes_per_s
        self._lock = threading.Lock()
        self._free_at = 0.0
        self.bytes = 0

    def __call__(self, request: Request) -> Answer:
        answer = self._answerer(request)
        with self._lock:
            self.bytes += len(answer.body)
            now = time.monotonic()
            if self._bytes_per_s is not None:
                self._free_at = max(self._free_at, now) + len(answer.body) / self._bytes_per_s
            wait_s = self._free_at - now
        time.sleep(max(0.0, wait_s))
        return answer


def main() -> None:
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        figures = measure(Path(folder))
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / "node-volume.json").write_text(json.dumps(figures, indent=1) + "\n")
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, rendered(figures)))
    print(rendered(figures))


def measure(work: Path) -> dict[str, Any]:
    model = checkpoints.write_checkpoint(work / "model", seed=1, tensors=SHAPES, files=FILES)
    wanted = digest.digest_of(model, threads=2)
    found: list[dict[str, Any]] = []
    load = os.getloadavg()[0]
    (work / "server").mkdir()
    with s3_server(work / "server") as server:
        bucket = server.bucket()
        server.upload(model, bucket, "chat")
        for number in range(ROUNDS):
            for pace, limit in PACES.items():
                for shared in (False, True):
                    gauge = Gauge(forward(server.address), limit)
                    with front(gauge) as served:
                        os.environ.update(server.environment(served.url))
                        outcomes, disk = stage_all(
                            work / "node", model, f"s3://{bucket}/chat/", wanted, shared=shared
                        )
                    found.append(
                        {"round": number, "pace": pace, "shared": shared, "disk": disk}
                        | _times(outcomes)
                        | {"source": gauge.bytes, "volume": sum(each.shared for each in outcomes)}
                    )
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()};"
        f" load {load:.2f} when it began.",
        "bytes": sum(file.stat().st_size for file in model.iterdir()),
        "runs": found,
    }


def stage_all(
    node: Path, model: Path, uri: str, wanted: str, *, shared: bool
) -> tuple[list[Outcome], int]:
    """All pods at once; what came of each, and the bytes that lie on disk then."""
    node.mkdir()
    gate = node / "gate"
    orders = [
        Order(
            str(model),
            uri,
            wanted,
            str(node / f"pod-{number}"),
            str(node / "volume") if shared else None,
            gate=str(gate),
        )
        for number in range(PODS)
    ]
    processes = [started(order) for order in orders]
    while not all(Path(f"{order.root}.ready").exists() for order in orders):
        time.sleep(0.02)
    gate.touch()
    outcomes = [outcome(process) for process in processes]
    for each in outcomes:
        assert (each.digest, each.notices) == (wanted, []), each
    disk = sum(each.stat().st_blocks * 512 for each in node.rglob("*"))
    shutil.rmtree(node)
    return outcomes, disk


def _times(outcomes: list[Outcome]) -> dict[str, float]:
    begun = min(each.begun for each in outcomes)
    ends = [each.ended - begun for each in outcomes]
    return {"first_s": min(ends), "last_s": max(ends)}


def rendered(figures: Mapping[str, Any]) -> str:
    text = INTRO.format(
        machine=figures["machine"],
        pods=PODS,
        bytes=figures["bytes"],
        files=FILES,
        rounds=ROUNDS,
    )
    for pace in PACES:
        for shared in (False, True):
            runs = [
                each for each in figures["runs"] if (each["pace"], each["shared"]) == (pace, shared)
            ]
            best = min(runs, key=lambda each: float(each["last_s"]))
            text += (
                f"| {pace} | {'yes' if shared else 'no'} | {best['source']:,} |"
                f" {best['source'] / figures['bytes']:.2f} times | {best['volume']:,} |"
                f" {best['last_s']:.1f} s | {best['first_s']:.1f} s | {best['disk'] / 1e9:.2f} GB |\n"
            )
    return text + OUTRO


if __name__ == "__main__":
    main()
