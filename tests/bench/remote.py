"""Staging from S3 and from HTTPS, beside curl and a hash of what it wrote, on the same server.

The server is the real one of the tests (versitygw), once without TLS for `s3://` and once with it for
`https://`, where its bucket may be read by everybody. All ways take their turn in each round, so that a
noisy moment hits each of them, and every one begins with an empty folder on the same disk.
"""

import hashlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import checkpoints
from localcluster.certificates import Authority
from objectstore.build import server_binary
from objectstore.files import sha256sum
from objectstore.server import S3Server, s3_server
from objectstore.tls import server_side, trusted
from ports import ports_for_good
from reports import report_of
from weightrollout.handover.records import EngineReport
from weightrollout.weights.sources.ranged import RANGE_BYTES
from weightrollout.weights.staging import Store

PREFIX: Final = "models/chat"
_POLICY: Final = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": "arn:aws:s3:::{bucket}/*",
        }
    ],
}


@dataclass(frozen=True)
class Place:
    """One checkpoint behind a server."""

    uri: str
    names: tuple[str, ...]  # of its large files
    url: str  # of the folder, for curl
    curl: tuple[str, ...]  # what curl needs beside it

    def ranges(self, name: str, size: int) -> str:
        """Options for curl, by which it asks for a file as staging does: in ranges, over one connection."""
        each = f'url = "{self.url}/{name}"\nno-progress-meter\nshow-error\nfail\n'
        if self.curl:
            each += f'cacert = "{self.curl[1]}"\n'
        begins = range(0, size, RANGE_BYTES)
        return "next\n".join(
            f"{each}range = {begin}-{min(begin + RANGE_BYTES, size) - 1}\n" for begin in begins
        )


@dataclass(frozen=True)
class Took:
    """Seconds, and the most memory beyond what the process held before; 0 where another one did it."""

    seconds: float
    cpu_s: float  # of the servers and of all that read
    bytes: int


@dataclass(frozen=True)
class Bench:
    report: EngineReport
    bytes: int  # of the tensor files
    servers: tuple[int, ...]  # their process ids
    places: dict[str, Place]
    work: Path  # removed by the caller

    def stage(self, kind: str) -> Took:
        root = self._empty()
        store = Store(root)
        with most_memory() as most:
            began, cpu_s = time.perf_counter(), self._cpu_s()
            store.stage(
                self.places[kind].uri,
                digest=None,
                reports=[self.report],
                progress=lambda _: None,
                cancelled=lambda: False,
            )
            seconds = time.perf_counter() - began
        return Took(seconds, self._cpu_s() - cpu_s, most())

    def run(self, kind: str, then: str) -> Took:
        """A script, with {curl}, {ranges} (to its output), {uri} and {out} of one file.

        Each file by a process of its own, as many at once as there are cores.
        """
        root, place = self._empty(), self.places[kind]
        words = " ".join((*place.curl, "-sS", "--fail"))
        script = then.format(
            curl=f"curl {words} {place.url}/$1",
            ranges=f"curl -K {self.work}/{kind}-$1.ranges",
            uri=f"{place.uri}$1",
            out=f"{root}/$1",
        )
        began, cpu_s = time.perf_counter(), self._cpu_s()
        subprocess.run(
            ["xargs", "-n1", f"-P{os.cpu_count()}", "bash", "-o", "pipefail", "-ec", script, "-"],
            input="\n".join(place.names).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return Took(time.perf_counter() - began, self._cpu_s() - cpu_s, 0)

    def _cpu_s(self) -> float:
        """Of this process, of its children that have ended, and of the servers."""
        ticks = os.sysconf("SC_CLK_TCK")
        served = 0
        for pid in self.servers:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            served += int(fields[11]) + int(fields[12])
        return sum(os.times()[:4]) + served / ticks

    def _empty(self) -> Path:
        root = self.work / "written"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        os.sync()  # what the way before has left unwritten is not this one's
        return root


@contextmanager
def bench(work: Path, tensors: checkpoints.Shapes, files: int) -> Iterator[Bench]:
    """Puts a checkpoint behind both servers; what lies in `work` is the caller's to remove."""
    source = checkpoints.write_checkpoint(work / "source", seed=1, tensors=tensors, files=files)
    sha256sum(source)
    report = report_of(source)
    sizes = {each.name: each.stat().st_size for each in sorted(source.glob("*.safetensors"))}
    names = tuple(sizes)
    authority = Authority()
    (work / "tls").mkdir()
    server_side(authority, work / "tls")
    (work / "s3").mkdir()
    with s3_server(work / "s3") as server, _with_tls(server, work) as (address, pid):
        bucket = server.bucket()
        server.upload(source, bucket, PREFIX)
        shutil.rmtree(source)
        _open(server, bucket)
        authorities = trusted(authority, work)
        os.environ.update(server.environment(), SSL_CERT_FILE=str(authorities))
        http, https = f"http://{server.address}/{bucket}", f"https://{address}/{bucket}"
        places = {
            "s3": Place(f"s3://{bucket}/{PREFIX}/", names, f"{http}/{PREFIX}", ()),
            "https": Place(
                *(f"{https}/{PREFIX}/", names, f"{https}/{PREFIX}"),
                ("--cacert", str(authorities)),
            ),
        }
        for kind, place in places.items():
            for name, size in sizes.items():
                (work / f"{kind}-{name}.ranges").write_text(place.ranges(name, size))
        pids = (_pid_of(server.address), pid)
        yield Bench(report, sum(sizes.values()), pids, places, work)


def _open(server: S3Server, bucket: str) -> None:
    """For everybody, so that curl needs no signature."""
    policy = json.dumps(_POLICY).replace("{bucket}", bucket)
    subprocess.run(
        [
            *("curl", "-sS", "--fail", "-X", "PUT", "-d", policy),
            *("--aws-sigv4", "aws:amz:us-east-1:s3", "-u", f"{server.user}:{server.password}"),
            *("-H", f"x-amz-content-sha256: {hashlib.sha256(policy.encode()).hexdigest()}"),
            f"http://{server.address}/{bucket}?policy=",
        ],
        check=True,
    )


@contextmanager
def _with_tls(server: S3Server, work: Path) -> Iterator[tuple[str, int]]:
    """The same buckets; host and port, process id."""
    address = f"localhost:{ports_for_good(1)[0]}"
    tls = work / "tls"
    process = subprocess.Popen(
        [
            *(str(server_binary()), "--quiet", "--port", address),
            *("--cert", str(tls / "server.crt"), "--key", str(tls / "server.key")),
            *("posix", "--sidecar", str(work / "s3" / "sidecar"), str(server.root)),
        ],
        env={"ROOT_ACCESS_KEY": server.user, "ROOT_SECRET_KEY": server.password},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _pid_of(address: str) -> int:
    """Of the server that was started for this address."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended meanwhile
        if address.encode() in words:
            return int(process.name)
    raise LookupError(address)


@contextmanager
def most_memory() -> Iterator[Callable[[], int]]:
    """The most that this process held above what it held at the beginning, looked at every 20 ms.

    Only memory of its own: pages of a mapped file belong to the file.
    """
    found, done = [0], threading.Event()
    before = anonymous()

    def look() -> None:
        while not done.wait(0.02):
            found[0] = max(found[0], anonymous() - before)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield lambda: found[0]
    finally:
        done.set()
        thread.join()


def anonymous(pid: int | str = "self") -> int:
    """Bytes of memory that belong to no file."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(each for each in lines if each.startswith("RssAnon")).split()[1]) << 10
