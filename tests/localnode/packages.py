"""What the node takes from the machine: root, Linux, and programs of Debian packages, installed where they are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

INSTALL_S: Final = 600.0
#: Where Debian and most others put CNI plugins.
PLUGIN_FOLDERS: Final = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
PLUGINS: Final = ("bridge", "host-local", "loopback", "portmap")
#: A program and the Debian package that has it.
PROGRAMS: Final = {
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
    "conntrack": "conntrack",
    "iptables": "iptables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
}
PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Missing(Exception):
    """This machine cannot run a node; the message says why."""


def plugin_folder() -> Path | None:
    """The folder with all the CNI plugins that we use."""
    for folder in PLUGIN_FOLDERS:
        if all((folder / plugin).exists() for plugin in PLUGINS):
            return folder
    return None


def missing_packages() -> list[str]:
    """Debian packages of what is not there."""
    absent = {package for name, package in PROGRAMS.items() if not shutil.which(name, path=PATH)}
    if plugin_folder() is None:
        absent.add("containernetworking-plugins")
    return sorted(absent)


def why_not() -> str | None:
    """Why no node can run here, as far as it can be told without doing anything; None: one can."""
    if sys.platform != "linux":
        return f"a node needs Linux, this is {sys.platform}"
    if os.geteuid() != 0:
        return "a node needs root: it makes namespaces and mounts"
    absent = missing_packages()
    if absent and not shutil.which("apt-get"):
        return f"a node needs {', '.join(absent)}, and there is no apt-get to install them"
    return None


def ensure() -> None:
    """Install what is missing, with a line that says so. Raises Missing."""
    if reason := why_not():
        raise Missing(reason)
    absent = missing_packages()
    if not absent:
        return
    print(f"localnode: installing {' '.join(absent)} with apt-get", file=sys.stderr, flush=True)
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *absent]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["apt-get", "update"], install):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=environment,
            timeout=INSTALL_S,
            check=False,
        )
    if done.returncode != 0:
        raise Missing(f"{' '.join(install)} failed: {done.stderr[-2000:]}")
    if absent := missing_packages():
        raise Missing(f"still missing after apt-get: {', '.join(absent)}")
