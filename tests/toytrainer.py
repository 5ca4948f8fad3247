"""A trainer with two hands: the RL routes of one agent, and the fabric that its engine joins (simulator/collective.py)."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

from simulator.model import Model
from weightrollout.weights.digest import digest_of

ASK_S: Final = 30.0
TOKEN: Final = "a token of thirty-two characters"


@dataclass(frozen=True)
class Reply:
    status: int
    body: dict[str, Any]
    length: bool  # it said how long it is


@dataclass
class Fabric:
    """Listens; whoever joins is sent whole checkpoints."""

    server: socket.socket
    joined: list[socket.socket] = field(default_factory=list)

    @property
    def init_info(self) -> dict[str, Any]:
        host, port = self.server.getsockname()
        return {"master_address": host, "master_port": port, "rank_offset": 1, "world_size": 2}

    def accept(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def send(self, model: Model) -> None:
        """Beside the call that takes it."""
        threading.Thread(target=self._send, args=(model,), daemon=True).start()

    def hang_up(self) -> None:
        for each in self.joined:
            each.close()

    def _accept(self) -> None:
        try:
            self.joined = [self.server.accept()[0]]
        except OSError:
            pass  # closed: the test is over

    def _send(self, model: Model) -> None:
        for tensor in model.tensors:
            self.joined[0].sendall(tensor.data.data.cast("B"))


@contextmanager
def fabric() -> Iterator[Fabric]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        made = Fabric(server)
        made.accept()
        try:
            yield made
        finally:
            made.hang_up()


@dataclass
class Trainer:
    url: str
    token: str = TOKEN
    ssl: Any = True

    async def call(self, path: str, body: Any = None, *, method: str = "POST") -> Reply:
        """`path` without its first slash; below engine/ for Dynamo's names."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        timeout = aiohttp.ClientTimeout(total=ASK_S)
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.request(
                method,
                f"{self.url}/{path}",
                data=io.BytesIO(json.dumps(body).encode()) if body is not None else None,
                ssl=self.ssl,
            ) as response,
        ):
            return Reply(
                response.status, await response.json(), response.content_length is not None
            )

    async def control(self, name: str, **body: Any) -> Reply:
        return await self.call(f"engine/control/{name}", body)

    async def update(self, name: str, **body: Any) -> Reply:
        return await self.call(f"engine/update/{name}", body)

    async def send(self, fabric: Fabric, folder: Path) -> Reply:
        """One update with the whole checkpoint."""
        model = Model.load(folder)
        fabric.send(model)
        return await self.update("update_weights", update_info=update_info(model))


#: Digest of no checkpoint.
NOBODYS: Final = "sha256:" + "0" * 64


def named(folder: Path, *, pinned: bool = True) -> dict[str, str]:
    """As our own backend wants to be told what comes."""
    digest = {"digest": digest_of(folder, threads=1)} if pinned else {}
    return {"uri": f"{folder.as_uri()}/", **digest}


def update_info(model: Model) -> dict[str, Any]:
    """As backend nccl wants to be told what comes."""
    return {
        "names": [each.name for each in model.tensors],
        "dtype_names": [each.dtype for each in model.tensors],
        "shapes": [list(each.shape) for each in model.tensors],
    }
