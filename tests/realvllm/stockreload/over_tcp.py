"""The backend `stock_tcp`: vLLM's own reload, of tensors that a trainer sends, as its `nccl` takes them. Plain TCP stands for the
fabric, as in the simulated engine (simulator/collective.py): Init joins the trainer, Update takes what it names, in that order."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from stockreload.engine import StockReload
from vllm.distributed.weight_transfer.base import WeightTransferInitInfo, WeightTransferUpdateInfo

JOIN_S = 60.0
RECEIVE_S = 120.0


@dataclass
class Fabric(WeightTransferInitInfo):
    """What clients tell backend `nccl`; one worker joins."""

    master_address: str
    master_port: int
    rank_offset: int
    world_size: int
    packed: bool = False


@dataclass
class Coming(WeightTransferUpdateInfo):
    """Of equal lengths; dtypes as torch names them."""

    names: list[str]
    dtype_names: list[str]
    shapes: list[list[int]]


class StockOverTcp(StockReload):
    init_info_cls = Fabric
    update_info_cls = Coming

    def init_transfer_engine(self, init_info: Fabric) -> None:
        where = (init_info.master_address, init_info.master_port)
        self._fabric = socket.create_connection(where, timeout=JOIN_S)
        self._fabric.settimeout(RECEIVE_S)

    def receive_weights(self, update_info: Coming) -> None:
        """Raises what the network or loading raises, and leaves the model half-loaded then."""
        self.model.load_weights(self._received(update_info))

    def _received(self, coming: Coming) -> Iterator[tuple[str, torch.Tensor]]:
        for name, dtype_name, shape in zip(
            coming.names, coming.dtype_names, coming.shapes, strict=True
        ):
            tensor = torch.empty(shape, dtype=getattr(torch, dtype_name))
            left = memoryview(tensor.view(-1).view(torch.uint8).numpy())
            while left:
                count = self._fabric.recv_into(left)
                if not count:
                    raise OSError("the trainer has gone")
                left = left[count:]
            yield name, tensor
