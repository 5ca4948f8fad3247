"""Does this checkpoint fit these engines? Pure: a manifest and reports in, a refusal out.

Two questions with two owners. `engine_refusal`: can this engine be swapped at all; the answer is
the same for every checkpoint, and a no makes the pod incompatible. `cover`: can this checkpoint
fill it; a no is a `WeightsError`. Whatever a report leaves unknown is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weightrollout.handover.records import PATHS, EngineReport, LoadPlan, TensorFact
from weightrollout.weights import drafts, layout
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.manifest import Manifest, TensorEntry

#: How many names a message lists before it counts.
NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    reason: str  # CamelCase
    message: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a checkpoint fills an engine."""

    #: Name that a load plan consumes -> the checkpoint tensor that supplies it.
    suppliers: Mapping[str, TensorEntry]
    #: Tensors that are one in the engine and two in the checkpoint: their bytes must be equal.
    ties: tuple[tuple[TensorEntry, TensorEntry], ...]


def cover(manifest: Manifest, reports: Sequence[EngineReport]) -> Coverage:
    """Every name the engine loads is there, or an alias of it is; nothing else is; all agree.

    What its draft would load may be there too, wherever the draft really comes from.
    """
    facts = tuple(dict.fromkeys(fact for report in reports for fact in report.tensors))
    return _cover(manifest, facts, (*facts, *drafts.facts(reports)), "the engine")


def cover_draft(manifest: Manifest, reports: Sequence[EngineReport], *, own: bool) -> Coverage:
    """Likewise for the draft. `own`: the checkpoint is the draft's alone, not the target's too."""
    facts = drafts.facts(reports)
    known = facts if own else None
    return _cover(manifest, facts, known, "the engine's draft")


def _cover(
    manifest: Manifest,
    facts: tuple[TensorFact, ...],
    known: tuple[TensorFact, ...] | None,
    who: str,
) -> Coverage:
    """`known`: what else may be there; None: anything."""
    present = manifest.tensors()
    given = {fact: drafts.suppliers(fact, present) for fact in facts}
    if missing := [fact.name for fact, tensors in given.items() if not tensors]:
        raise WeightsError(
            Reason.TENSOR_MISSING,
            f"{who} loads {_some(missing)}; the checkpoint does not have"
            f" {'it' if len(missing) == 1 else 'them'}",
        )
    if known is not None:
        _refuse_extra(present, known, who)
    for fact, tensors in given.items():
        for tensor in tensors:
            _check_form(fact, tensor)
    return Coverage(
        suppliers={fact.name: tensors[0] for fact, tensors in given.items()},
        ties=tuple((tensors[0], other) for tensors in given.values() for other in tensors[1:]),
    )


def _refuse_extra(
    present: Mapping[str, TensorEntry], facts: Iterable[TensorFact], who: str
) -> None:
    known = {name for fact in facts for name in (fact.name, *fact.aliases)}
    if extra := sorted(present.keys() - known):
        raise WeightsError(
            Reason.TENSOR_UNEXPECTED,
            f"the checkpoint has {_some(extra)} (file {present[extra[0]].file});"
            f" {who} does not load it: is this the same architecture?",
        )


def _check_form(fact: TensorFact, tensor: TensorEntry) -> None:
    where = f"{tensor.file}: tensor {tensor.name}"
    if tensor.shape != fact.shape:
        raise WeightsError(
            Reason.SHAPE_MISMATCH,
            f"{where} has shape {list(tensor.shape)}, the engine loads {list(fact.shape)}",
        )
    if tensor.dtype != fact.dtype:
        raise WeightsError(
            Reason.DTYPE_MISMATCH,
            f"{where} is {tensor.dtype}, the engine loads {fact.dtype}: convert the checkpoint",
        )


def _some(names: Sequence[str]) -> str:
    """ "a, b, c and 7 more"."""
    listed = ", ".join(names[:NAMED])
    return listed if len(names) <= NAMED else f"{listed} and {len(names) - NAMED} more"


def engine_refusal(reports: Sequence[EngineReport], instance: str) -> Refusal | None:
    """Why the engine process `instance` (ServerInfo.instance_id) cannot be swapped; None: it can."""
    if not reports:
        return Refusal(
            "NoEngineReport",
            "the engine wrote no report: is the weightrollout plugin installed in it, and the"
            " handover volume mounted?",
        )
    for gate in _GATES:
        for report in reports:
            if (refusal := gate(report, instance)) is not None:
                return refusal
    return _rank_refusal(reports)


def _rank_refusal(reports: Sequence[EngineReport]) -> Refusal | None:
    size = reports[0].world_size
    ranks = sorted(report.rank for report in reports)
    if any(report.world_size != size for report in reports) or not (
        len(ranks) == size and ranks == list(range(size))
    ):
        return Refusal(
            "RanksMissing", f"the engine has {size} ranks, reports are there of ranks {ranks}"
        )
    if len({(report.speculative, report.draft is None) for report in reports}) > 1:
        return Refusal("ReportsDisagree", "ranks disagree on the draft")
    for parts in zip(*(_parts(report) for report in reports), strict=True):
        if (refusal := _parts_refusal(parts)) is not None:
            return refusal
    return None


@dataclass(frozen=True, slots=True)
class _Part:
    """What one session of a swap loads on one rank."""

    whose: str  # "" or "the draft's ", for messages
    tensors: tuple[TensorFact, ...]
    plan: LoadPlan


def _parts(report: EngineReport) -> tuple[_Part, ...]:
    target = _Part("", report.tensors, report.plan)
    if report.draft is None:
        return (target,)
    return (target, _Part("the draft's ", report.draft.tensors, report.draft.plan))


def _parts_refusal(parts: Sequence[_Part]) -> Refusal | None:
    """The same part on all ranks."""
    whose = parts[0].whose
    forms: dict[str, TensorFact] = {}
    for fact in (fact for part in parts for fact in part.tensors):
        if forms.setdefault(fact.name, fact) != fact:
            return Refusal("ReportsDisagree", f"ranks disagree on the form of {whose}{fact.name}")
    consumed = frozenset[str]().union(*(part.plan.consumed() for part in parts))
    if unused := sorted(
        name for name, fact in forms.items() if name not in consumed and 0 not in fact.shape
    ):
        return Refusal("LoadPlanUnsound", f"{whose}{_some(unused)} fill no parameter of any rank")
    return None


def _instance(report: EngineReport, instance: str) -> Refusal | None:
    if report.instance == instance:
        return None
    return Refusal(
        "ReportOfAnotherInstance",
        f"rank {report.rank}: report is of instance {report.instance}, the engine is {instance}:"
        " it restarted and has not written a new one yet",
    )


def _unknown(report: EngineReport, _: str) -> Refusal | None:
    for reason, value in (
        ("QuantisationUnknown", report.quantisation),
        ("EplbUnknown", report.eplb),
        ("KvConnectorUnknown", report.kv_connector),
        ("DraftUnknown", report.speculative),
        ("LorasUnknown", report.loras),
        ("FreeMemoryUnknown", report.free_bytes),
    ):
        if value is None:
            return Refusal(
                reason,
                f"rank {report.rank}: the plugin could not find out; its version"
                f" {report.plugin_version} may not know vLLM {report.engine_version}",
            )
    return None


def _eplb(report: EngineReport, _: str) -> Refusal | None:
    if not report.eplb:
        return None
    return Refusal("EplbEnabled", "expert load balancing moves experts: switch it off")


def _kv_connector(report: EngineReport, _: str) -> Refusal | None:
    if not report.kv_connector:
        return None
    return Refusal(
        "KvConnectorUnsupported",
        f"KV connector {report.kv_connector}: KV computed with old weights would be shared",
    )


def _loras(report: EngineReport, _: str) -> Refusal | None:
    if not report.loras:
        return None
    return Refusal(
        "LorasLoaded",
        f"{report.loras} LoRA adapters were trained on the weights loaded: unload them",
    )


def _path(report: EngineReport, _: str) -> Refusal | None:
    for part in _parts(report):
        for block in part.plan.blocks:
            if block.path not in PATHS:
                return Refusal(
                    "LoadPathUnsupported",
                    f"rank {report.rank}: {part.whose}parameter {block.parameter} loads by"
                    f" {block.path!r}; supported are {', '.join(PATHS)}",
                )
    return None


def _refused(report: EngineReport, _: str) -> Refusal | None:
    if not report.refusal_reason:
        return None
    return Refusal(report.refusal_reason, f"rank {report.rank}: {report.refusal_message}")


def _plan(report: EngineReport, _: str) -> Refusal | None:
    for part in _parts(report):
        if (defect := layout.defect(part.plan, part.tensors)) is not None:
            return Refusal("LoadPlanUnsound", f"rank {report.rank}: {part.whose}{defect}")
    return None


#: In this order; the first refusal of any rank is the answer.
_GATES: Final[tuple[Callable[[EngineReport, str], Refusal | None], ...]] = (
    _instance,
    _refused,
    _unknown,
    _eplb,
    _kv_connector,
    _loras,
    _path,
    _plan,
)
