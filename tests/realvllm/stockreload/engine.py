"""The backend `stock`. Init takes {}, Update {"folder": checkpoint} and optionally {"seconds": how long it takes at least}."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)


@dataclass
class Nothing(WeightTransferInitInfo):
    """Nothing has to be known before an update."""


@dataclass
class Checkpoint(WeightTransferUpdateInfo):
    """A folder with safetensors files, as the engine's process sees it."""

    folder: str
    seconds: float = 0.0  # keeps the worker busy for so long, as a large checkpoint would


class StockReload(WeightTransferEngine[Nothing, Checkpoint]):
    """Each worker reads the whole checkpoint; vLLM's loader takes its shard."""

    init_info_cls = Nothing
    update_info_cls = Checkpoint

    def init_transfer_engine(self, init_info: Nothing) -> None:
        """Nothing to do."""

    def start_weight_update(self) -> None:
        """From here on the model is on meta tensors, until finish."""
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """As in the base class, which also waits for an accelerator: there is none on CPU."""
        self.receive_weights(self.parse_update_info(update_info))

    def receive_weights(self, update_info: Checkpoint) -> None:
        """Load one folder. Raises what reading or loading raises, and leaves the model half-loaded then."""
        begun = time.monotonic()
        self.model.load_weights(tensors_of(Path(update_info.folder)))
        time.sleep(max(0.0, begun + update_info.seconds - time.monotonic()))

    def finish_weight_update(self) -> None:
        """Layers that got nothing keep their old tensors, without a word."""
        finalize_layerwise_reload(self.model, self.model_config)

    def shutdown(self) -> None:
        """Nothing is held."""


def tensors_of(folder: Path) -> Iterator[tuple[str, torch.Tensor]]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(f"no safetensors in {folder}")
    for file in files:
        with safe_open(file, "pt") as stored:
            for name in stored.keys():  # noqa: SIM118 - it is no mapping and cannot be iterated
                yield name, stored.get_tensor(name)
