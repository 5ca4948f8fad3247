"""HAProxy as a process: found on this machine, or unpacked once from Debian's packages into the cache.

python -m proxy.haproxy      # fetch it where it is not there; prints its path
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from gobinary import cache_root
from once import locked

EXAMPLE: Final = Path(__file__).resolve().parents[2] / "docs/examples/loopback-haproxy.yaml"
#: The program, and what it needs beside the libraries that every Debian has.
PACKAGES: Final = ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1")
STARTS_S: Final = 20.0


class Missing(Exception):
    """The message says why."""


def find() -> Path | None:
    """The named one, that of this machine, or the cached one."""
    if named := os.environ.get("WEIGHTROLLOUT_HAPROXY"):
        return Path(named)
    if there := shutil.which("haproxy"):
        return Path(there)
    cached = _folder() / "usr/sbin/haproxy"
    return cached if cached.exists() else None


def fetch() -> Path:
    """Raises Missing."""
    if (there := find()) is not None:
        return there
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise Missing(
            "no haproxy here, and no apt-get to fetch it: name one in WEIGHTROLLOUT_HAPROXY"
        )
    root = _folder()
    root.parent.mkdir(parents=True, exist_ok=True)
    with locked(root.with_suffix(".lock"), _say, "fetching haproxy"):
        if not root.exists():
            _unpack(root)
    return root / "usr/sbin/haproxy"


def _unpack(root: Path) -> None:
    parts = root.with_suffix(".parts")
    shutil.rmtree(parts, ignore_errors=True)
    (parts / "root").mkdir(parents=True)
    try:
        subprocess.run(
            ["apt-get", "download", *PACKAGES], cwd=parts, check=True, capture_output=True
        )
        for package in parts.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, parts / "root"], check=True, capture_output=True)
    except subprocess.CalledProcessError as failed:
        raise Missing(f"haproxy could not be fetched: {failed.stderr.decode()[-300:]}") from failed
    (parts / "root").rename(root)
    shutil.rmtree(parts)


def example() -> str:
    """The configuration as people get it."""
    [config] = (
        each for each in yaml.safe_load_all(EXAMPLE.read_text()) if each["kind"] == "ConfigMap"
    )
    text: str = config["data"]["haproxy.cfg"]
    return text


def configured(listen: str, engine: str) -> str:
    """The example, with its two addresses replaced and nothing else."""
    text, places = re.subn(r"^(\s*bind) :8080$", rf"\1 {listen}", example(), flags=re.MULTILINE)
    text, servers = re.subn(r"^(\s*server engine) \S+$", rf"\1 {engine}", text, flags=re.MULTILINE)
    assert (places, servers) == (1, 1), "the example has changed"
    return text


@contextmanager
def running(
    program: Path, folder: Path, listen: str, engine: str
) -> Iterator["subprocess.Popen[Any]"]:
    """Listens at HOST:PORT when it returns."""
    config = folder / "haproxy.cfg"
    config.write_text(configured(listen, engine))
    log = folder / "haproxy.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "-db", "-f", config], stdout=out, stderr=out, env=_environment(program)
        )
    try:
        _until_listening(process, listen, log)
        yield process
    finally:
        process.kill()
        process.wait()


def check(program: Path, folder: Path) -> str:
    """What it says of the example as it is; "" where all is well."""
    config = folder / "as-it-is.cfg"
    config.write_text(example())
    command = [str(program), "-c", "-q", "-f", str(config)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=_environment(program), check=False
    )
    return "" if done.returncode == 0 and not done.stderr else done.stderr + str(done.returncode)


def _until_listening(process: "subprocess.Popen[Any]", listen: str, log: Path) -> None:
    host, _, port = listen.rpartition(":")
    ends = time.monotonic() + STARTS_S
    while time.monotonic() < ends and process.poll() is None:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError(f"haproxy does not listen at {listen}: {log.read_text()}")


def _environment(program: Path) -> dict[str, str]:
    libraries = program.parents[1] / "lib"
    found = (
        [str(each) for each in libraries.glob("*-linux-gnu")]
        if _folder() in program.parents
        else []
    )
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(found)} if found else dict(os.environ)


def _folder() -> Path:
    return cache_root() / "haproxy" / "bookworm"


def _say(text: str) -> None:
    sys.stderr.write(f"haproxy: {text}\n")


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{fetch()}\n")
    except Missing as missing:
        _say(str(missing))
        raise SystemExit(1) from missing
