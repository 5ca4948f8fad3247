"""One S3 server for a test session, with a bucket of its own for each test."""

from __future__ import annotations

import secrets
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from obstore.store import S3Store

from gobinary import BuildFailed
from objectstore.build import server_binary
from ports import ports_for_good
from tiers import unavailable

STARTS_WITHIN_S: Final = 30.0


@dataclass(frozen=True)
class S3Server:
    root: Path
    address: str  # host:port
    user: str
    password: str

    def bucket(self, name: str = "") -> str:
        """A new one."""
        name = name or f"bucket-{secrets.token_hex(4)}"
        (self.root / name).mkdir()
        return name

    def upload(self, folder: Path, bucket: str, prefix: str) -> None:
        """All files of a folder, over S3 as everybody does."""
        import obstore

        store = S3Store(
            bucket,
            endpoint=f"http://{self.address}",
            access_key_id=self.user,
            secret_access_key=self.password,
            client_options={"allow_http": True},
        )
        for file in sorted(folder.iterdir()):
            obstore.put(store, f"{prefix}/{file.name}", file)

    def environment(self, url: str | None = None) -> Mapping[str, str]:
        """What a pod that may read gets. `url`: of what stands before the server."""
        return {
            "AWS_ENDPOINT_URL": url or f"http://{self.address}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": self.user,
            "AWS_SECRET_ACCESS_KEY": self.password,
            "AWS_REGION": "us-east-1",
        }


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """Skips the test, or fails it, where it cannot be built here."""
    try:
        server_binary()
    except (BuildFailed, OSError) as why:
        unavailable(f"there is no S3 server: {why}")
    with started(folder) as found:
        yield found


@contextmanager
def started(folder: Path) -> Iterator[S3Server]:
    """For everybody. Raises BuildFailed."""
    binary = server_binary()
    root, sidecar = folder / "buckets", folder / "sidecar"
    root.mkdir()
    sidecar.mkdir()
    found = S3Server(
        root, f"127.0.0.1:{ports_for_good(1)[0]}", "AKIDFORTESTS", f"secret-{secrets.token_hex(16)}"
    )
    argv = [str(binary), "--port", found.address, "posix", "--sidecar", str(sidecar), str(root)]
    environment = {"ROOT_ACCESS_KEY": found.user, "ROOT_SECRET_KEY": found.password}
    with running(argv, environment, found.address, folder):
        yield found


@contextmanager
def running(
    argv: Sequence[str], environment: Mapping[str, str], address: str, folder: Path
) -> Iterator[None]:
    """A server that answers at host:port; it works in `folder`, and logs to the file log there."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            argv, env=dict(environment), cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait(address, process, folder / "log")
        yield
    finally:
        process.terminate()
        process.wait()


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(f"http://{address}/", timeout=1)
        except urllib.error.HTTPError:
            return  # it refuses us, so it is there
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the server did not answer: {log.read_text()}")
