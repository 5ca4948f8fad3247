"""Build the frozen Fleet: the rollout, its pods, what each agent said last, revisions, work, the clock.

Only translation happens here. Anything that was not said is None or a fault, never a default.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from pydantic import ValidationError

from weightrollout.api.names import BASELINE_VERSION, stable_configmap
from weightrollout.api.spec import DIGEST_PATTERN, Metadata, WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.clock import rfc3339
from weightrollout.controller.leader import Fence
from weightrollout.controller.wire_draft import draft_of
from weightrollout.controller.world import World
from weightrollout.kube.client import Json
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.pods import Pod
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.rollout.fleet import (
    BASELINE_REVISION,
    ActionFailure,
    AgentFault,
    AgentView,
    AttemptsView,
    EngineView,
    Fleet,
    Memory,
    PodView,
    Ref,
    Revision,
    StagingView,
    TransactionView,
    Verdict,
    Work,
)
from weightrollout.rollout.revisions import metadata_of
from weightrollout.wire.agent import agent_pb2 as pb

NOT_UNDERSTOOD: Final = "NotUnderstood"
MAX_NAME: Final = 256
MAX_URI: Final = 2048
MAX_TEXT: Final = 1024
MAX_MILLIS: Final = 1e9  # eleven days
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
_DIGEST: Final = re.compile(DIGEST_PATTERN)


class InvalidSpec(Exception):
    """The API server let through what this operator cannot read; says which field and why."""


class Said(Protocol):
    """What an agent's link shows."""

    @property
    def seen(self) -> AgentView | AgentFault: ...
    @property
    def message(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """What this leader adds to what the cluster shows."""

    fence: Fence
    links: Mapping[str, Said]  # by pod uid
    work: frozenset[Work]
    failures: tuple[ActionFailure, ...]
    memory: Memory


def observe(world: World, body: Json, seen: Seen) -> Fleet:
    """Raises InvalidSpec."""
    metadata = body["metadata"]
    name, uid = metadata["name"], metadata["uid"]
    stable = world.stables.get(stable_configmap(name))
    return Fleet(
        namespace=metadata["namespace"],
        name=name,
        uid=uid,
        generation=int(metadata["generation"]),
        spec=read_spec(body),
        status=read_status(body),
        revisions=tuple(revision_of(each) for each in revisions_of(world, name, uid)),
        pods=tuple(pod_view(pod, seen.links.get(pod.uid)) for pod in world.pods_of(name)),
        work=seen.work,
        now=world.clock.monotonic(),
        wall=rfc3339(world.clock.wall()),
        epoch=seen.fence.epoch,
        failures=seen.failures,
        published=published(stable),
        published_by=stable.owner_uid if stable is not None else "",
        memory=seen.memory,
    )


def read_spec(body: Json) -> WeightRolloutSpec:
    try:
        return WeightRolloutSpec.model_validate(body.get("spec") or {})
    except ValidationError as wrong:
        first = wrong.errors()[0]
        field = ".".join(str(each) for each in ("spec", *first["loc"]))
        more = f" (and {wrong.error_count() - 1} more)" if wrong.error_count() > 1 else ""
        raise InvalidSpec(f"{field}: {first['msg']}{more}: correct or remove it") from wrong


def read_status(body: Json) -> WeightRolloutStatus:
    """The empty one when it was lost or was written by a release that this one cannot read."""
    try:
        return WeightRolloutStatus.model_validate(body.get("status") or {})
    except ValidationError:
        return WeightRolloutStatus()


def revisions_of(world: World, rollout: str, uid: str) -> Iterable[RevisionRecord]:
    """Ours, and orphans that carry our label. Those of an owner that was deleted vanish by themselves,
    and those of the StatefulSet or DaemonSet, which carry its pods' labels, never were ours."""
    mine = (
        record
        for record in world.revisions.all()
        if record.rollout == rollout and record.owner_uid in (uid, "") and record.version
    )
    return sorted(mine, key=lambda record: (record.number, record.name))


def revision_of(record: RevisionRecord) -> Revision:
    digest = record.given_digest or record.pinned_digest or None
    return Revision(
        ref=Ref(
            revision=record.name,
            version=record.version,
            uri=record.uri,
            digest=digest,
            metadata=metadata_of(record.metadata),
            draft=record.draft,
        ),
        number=record.number,
        digest_given=bool(record.given_digest),
        verdict=Verdict(record.verdict) if record.verdict in set(Verdict) else None,
        reason=record.reason,
        message=record.message,
    )


def published(record: StableRecord | None) -> Ref | None:
    if record is None or not record.revision:
        return None
    return Ref(
        revision=record.revision,
        version=record.version,
        uri=record.uri,
        digest=record.digest or None,
        metadata=metadata_of(record.metadata),
        draft=record.draft,
    )


def pod_view(pod: Pod, link: Said | None) -> PodView:
    return PodView(
        name=pod.name,
        uid=pod.uid,
        agent=_agent(pod, link),
        ready=pod.ready,
        running=pod.running,
        terminating=pod.terminating,
        gated=pod.gated,
        gate_open=pod.gate.open if pod.gate is not None else None,
        version_label=pod.version_label,
        put_in_txn=put_in_txn(pod.swap_annotation),
        agent_message=link.message if link is not None else "",
    )


def _agent(pod: Pod, link: Said | None) -> AgentView | AgentFault:
    if pod.agent_port is None:
        return AgentFault.MISSING
    return AgentFault.STARTING if link is None else link.seen


def put_in_txn(annotation: str) -> str:
    """ "" when it is absent or was spoilt: the annotation is a note of ours, never a store."""
    try:
        said = json.loads(annotation)
    except (ValueError, RecursionError):
        return ""
    return str(said.get("txn", "")) if isinstance(said, dict) else ""


class NotUnderstood(ValueError):
    """An agent said what no agent says; the message names the field."""


def agent_view(state: pb.AgentState) -> AgentView:
    """Raises NotUnderstood. Whatever was said, the view is small: it ends in one status object."""
    return AgentView(
        ready=state.ready,
        engine=EngineView(
            reachable=state.engine.reachable,
            instance=_short(state.engine.instance, "engine.instance"),
            engine_version=_short(state.engine.engine_version, "engine.engine_version"),
            weight_version=_short(state.engine.weight_version, "engine.weight_version"),
            baseline=state.engine.baseline,
            paused=state.paused,
            draft=state.engine.draft,
        ),
        not_ready_reason=word(state.not_ready_reason),
        not_ready_message=text(state.not_ready_message),
        serving=ref_of(state.serving),
        told=ref_of(state.told),
        last_good=ref_of(state.last_good),
        staged=frozenset(state.staged),
        staging=staging_view(state.staging) if state.HasField("staging") else None,
        reserved_txn=state.reservation.txn if state.HasField("reservation") else None,
        transaction=transaction_view(state.transaction) if state.HasField("transaction") else None,
        attempts={each.digest: _attempts(each) for each in state.attempts},
        poisoned=state.poisoned,
        incompatible_reason=word(state.incompatible_reason),
        incompatible_message=text(state.incompatible_message),
        drafts_staged=frozenset(state.drafts_staged),
        degraded_reason=word(state.degraded_reason),
        degraded_message=text(state.degraded_message),
    )


def ref_of(weights: pb.Weights) -> Ref | None:
    """None: an empty version, which the fields of AgentState each explain."""
    if not weights.version:
        return None
    if not weights.digest and weights.version == BASELINE_VERSION:
        return Ref(BASELINE_REVISION, BASELINE_VERSION)
    try:
        draft = draft_of(weights)
    except ValueError as wrong:
        raise NotUnderstood(f"draft: {weights.draft.uri[:80]!r}") from wrong
    return Ref(
        _short(weights.revision, "revision"),
        _short(weights.version, "version"),
        _short(weights.uri, "uri", MAX_URI),
        _short(weights.digest, "digest") or None,
        Metadata.IGNORE if weights.metadata == pb.METADATA_IGNORE else Metadata.REQUIRE,
        draft,
    )


def transaction_view(said: pb.Transaction) -> TransactionView:
    return TransactionView(
        txn=said.txn,
        attempt=said.attempt,
        weights=ref_of(said.weights) or Ref(BASELINE_REVISION, BASELINE_VERSION),
        phase=SwapPhase(said.phase) if said.phase in set(SwapPhase) else SwapPhase.DRAINING,
        outcome=_outcome(said.outcome),
        failure_class=_class(said.failure_class),
        reason=word(said.reason),
        message=text(said.message),
        pause_millis=millis(said.pause_millis),
    )


def staging_view(said: pb.StageProgress, revision: str = "") -> StagingView:
    """`revision`: what it was asked for, where we are the ones who asked."""
    if said.done and not said.failure_class and not _DIGEST.fullmatch(said.digest):
        return StagingView(
            *(said.uri[:MAX_URI], "", said.bytes, said.total, True),
            failure_class=FailureClass.POD,
            reason=NOT_UNDERSTOOD,
            message=f"the agent staged and named no digest: {said.digest[:80]!r}",
            revision=revision,
        )
    return StagingView(
        uri=said.uri[:MAX_URI],
        digest=said.digest if _DIGEST.fullmatch(said.digest) else "",
        bytes=said.bytes,
        total=said.total,
        done=said.done,
        failure_class=_class(said.failure_class),
        reason=word(said.reason),
        message=text(said.message),
        revision=revision,
    )


def _attempts(said: pb.Attempts) -> AttemptsView:
    failure_class = _class(said.failure_class)
    return AttemptsView(said.attempts, failure_class, word(said.reason), text(said.message))


def _outcome(said: str) -> Outcome | None:
    if not said:
        return None
    if said not in set(Outcome):
        raise NotUnderstood(f"transaction.outcome: {said[:80]!r}")
    return Outcome(said)


def word(said: str) -> str:
    """A reason: it becomes a condition's, a metric's label and an event's."""
    return said if not said or _WORD.fullmatch(said) else NOT_UNDERSTOOD


def text(said: str) -> str:
    """For people, and not more than they read."""
    return said if len(said) <= MAX_TEXT else said[: MAX_TEXT - 2] + ".."


def millis(said: float) -> float:
    """0 for what no clock measures: infinities and NaN included."""
    return said if 0 <= said < MAX_MILLIS else 0.0


def _short(said: str, field: str, most: int = MAX_NAME) -> str:
    if len(said) > most:
        raise NotUnderstood(f"{field}: {len(said)} characters")
    return said


def _class(word: str) -> FailureClass | None:
    """A class of a newer agent that we do not know counts against the pod, not against the fleet."""
    if not word:
        return None
    return FailureClass(word) if word in set(FailureClass) else FailureClass.POD
