"""Fetch `vllm-rs` once, and keep it outside the repository.

Out: the path of the binary that the pinned wheel of vLLM holds, in the cache under the hash of its
content. The wheel (336 MB) comes through pip and is not kept. Two processes that fetch at the same
time wait for each other.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Final

from once import locked, progress

VERSION: Final = "0.33.0"
MEMBER: Final = "vllm/vllm-rs"
#: sha256 of the file in the wheel, by machine.
SHA256: Final = {"x86_64": "ee53a9eec77b858799f7526ad0f284df808d9350b8b4d6f1754583f9f8782c62"}
FETCH_S: Final = 1800.0


class FetchFailed(Exception):
    """There is no binary; the message says why. The cache is as before."""


def cache_folder() -> Path:
    """Where everything that is fetched once is kept."""
    if own := os.environ.get("WEIGHTROLLOUT_CACHE"):
        return Path(own) / "vllm-rs"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "weightrollout" / "vllm-rs"


def frontend_binary() -> Path:
    """The binary, fetched now if the cache has none. Raises FetchFailed."""
    digest = _pinned()
    binary = cache_folder() / digest / "vllm-rs"
    if binary.exists():
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    with locked(binary.with_suffix(".lock"), _say, "fetching"):
        if not binary.exists():
            _fetch(binary, digest)
    return binary


def is_fetched() -> bool:
    """Whether `frontend_binary` would return at once."""
    digest = SHA256.get(platform.machine(), "")
    return (cache_folder() / digest / "vllm-rs").is_file()


def _pinned() -> str:
    machine = platform.machine()
    if sys.platform != "linux" or machine not in SHA256:
        raise FetchFailed(f"no vllm-rs is pinned for {sys.platform} on {machine}")
    return SHA256[machine]


def _fetch(binary: Path, digest: str) -> None:
    _say(f"fetching vllm-rs out of the wheel of vllm {VERSION} (336 MB, of which 61 MB are kept)")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir=binary.parent, prefix="wheel-") as folder:
        with progress(started, _say, "fetching"):
            wheel = _download(Path(folder))
        unfinished = Path(folder) / "vllm-rs"
        _take_out(wheel, unfinished)
        found = _sha256(unfinished)
        if found != digest:
            raise FetchFailed(f"{MEMBER} of {wheel.name} has sha256 {found}, pinned is {digest}")
        unfinished.chmod(0o755)
        unfinished.replace(binary)
    _say(f"fetched vllm-rs {VERSION} in {time.monotonic() - started:.0f} s")


def _download(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    # --no-cache-dir: the wheel is read once, and pip would keep a second copy of it.
    only = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--dest", str(folder)]
    command = [*pip, *only, f"vllm=={VERSION}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_S)
    except subprocess.TimeoutExpired as late:
        raise FetchFailed(f"pip download vllm=={VERSION}: not done in {FETCH_S:.0f} s") from late
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise FetchFailed(f"pip download vllm=={VERSION}: {said[-1]}")
    return wheels[0]


def _take_out(wheel: Path, to: Path) -> None:
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(MEMBER) as member,
            to.open("wb") as file,
        ):
            shutil.copyfileobj(member, file)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchFailed(f"{wheel.name} holds no {MEMBER}: {error}") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _say(text: str) -> None:
    print(f"frontend: {text}", file=sys.stderr, flush=True)
