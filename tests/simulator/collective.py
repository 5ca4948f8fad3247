"""A backend of vLLM's own kind, as NCCL is one: the trainer listens, every rank joins it in Init, and an Update takes the
named tensors in their order. Plain TCP stands for the fabric.

As in a real one Init waits until the trainer is there, an Update waits for its sender, and a session that fails leaves
the model half-loaded.
"""

import asyncio
import json
import socket
from dataclasses import dataclass
from typing import Any, Final

from simulator.death import CRASHED, die
from simulator.faults import Do
from simulator.model import Model
from simulator.plugin import WorkerError

BACKEND: Final = "nccl"
TARGET: Final = "target"
JOIN_S: Final = 10.0
RECEIVE_S: Final = 30.0


@dataclass
class Collective:
    model: Model
    session: str = ""
    draft_updates: int = 0
    updated: bool = False
    fabric: socket.socket | None = None

    def announce(self) -> None:
        """It leaves nothing anywhere."""

    async def obey_exit_requests(self) -> None:
        await asyncio.Event().wait()

    def init(self, payload: bytes) -> None:
        info = _object(payload, "init_info", {"master_address", "master_port"})
        where = (str(info["master_address"]), int(info["master_port"]))
        try:
            self.fabric = socket.create_connection(where, timeout=JOIN_S)
        except OSError as error:
            raise WorkerError(f"DistNetworkError: {error}") from error
        self.fabric.settimeout(RECEIVE_S)

    def start(self, session: str) -> None:
        if self.session:
            raise WorkerError("start_weight_update called while a weight update is already active.")
        if self.fabric is None:
            raise WorkerError("Weight transfer engine is not initialized.")
        self.session, self.updated = session, False
        self.model.half_loaded = True  # its parameters are on the meta device now

    async def update(self, payload: bytes, *, asleep: bool, fault: Do | None) -> None:
        if not self.session:
            raise WorkerError("start_weight_update must be called before update_weights.")
        if asleep:
            die(CRASHED, "segmentation fault: weights were written while they were unmapped")
        try:
            info = _object(payload, "update_info", {"names"})
            if fault is Do.ERROR:
                raise WorkerError("NCCL error: unhandled system error (simulated)")
            await asyncio.to_thread(self._receive, list(info["names"]))
        except WorkerError:
            self.session = ""
            raise
        self.updated = True

    def finish(self) -> None:
        if not self.session:
            raise WorkerError("finish_weight_update called without a matching start_weight_update.")
        self.session = ""
        self.model.half_loaded = False

    def _receive(self, names: list[str]) -> None:
        tensors = {each.name: each for each in self.model.tensors}
        assert self.fabric is not None
        for name in names:
            if name not in tensors:
                raise WorkerError(f"KeyError: {name!r}")
            left = tensors[name].data.data.cast("B")
            try:
                while left:
                    count = self.fabric.recv_into(left)
                    if not count:
                        raise OSError("the trainer has gone")
                    left = left[count:]
            except OSError as error:
                raise WorkerError(f"NCCL error: remote process exited: {error}") from error
        self.model.touch()


def _object(payload: bytes, what: str, keys: set[str]) -> dict[str, Any]:
    body = json.loads(payload)
    if not isinstance(body, dict) or not keys <= body.keys():
        raise WorkerError(f"Invalid {what} for NCCLWeightTransferEngine: needs {sorted(keys)}")
    return body
