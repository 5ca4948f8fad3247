"""Listens while vLLM builds and loads a model: its birth, and the checkpoint tensors it was given.

Two functions of vLLM are wrapped before anything is loaded. Both go on doing what they did.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from weightrollout.plugin.birth import Birth

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Given:
    """A checkpoint tensor as the loader offered it."""

    dtype: torch.dtype
    shape: tuple[int, ...]


@dataclass(slots=True)
class Record:
    """What is known about one model. `birth` None, with the reason, where it cannot be told."""

    birth: Birth | None = None
    why: str = "the model was built before the plugin listened"
    given: dict[str, Given] = field(default_factory=dict)
    #: The checkpoint once more, for the byte proof. None: another loader than the default one.
    again: Callable[[nn.Module], Iterator[tuple[str, torch.Tensor]]] | None = None


_records: "WeakKeyDictionary[nn.Module, Record]" = WeakKeyDictionary()


def record_of(model: nn.Module) -> Record:
    return _records.get(model, Record())


def others(model: nn.Module) -> list[nn.Module]:
    """The other models of this process: a draft."""
    return [each for each in _records if each is not model]


def listen() -> None:
    """Wrap vLLM's functions. Twice is once."""
    from vllm.model_executor.model_loader import default_loader, utils

    if getattr(utils.record_metadata_for_reloading, "weightrollout", False):
        return
    recorded = utils.record_metadata_for_reloading
    offered = default_loader.DefaultModelLoader.get_all_weights

    def record_metadata_for_reloading(model: nn.Module) -> Any:
        result = recorded(model)
        _born(model)
        return result

    def get_all_weights(
        self: Any, model_config: Any, model: nn.Module
    ) -> Iterator[tuple[str, torch.Tensor]]:
        record = _records.setdefault(model, Record())
        record.again = lambda model: offered(self, model_config, model)
        for name, tensor in offered(self, model_config, model):
            record.given[name] = Given(tensor.dtype, tuple(tensor.shape))
            yield name, tensor

    record_metadata_for_reloading.weightrollout = True  # type: ignore[attr-defined]
    utils.record_metadata_for_reloading = record_metadata_for_reloading
    default_loader.DefaultModelLoader.get_all_weights = get_all_weights


def _born(model: nn.Module) -> None:
    record = _records.setdefault(model, Record())
    try:
        record.birth, record.why = Birth.of(model), ""
    except Exception as error:  # an engine that cannot be swapped serves all the same
        log.warning("weightrollout: the model cannot be written down", exc_info=True)
        record.why = f"{type(model).__name__} cannot be written down: {error}"
