"""A node with its control plane, from outside: start it, bring images, end it so that nothing is left."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gobinary import cache_root
from localcluster.api import ApiError, Unreachable
from localcluster.build import control_plane_binary
from localcluster.processes import Command, Process, log_tail, start_process
from localcluster.waiting import NeverCame, eventually
from localnode import leftovers, packages
from localnode.addresses import NODE_NAME
from localnode.build import node_binary, program
from localnode.ground import Ground
from localnode.oci import Image, write_archive
from localnode.settings import CONTAINERD_NAMESPACE, PAUSE_IMAGE, UP
from once import locked

READY_S: Final = 300.0  # it takes about 15; the rest is for a machine that is busy with other tests
IMPORT_S: Final = 300.0
STOP_S: Final = 120.0  # its folder has all layers of the images
TESTS: Final = Path(__file__).parents[1]
PARTS: Final = ("world", "containerd", "kubelet", "kube-proxy", "kube-apiserver")


class NodeFailed(Exception):
    """It did not come up, or a part of it has ended; the message holds the ends of the logs."""


class LocalNode(Ground):
    """A whole cluster of one node; use as an async context manager."""

    def __init__(self, logs: Path | None = None) -> None:
        """`logs` stays when the node is gone; None: a folder of the node's, removed with it."""
        self.state = Path()
        self._kept_logs = logs
        self._world: Process | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._lock = -1
        super().__init__(Path(), "localnode")

    @classmethod
    def running(cls, state: Path) -> Self:
        """One that another process runs, by its folder; not to be entered."""
        found = cls()
        found.state = state
        found.kubeconfig = state / "control-plane" / "admin.kubeconfig"
        return found

    @property
    def logs(self) -> Path:
        """One file for each part, and in `pods` one for each container."""
        return self._kept_logs or self.state / "log"

    @property
    def socket(self) -> Path:
        """Where containerd listens."""
        return self.state / "containerd.sock"

    @property
    def shared(self) -> Path:
        """As `Ground` has it."""
        return self.state / "shared"

    @property
    def pid(self) -> int:
        """Of process 1 of the node's namespaces, as this machine sees it (for nsenter)."""
        assert self._world is not None
        children = Path(f"/proc/{self._world.pid}/task/{self._world.pid}/children").read_text()
        return int(children.split()[0])

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._prepare)
        started = time.monotonic()
        try:
            self._start()
            await self._up(started)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def import_images(self, archives: Mapping[str, Path]) -> None:
        """As `Ground` has it; Docker archives, too."""
        for name, archive in archives.items():
            await asyncio.to_thread(self._import, name, archive)

    async def import_image(self, image: Image) -> None:
        """One that is made here, of files."""
        with tempfile.TemporaryDirectory() as folder:
            archive = await asyncio.to_thread(write_archive, image, Path(folder) / "image.tar")
            await self.import_images({image.name: archive})

    async def kill_container(self, container: str) -> None:
        """As `Ground` has it."""
        name = container.removeprefix("containerd://")
        await asyncio.to_thread(self._ctr, "tasks", "kill", "--signal", "SIGKILL", name)

    def assert_alive(self) -> None:
        """`NodeFailed` when it has ended by itself."""
        if self._world is None or self._world.exit_code is not None:
            raise self._failed("has ended")

    def _prepare(self) -> None:
        packages.ensure()
        control_plane_binary()
        node_binary()
        cache_root().mkdir(parents=True, exist_ok=True)
        with locked(cache_root() / "localnode.lock", say, "starting a node"):
            leftovers.sweep(say)
            self.state = Path(tempfile.mkdtemp(prefix=leftovers.PREFIX))
            self._lock = leftovers.claim(self.state)
        self.kubeconfig = self.state / "control-plane" / "admin.kubeconfig"
        shutil.rmtree(self.logs, ignore_errors=True)
        (self.logs / "pods").mkdir(parents=True)
        self.shared.mkdir()

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONUNBUFFERED": "1"}
        python = [sys.executable, "-m"]
        self._guard = subprocess.Popen(
            [*python, "localnode.guard", self.state.name, str(self.state)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        with socket.create_server(("127.0.0.1", 0)) as door:
            port, file = door.getsockname()[1], door.fileno()
            run = [*python, "localnode.run", str(self.state), str(self.logs), str(port), str(file)]
            world = [*python, "localnode.world", str(self.state), *run]
            enter = [*python, "localnode.enter", self.state.name, *world]
            log = self.logs / "world.log"
            self._world = start_process(Command(enter, environment, log, files=(file,)))

    async def _up(self, started: float) -> None:
        try:
            await eventually(self._has_access, READY_S, "the control plane starts")
            say(f"the control plane is up, {time.monotonic() - started:.0f} s")
            await eventually(self.socket.exists, READY_S, "containerd listens")
            await self.import_image(
                Image(PAUSE_IMAGE, {"pause": program("pause")}, ["/pause"]),
            )
            await eventually(self._is_ready, READY_S, "the node is Ready")
        except NeverCame as late:
            raise self._failed(str(late)) from late
        say(f"the node is Ready, {time.monotonic() - started:.0f} s")

    async def _has_access(self) -> bool:
        self.assert_alive()
        if not (self.state / UP).exists():
            return False
        async with self.api(deadline_s=2.0) as api:
            try:
                return await api.text("/readyz") == "ok"
            except (ApiError, *Unreachable):
                return False

    async def _is_ready(self) -> bool:
        self.assert_alive()
        async with self.api(deadline_s=5.0) as api:
            try:
                node = await api.get(f"/api/v1/nodes/{NODE_NAME}")
                await api.get("/api/v1/namespaces/default/serviceaccounts/default")
            except (ApiError, *Unreachable):
                return False
        conditions = {each["type"]: each["status"] for each in node["status"]["conditions"]}
        tainted = node["spec"].get("taints") or []
        return conditions.get("Ready") == "True" and not tainted

    def _import(self, name: str, archive: Path) -> None:
        if name in self._ctr("images", "list", "--quiet").splitlines():
            return  # a name is given once, as tags of builds are
        found = re.findall(
            r"^unpacking (\S+) ", self._ctr("images", "import", str(archive)), re.MULTILINE
        )
        if not found:
            raise NodeFailed(f"{archive.name} holds no image")
        if name not in found:
            self._ctr("images", "tag", "--force", found[0], name)

    def _ctr(self, *arguments: str) -> str:
        command = ["ctr", "--address", str(self.socket), "--namespace", CONTAINERD_NAMESPACE]
        done = subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            timeout=IMPORT_S,
            check=False,
        )
        if done.returncode != 0:
            raise NodeFailed(f"ctr {' '.join(arguments)}: {done.stderr[-2000:]}")
        return done.stdout

    def _failed(self, what: str) -> NodeFailed:
        tails = [f"--- {part}\n{log_tail(self.logs / f'{part}.log', 25)}" for part in PARTS]
        return NodeFailed("\n".join([what, *tails]))

    async def _close(self) -> None:
        world, self._world = self._world, None
        if world is not None:
            await world.stop(0.0)  # there is nothing to save
        guard, self._guard = self._guard, None
        if guard is not None:
            assert guard.stdin is not None
            guard.stdin.close()
            await asyncio.to_thread(guard.wait, STOP_S)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def say(text: str) -> None:
    """A line for people who wait."""
    print(f"localnode: {text}", file=sys.stderr, flush=True)
