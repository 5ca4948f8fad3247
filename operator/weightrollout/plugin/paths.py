"""The ways to bring staged weights into a live model: what is done before the pause, and what in it.

direct      copies into the live tensors; no memory
flip        a shadow is loaded and packed before the pause, references change in it
repack      the same in the pause, after the old weights were let go; no memory
layerwise   vLLM's own reload; never chosen by itself, see docs/compatibility.md
"""

import weakref
from typing import Any, Final

import torch
from torch import nn

from weightrollout.handover import memory
from weightrollout.plugin import heap, inplace
from weightrollout.plugin.exchange import Exchange
from weightrollout.plugin.region import Region
from weightrollout.plugin.shadow import Shadow
from weightrollout.plugin.subject import Processor, Subject
from weightrollout.plugin.transfer import Pair, Transfer

#: Live model -> what its shadows consisted of. They hold each other, and with that the tensors which
#: they share with the live model, until Python looks for garbage: half a second, in a pause.
_past: "weakref.WeakKeyDictionary[nn.Module, list[weakref.ref[Any]]]" = weakref.WeakKeyDictionary()


class PathError(Exception):
    """Refused before a live byte changed. `reason` is CamelCase."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message


class Path:
    """One transaction. `prepare` and `free` run on a thread, the others in the pause."""

    def __init__(self, subject: Subject, region: Region, process: Processor) -> None:
        self.subject = subject
        self.region = region
        self.process = process

    def prepare(self) -> None:
        """While the engine serves. Raises ShadowError, PathError."""
        raise NotImplementedError

    def start(self) -> None:
        """The engine's Start."""

    def guard(self) -> None:
        """The last look before live bytes change. Raises PathError."""

    def apply(self) -> None:
        """Live bytes change. May be run again after a failure."""
        raise NotImplementedError

    def finish(self) -> None:
        """The engine's Finish."""

    def free(self) -> None:
        """After it: let go of what was replaced."""


class Direct(Path):
    def prepare(self) -> None:
        pairs = []
        staged = dict(self.region.tensors())
        for target in self.subject.in_place.targets:
            for piece in target.pieces:
                view = target.view(piece)
                if piece.source is None:
                    continue  # padding: zero since the start, and nothing writes it
                staged_view = inplace.source(piece, staged[piece.source])
                pairs.append(Pair(view, staged_view, owner=target.tensor, name=target.name))
        self._transfer = Transfer.prepare(pairs)

    def guard(self) -> None:
        for target in self.subject.in_place.targets:
            if not target.is_live():
                raise PathError("PlanStale", f"{target.name} was given another tensor")
        if (moved := self._transfer.moved()) is not None:
            raise PathError("PlanStale", moved)

    def apply(self) -> None:
        self._transfer.run()


class Flip(Path):
    def prepare(self) -> None:
        self._replaced: list[Any] = []
        _check_memory(self.subject)
        self._exchange = _loaded(self.subject, self.region, self.process)

    def guard(self) -> None:
        if name := self._exchange.missing():
            raise PathError("PlanStale", f"{name} is gone from its layer")

    def apply(self) -> None:
        self._replaced += self._exchange.apply()

    def free(self) -> None:
        self._replaced.clear()


class Repack(Path):
    def prepare(self) -> None:
        """Nothing: there is no memory for it."""

    def apply(self) -> None:
        with heap.reused():
            _let_go(self.subject)
            _loaded(self.subject, self.region, self.process).apply()


class Layerwise(Path):
    def prepare(self) -> None:
        """Nothing: vLLM does it all in the pause."""

    def start(self) -> None:
        from vllm.model_executor.model_loader.reload import initialize_layerwise_reload

        initialize_layerwise_reload(self.subject.model)

    def apply(self) -> None:
        with torch.no_grad():
            self.subject.model.load_weights(self.region.tensors())

    def finish(self) -> None:
        from vllm.model_executor.model_loader.reload import finalize_layerwise_reload

        with torch.no_grad():
            finalize_layerwise_reload(self.subject.model, self.subject.model_config)


PATHS: Final[dict[str, type[Path]]] = {
    "direct": Direct,
    "flip": Flip,
    "repack": Repack,
    "layerwise": Layerwise,
}


def _check_memory(subject: Subject) -> None:
    need, free = subject.need_bytes, memory.available_bytes()
    if free is not None and free < need:
        raise PathError(
            "MemoryShort",
            f"{need >> 20} MiB are needed to pack the new weights beside the old ones,"
            f" {free >> 20} MiB are free: raise the engine container's memory limit, or set"
            " WEIGHTROLLOUT_PATH=repack in it, which packs in the pause",
        )


def _loaded(subject: Subject, region: Region, process: Processor) -> Exchange:
    assert subject.record.birth is not None
    shadow = Shadow.of(subject.record.birth)
    past = [thing for thing in _past.get(subject.model, ()) if thing() is not None]
    _past[subject.model] = [*past, *shadow.things()]
    shadow.load(region.tensors())
    shadow.process(process)
    return Exchange.of(shadow, foreign=region.holds)


def _let_go(subject: Subject) -> None:
    """Free the weights and what was made from them; from here only a full load helps."""
    for parameter in subject.model.parameters():
        parameter.data = torch.empty(0, dtype=parameter.dtype, device=parameter.device)
    for _, table, name in list(inplace.derived(subject.record.birth)):
        table.pop(name)
    for thing in _past.pop(subject.model, []):
        if (left := thing()) is not None:
            vars(left).clear()
