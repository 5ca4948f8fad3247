"""Process 1 of the node's namespaces: python -m localnode.world STATE COMMAND... makes mounts and network, runs COMMAND, reaps.

When COMMAND ends, this ends, and the kernel ends the rest. All that is made here is seen in here only. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from localnode.addresses import NODE_ADDRESS

#: What the kubelet wants to be so, for the whole machine; here it writes into files of its own.
KERNEL_SETTINGS: Final = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
CGROUPS: Final = Path("/sys/fs/cgroup")


def main(state: str, *command: str) -> int:
    folder = Path(state)
    _mount_private_folders(folder)
    _mount_sys()
    _shield_kernel_settings(folder / "settings")
    _run("ip", "link", "set", "lo", "up")
    # Pods reach the node there. A loopback address would be refused by kubelet and API server; no other device is needed.
    _run("ip", "address", "add", f"{NODE_ADDRESS}/32", "dev", "lo")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    child = subprocess.Popen(command, close_fds=False)
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            return os.waitstatus_to_exitcode(status)


def _mount_private_folders(folder: Path) -> None:
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    upper, work = folder / "var", folder / "var-work"
    for each in (upper, work):
        each.mkdir()
    # containerd, CNI and the kubelet have fixed places below /var; what they write there goes to our folder.
    options = f"lowerdir=/var,upperdir={upper},workdir={work}"
    _run("mount", "-t", "overlay", "overlay", "-o", options, "/var")


def _mount_sys() -> None:
    """A view of our network, and cgroups whose roots are ours."""
    mounted = [
        (right.split()[0], Path(left.split()[4]), right.split()[2])
        for left, _, right in (
            line.partition(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()
        )
        if right.startswith("cgroup")
    ]
    if not mounted:
        raise SystemExit("no cgroups are mounted here")
    _run("mount", "-t", "sysfs", "sysfs", "/sys")
    if mounted[0][1] == CGROUPS:
        _run("mount", "-t", "cgroup2", "cgroup2", str(CGROUPS))
        _delegate_controllers()
        return
    _run("mount", "-t", "tmpfs", "tmpfs", str(CGROUPS))
    for kind, place, options in mounted:
        place.mkdir(exist_ok=True)
        if kind == "cgroup":
            kept = [each for each in options.split(",") if each not in ("rw", "ro", "xattr")]
            named = ["none", *kept] if kept[0].startswith("name=") else kept
            _run("mount", "-t", "cgroup", "cgroup", "-o", ",".join(named), str(place))
            for single in kept if len(kept) > 1 else ():
                (CGROUPS / single).symlink_to(place.name)


def _delegate_controllers() -> None:
    """Version 2: a cgroup that shares out its controllers may hold no process itself."""
    leaf = CGROUPS / "init"
    leaf.mkdir()
    for pid in (CGROUPS / "cgroup.procs").read_text().split():
        (leaf / "cgroup.procs").write_text(pid)
    wanted = (CGROUPS / "cgroup.controllers").read_text().split()
    (CGROUPS / "cgroup.subtree_control").write_text(" ".join(f"+{each}" for each in wanted))


def _shield_kernel_settings(folder: Path) -> None:
    for name in KERNEL_SETTINGS:
        real = Path("/proc/sys", name)
        ours = folder / name
        ours.parent.mkdir(parents=True, exist_ok=True)
        ours.write_text(real.read_text())
        _run("mount", "--bind", str(ours), str(real))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
