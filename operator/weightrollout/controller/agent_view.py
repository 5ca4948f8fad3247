"""Read what an agent said into the planner's own words. Pure.

Whatever was said, what comes out is small and has its own types: an agent may lie, or be of another release.
"""

import re
from typing import Final

from weightrollout.api.names import BASELINE_VERSION, CAPABILITIES
from weightrollout.api.spec import DIGEST_PATTERN, Metadata
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.rollout.fleet import (
    BASELINE_REVISION,
    AgentView,
    AttemptsView,
    EngineView,
    Ref,
    StagingView,
    TransactionView,
)
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire_draft import draft_of, signature_of

NOT_UNDERSTOOD: Final = "NotUnderstood"
MAX_NAME: Final = 256
MAX_URI: Final = 2048
MAX_TEXT: Final = 1024
MAX_MILLIS: Final = 1e9  # eleven days
#: Without it no trainer can send weights.
_UPDATE: Final = "update/update_weights"
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
_DIGEST: Final = re.compile(DIGEST_PATTERN)


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
            plugin_version=_short(state.engine.plugin_version, "engine.plugin_version"),
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
        version=_short(state.agent_version, "agent_version"),
        capabilities=CAPABILITIES & set(state.capabilities),
        signed=frozenset(state.signed),
        drivable=_UPDATE in state.trainer.routes,
        guard=word(state.trainer.guard),
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
    try:
        signature = signature_of(weights)
    except ValueError as wrong:
        raise NotUnderstood(f"signature: {weights.signature.file[:80]!r}") from wrong
    return Ref(
        _short(weights.revision, "revision"),
        _short(weights.version, "version"),
        _short(weights.uri, "uri", MAX_URI),
        _short(weights.digest, "digest") or None,
        Metadata.IGNORE if weights.metadata == pb.METADATA_IGNORE else Metadata.REQUIRE,
        draft,
        signature,
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
        bytes_per_second=max(0, said.bytes_per_second),
        limit=max(0, said.max_bytes_per_second),
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
