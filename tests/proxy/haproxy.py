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

import debian
from gobinary import cache_root

EXAMPLE: Final = Path(__file__).resolve().parents[2] / "docs/examples/loopback-haproxy.yaml"
#: The program, and what it needs beside the libraries that every Debian has.
PACKAGES: Final = ("haproxy", "liblua5.3-0", "libopentracing-c-wrapper0", "libopentracing1")
STARTS_S: Final = 20.0


def fetch() -> Path:
    """The named one, that of this machine, or one from Debian's packages. Raises NotThere."""
    if named := os.environ.get("WEIGHTROLLOUT_HAPROXY"):
        return Path(named)
    if there := shutil.which("haproxy"):
        return Path(there)
    return debian.unpacked(*PACKAGES) / "usr/sbin/haproxy"


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
    """One that was unpacked brings its libraries."""
    if cache_root() not in program.parents:
        return dict(os.environ)
    found = [str(each) for each in program.parents[1].glob("lib/*-linux-gnu")]
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(found)}


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{fetch()}\n")
    except debian.NotThere as missing:
        sys.stderr.write(f"haproxy: {missing}\n")
        raise SystemExit(1) from missing
