"""One model of this process that can be given other weights: the target, or the draft.

Worked out once at load, while nobody is served yet: which checkpoint tensors it takes, which of its
tensors can be copied in place, and the plan that the agent builds images by.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import nn

from weightrollout.handover.records import PAGE, Block, LayerReport, LoadPlan, Piece, TensorFact
from weightrollout.plugin import inplace
from weightrollout.plugin.inplace import InPlace
from weightrollout.plugin.layers import Tested, layers_of, untested
from weightrollout.plugin.recording import Given, Record
from weightrollout.plugin.region import NAMES
from weightrollout.plugin.shadow import META, Shadow
from weightrollout.plugin.tracing import Filling, Tracer

log = logging.getLogger(__name__)

#: Beside the shadow: what loading and packing hold for a moment.
HEADROOM: Final = 1.25


class SubjectError(Exception):
    """The model cannot be swapped. `reason` is CamelCase."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.layers: tuple[LayerReport, ...] = ()  # of the model, where it was looked at


@dataclass(frozen=True, slots=True)
class Trace:
    shadow: Shadow
    used: frozenset[str]
    fillings: Mapping[int, Filling]  # by storage of the shadow
    why: str = ""  # the loader cannot be traced


@dataclass(frozen=True, slots=True)
class Subject:
    model: nn.Module
    model_config: Any
    record: Record
    facts: tuple[TensorFact, ...]
    in_place: InPlace
    bytes: int  # of the checkpoint tensors it takes
    layers: tuple[LayerReport, ...]
    unfilled: str  # a tensor that no checkpoint tensor fills and whose value nobody knows

    @classmethod
    def of(cls, model: nn.Module, model_config: Any, record: Record, *, whole: bool) -> "Subject":
        """`whole`: the checkpoint is this model's own, so that it takes also what it never uses.

        Raises SubjectError.
        """
        if record.birth is None:
            raise SubjectError("ModelNotRecorded", record.why)
        if not record.given:
            raise SubjectError(
                "LoaderUnsupported",
                "the weights did not come through vLLM's default loader: start without"
                " --load-format, or with safetensors",
            )
        begun = time.monotonic()
        trace = _trace(Shadow.of(record.birth, device=META), record.given)
        given = {name: each for name, each in record.given.items() if whole or name in trace.used}
        facts = tuple(_facts(given, trace))
        analysis = inplace.analyse(model, record, trace.shadow, trace.fillings, trace.why)
        log.info(
            "weightrollout: %s takes %d tensors; in place: %s (%.2f s)",
            type(model).__name__,
            len(facts),
            analysis.why or "all",
            time.monotonic() - begun,
        )
        size = sum(_bytes(given[fact.name]) for fact in facts)
        unfilled = "" if trace.why else _unfilled(record, trace)
        made_of = layers_of(model, analysis.reasons)
        return cls(model, model_config, record, facts, analysis, size, made_of, unfilled)

    def plan(self, rank: int, path: str) -> LoadPlan:
        """One page-aligned block per checkpoint tensor, in the order of the checkpoint."""
        blocks: list[Block] = []
        at = 0
        for fact in self.facts:
            size = _bytes(self.record.given[fact.name])
            pieces = (Piece(fact.name, source_offset=0, block_offset=0, bytes=size),)
            blocks.append(Block(fact.name, at, size, path, pieces if size else ()))
            at += -(-size // PAGE) * PAGE
        return LoadPlan(rank, at, tuple(blocks))

    def path(
        self,
        forced: str,
        free_bytes: int | None,
        *,
        by_reference: bool,
        known: Tested | None = None,
    ) -> str:
        """The fastest one that is right here. Raises SubjectError.

        `by_reference`: nothing remembers addresses of weights, such as a captured graph.
        `known`: the layers that were tried with this vLLM; None: all may be swapped.
        """
        if why := untested(self.layers, known):
            raise self._refusal("LayerUntested", why)
        if forced:
            return forced
        if not self.in_place.why:
            return "direct"
        if not by_reference:
            raise self._refusal(
                "LayerNotPlain",
                f"{self.in_place.why}; and the engine is compiled or captured in graphs, which"
                " keep addresses of weights: start it with --enforce-eager",
            )
        if self.unfilled:
            raise self._refusal("LayerNotFilled", f"no checkpoint tensor fills {self.unfilled}")
        enough = free_bytes is not None and free_bytes >= self.need_bytes
        return "flip" if enough else "repack"

    def _refusal(self, reason: str, message: str) -> SubjectError:
        error = SubjectError(reason, message)
        error.layers = self.layers
        return error

    @property
    def need_bytes(self) -> int:
        """Memory to load it once more beside itself."""
        return int(self.bytes * HEADROOM)


def _trace(shadow: Shadow, given: Mapping[str, Given]) -> Trace:
    feed = {
        name: torch.empty(each.shape, dtype=each.dtype, device=META) for name, each in given.items()
    }
    tracer = Tracer({each.untyped_storage()._cdata: name for name, each in feed.items()})
    try:
        with torch.no_grad(), tracer:
            shadow.model.load_weights(iter(feed.items()))
    except Exception as error:  # a loader that looks at values
        return Trace(shadow, frozenset(given), {}, f"the loader reads values ({error})")
    return Trace(shadow, frozenset(tracer.used), tracer.fillings)


def _unfilled(record: Record, trace: Trace) -> str:
    assert record.birth is not None
    for name, tensor in trace.shadow.model.state_dict(keep_vars=True).items():
        storage = tensor.untyped_storage()._cdata
        if storage in trace.shadow.unknown and storage not in trace.fillings:
            return str(name)
    return ""


def _facts(given: Mapping[str, Given], trace: Trace) -> Iterator[TensorFact]:
    """What the engine loads. A tied head that the checkpoint may repeat is an alias."""
    shared = _shared_names(trace.shadow.model)
    aliases: dict[str, tuple[str, ...]] = {}
    for name in trace.used:
        aliases[name] = tuple(each for each in shared.get(name, ()) if each not in trace.used)
    known = {alias for names in aliases.values() for alias in names}
    for name, each in given.items():
        if name not in known:
            yield TensorFact(name, NAMES[each.dtype], each.shape, aliases.get(name, ()))


def _shared_names(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """Name of a parameter -> the other names of the same one."""
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return {
        name: tuple(other for other in group if other != name)
        for group in names.values()
        for name in group
        if len(group) > 1
    }


def _bytes(given: Given) -> int:
    count: int = given.dtype.itemsize
    for size in given.shape:
        count *= size
    return count


Processor = Callable[[nn.Module], None]
