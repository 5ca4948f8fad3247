"""Where an engine's speculative draft comes from. Pure: reports and a manifest in.

A draft of its own checkpoint is named by spec.weights.draft. An MTP head lies in the target's
checkpoint, and so may any draft whose tensors are all there.
"""

from collections.abc import Mapping, Sequence

from weightrollout.handover.records import EngineReport, LoadPlan, TensorFact
from weightrollout.weights.manifest import Manifest, TensorEntry


def plans(reports: Sequence[EngineReport]) -> tuple[LoadPlan, ...]:
    """Of all ranks, in the reports' order; empty where the engine has no draft."""
    return tuple(report.draft.plan for report in reports if report.draft is not None)


def facts(reports: Sequence[EngineReport]) -> tuple[TensorFact, ...]:
    """The checkpoint tensors that the draft loads, over all ranks."""
    found = (report.draft.tensors for report in reports if report.draft is not None)
    return tuple(dict.fromkeys(fact for tensors in found for fact in tensors))


def suppliers(fact: TensorFact, present: Mapping[str, TensorEntry]) -> list[TensorEntry]:
    """The tensors of a checkpoint that are this one: itself first, then its aliases."""
    return [present[name] for name in (fact.name, *fact.aliases) if name in present]


def lies_in(manifest: Manifest, reports: Sequence[EngineReport]) -> bool:
    """Everything that the draft loads is in this checkpoint, in the form that it loads."""
    present, wanted = manifest.tensors(), facts(reports)
    return bool(wanted) and all(_has(fact, present) for fact in wanted)


def _has(fact: TensorFact, present: Mapping[str, TensorEntry]) -> bool:
    found = suppliers(fact, present)
    return bool(found) and all(
        (each.shape, each.dtype) == (fact.shape, fact.dtype) for each in found
    )
