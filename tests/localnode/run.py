"""What runs in the node's namespaces: control plane, containerd, kubelet, kube-proxy, and a door for clients outside.

python -m localnode.run STATE LOGS PORT FILE: FILE is a socket that listens on PORT of the *outer* loopback; what connects there
is led to the API server, which listens on the same port in here. Ends when one of its parts ends.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from localcluster.cluster import LocalCluster
from localcluster.control_plane import ControlPlane
from localcluster.processes import Command, Process, start_process
from localcluster.waiting import eventually
from localnode.addresses import NODE_ADDRESS, NODE_NAME
from localnode.build import node_binary
from localnode.packages import PATH, plugin_folder
from localnode.settings import UP, Settings

READY_S: Final = 240.0
CONTAINERD_S: Final = 60.0
LOOK_S: Final = 0.5
BLOCK: Final = 64 * 1024


async def run(state: Path, logs: Path, port: int, door: socket.socket) -> None:
    """Raises when a part fails; returns never."""
    plugins = plugin_folder()
    assert plugins is not None, "the host side has looked for it"
    settings = Settings(state, logs, plugins)
    folder = state / "control-plane"
    folder.mkdir()
    (folder / "log").symlink_to(logs)
    parts = Parts(state, logs)
    parts.start("containerd", f"--config={state / 'containerd.toml'}", before=settings.write)
    async with LocalCluster(folder, ControlPlane(NODE_ADDRESS, port, READY_S)) as cluster:
        kubelet = cluster.authority.issue(f"system:node:{NODE_NAME}", "system:nodes")
        cluster.write_access(settings.kubelet_access, kubelet)
        proxy = cluster.authority.issue("system:kube-proxy")
        cluster.write_access(settings.proxy_access, proxy)
        (state / UP).touch()
        server = await asyncio.start_server(lambda r, w: _lead(r, w, port), sock=door)
        await eventually(settings.socket.exists, CONTAINERD_S, "containerd listens")
        parts.start(
            "kubelet",
            f"--config={state / 'kubelet.yaml'}",
            f"--kubeconfig={settings.kubelet_access}",
            f"--hostname-override={NODE_NAME}",
            f"--node-ip={NODE_ADDRESS}",
            f"--root-dir={state / 'kubelet'}",
            f"--cert-dir={state / 'kubelet-certificates'}",
        )
        parts.start("kube-proxy", f"--config={state / 'kube-proxy.yaml'}")
        async with server:
            while True:
                cluster.assert_alive()
                parts.assert_alive()
                await asyncio.sleep(LOOK_S)


class Parts:
    """The programs of the node, by their names."""

    def __init__(self, state: Path, logs: Path) -> None:
        self._state, self._logs = state, logs
        self._running: dict[str, Process] = {}

    def start(self, name: str, *flags: str, before: object = None) -> None:
        """Its log is named after it."""
        if callable(before):
            before()
        own = [name] if name == "containerd" else [str(node_binary()), name]
        environment = {"PATH": PATH, "HOME": str(self._state), "TMPDIR": str(self._state)}
        log = self._logs / f"{name}.log"
        self._running[name] = start_process(Command([*own, *flags], environment, log, self._state))

    def assert_alive(self) -> None:
        """RuntimeError when one has ended."""
        for name, part in self._running.items():
            if part.exit_code is not None:
                raise RuntimeError(f"{name} has ended with {part.exit_code}")


async def _lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    """One connection from outside, both ways until one side ends."""
    with suppress(OSError):
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
        finally:
            inner_writer.close()
    writer.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await source.read(BLOCK):
            target.write(block)
            await target.drain()
        target.write_eof()


if __name__ == "__main__":
    state, logs, port, file = sys.argv[1:]
    os.set_inheritable(int(file), False)
    asyncio.run(run(Path(state), Path(logs), int(port), socket.socket(fileno=int(file))))
