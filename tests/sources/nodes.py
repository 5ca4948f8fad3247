"""Pods of one node that stage one checkpoint out of a bucket, with one volume, and what the bucket was asked for."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import checkpoints
from objectstore.files import google
from objectstore.front import Front, front
from reports import report_of
from sources.sharer import Order, started
from stagings import block_bytes, source_bytes
from weightrollout.weights import digest
from weightrollout.weights.staging import Store

MIB = 1 << 20
SHAPES = {f"layer.{number}.weight": ("BF16", (512, 1024)) for number in range(6)}
Processes = list["subprocess.Popen[str]"]


@dataclass
class Node:
    """Pods that stage one checkpoint out of a bucket, with one volume."""

    model: Path
    served: Front
    at: Path
    digest: str
    pods: int = 0
    processes: Processes = field(default_factory=list)

    @property
    def volume(self) -> Path:
        return self.at / "volume"

    def order(self, **other: object) -> Order:
        self.pods += 1
        order = Order(
            str(self.model),
            "gs://bucket/models/chat/",
            self.digest,
            str(self.at / f"pod-{self.pods}"),
            str(self.volume),
        )
        return replace(order, **other)  # type: ignore[arg-type]

    def start(self, order: Order, environment: Mapping[str, str] = {}) -> "subprocess.Popen[str]":
        self.processes.append(started(order, environment))
        return self.processes[-1]

    def read(self) -> int:
        """Bytes of tensors that the source has given; headers are asked for in smaller ranges."""
        ranges = [each.headers["range"] for each in self.served.asked(".safetensors")]
        sizes = [_size(each) for each in ranges]
        return sum(size for size in sizes if size >= MIB)

    @property
    def tensors(self) -> int:
        return sum(file.stat().st_size for file in self.model.glob("*.safetensors"))

    def entry(self) -> Path:
        return self.volume / "entries" / self.digest.removeprefix("sha256:")

    def shard(self) -> Path:
        return min(self.entry().glob("*.safetensors"))

    def has_the_weights(self, order: Order) -> bool:
        store, report = Store(Path(order.root)), report_of(self.model)
        region = store.region(self.digest, report.plan.plan_id())
        return all(
            block_bytes(region, report, block.parameter)
            == source_bytes(self.model, report, block.parameter)
            for block in report.plan.blocks
        )


def _size(header: str) -> int:
    begin, _, end = header.removeprefix("bytes=").partition("-")
    return int(end) - int(begin) + 1


@contextmanager
def node_with_a_bucket(folder: Path, setting: Callable[[str, str], None]) -> Iterator[Node]:
    """`setting` is given variables of the pods' environment. What still runs at the end is killed."""
    model = checkpoints.write_checkpoint(folder / "model", seed=1, tensors=SHAPES, files=2)
    account = folder / "account.json"
    with front(google(model, "bucket", "models/chat/")) as served:
        said = {"gcs_base_url": served.url, "disable_oauth": True}
        names = ("client_email", "private_key", "private_key_id")
        account.write_text(json.dumps({**said, **dict.fromkeys(names, "")}))
        setting("GOOGLE_SERVICE_ACCOUNT", str(account))
        setting("GOOGLE_ALLOW_HTTP", "true")
        found = Node(model, served, folder, digest.digest_of(model, threads=1))
        yield found
        for process in found.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
