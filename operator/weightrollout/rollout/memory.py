"""What watching teaches: since when a pod is ready, what it serves, which failures were seen.

Every time in it is `Fleet.now` of this leader. It starts empty after a takeover: then all clocks
start again, which can only make the rollout slower, never less safe.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from weightrollout.api.reasons import DIGEST_MISMATCH, SOURCE_CHANGED, STAGED_NOTHING
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.rollout.actions import (
    Action,
    EvictPod,
    RecordRevision,
    RestartEngine,
    Shown,
    Stage,
)
from weightrollout.rollout.fleet import (
    AgentFault,
    AgentView,
    Doing,
    Fleet,
    PodMemory,
    PodView,
    Ref,
    Revision,
    StageMemory,
    StagingView,
)
from weightrollout.rollout.revisions import BASELINE, find

#: Reason of the record that takes a rejection back.
RETRIED: Final = "Retried"
#: No back-off is longer (backoff.py).
LONGEST_BACK_OFF_S: Final = 300.0


def remember_pods(fleet: Fleet) -> Mapping[str, PodMemory]:
    """Last pass's memory, brought up to date; pods that are gone are forgotten."""
    staging = {work.pod_uid for work in fleet.work if work.doing is Doing.STAGE}
    return {
        pod.uid: _remember(pod, fleet, stage_in_flight=pod.uid in staging) for pod in fleet.pods
    }


def note_actions(
    pods: Mapping[str, PodMemory], actions: Iterable[Action], now: float
) -> Mapping[str, PodMemory]:
    """Memory of what this very plan asks for: a clock must not wait for the next observation."""
    noted = dict(pods)
    for action in actions:
        match action:
            case RestartEngine():
                pod = noted[action.pod_uid]
                noted[action.pod_uid] = replace(
                    pod,
                    restarted_at=now,
                    restarted_instance=pod.instance,
                    restart_lost=False,
                    restarts=_asked_before(pod) + 1,
                )
            case EvictPod():
                noted[action.pod_uid] = replace(noted[action.pod_uid], evicted=True)
            case Shown():
                noted[action.pod_uid] = replace(noted[action.pod_uid], labelled_at=now)
            case Stage():
                old = noted[action.pod_uid].staging
                same = old is not None and old.revision == action.weights.revision
                asked = (
                    replace(old, awaited=True)
                    if same and old is not None
                    else StageMemory(action.weights.revision)
                )
                noted[action.pod_uid] = replace(noted[action.pod_uid], staging=asked)
            case RecordRevision(reason=reason) if reason == RETRIED:
                for uid, pod in noted.items():
                    noted[uid] = _begin_again(pod, action.ref.revision, now)
            case _:
                pass
    return noted


def _asked_before(pod: PodMemory) -> int:
    """How often this instance was asked to end. Calls that were lost do not count: nobody heard them."""
    if pod.restarted_at is None or pod.restarted_instance != pod.instance:
        return 0
    return pod.restarts - pod.restart_lost


def _begin_again(memory: PodMemory, revision: str, now: float) -> PodMemory:
    """A person asked for this revision again: no back-off is left of the last try, and what
    staging said then is old. The agent goes on showing it until it is asked again."""
    if f"/{revision}/" in memory.failed_txn:
        memory = replace(memory, failures=0, gave_up=0, failed_at=now - LONGEST_BACK_OFF_S)
    if memory.staging is not None and memory.staging.revision == revision:
        memory = replace(memory, staging=StageMemory(revision, awaited=False))
    return memory


def staging_of(agent: AgentView, memory: PodMemory, revision: str) -> StagingView | None:
    """The staging that was asked for this revision; None when what is shown is older.

    The same uri may have been staged for an earlier revision, with other bytes in it: its digest
    or its failure says nothing about this one.
    """
    view = agent.staging
    if view is None:
        return None
    if view.revision:
        return view if view.revision == revision else None
    asked = memory.staging is not None and memory.staging.revision == revision
    return view if asked else None


def _remember(pod: PodView, fleet: Fleet, *, stage_in_flight: bool) -> PodMemory:
    old = fleet.memory.pods.get(pod.uid)
    now = fleet.now
    new = old or PodMemory(
        ready=pod.ready,
        ready_since=now,
        serving="",
        serving_since=now,
        served=put_in_for(pod),
        labelled_at=now if pod.version_label else float("-inf"),
    )
    if new.ready != pod.ready:
        new = replace(new, ready=pod.ready, ready_since=now)
    if not isinstance(pod.agent, AgentView):
        silent = pod.agent in (AgentFault.UNREACHABLE, AgentFault.REFUSED)
        since = (new.silent_since if new.silent_since is not None else now) if silent else None
        return replace(new, silent_since=since)
    if new.silent_since is not None:
        new = replace(new, silent_since=None)
    if _restart_was_lost(new, pod.uid, fleet):
        new = replace(new, restart_lost=True)
    new = _remember_engine(new, pod.agent, now)
    new = _remember_transaction(new, pod.agent, now)
    staging = new.staging if stage_in_flight else _remember_staging(new, pod.agent, fleet)
    # Nothing is news for most pods in most passes, and copies are what a pass costs.
    return new if staging == new.staging else replace(new, staging=staging)


def _restart_was_lost(memory: PodMemory, pod_uid: str, fleet: Fleet) -> bool:
    """RestartEngine failed after it was asked for: there may be nothing to wait for."""
    asked = memory.restarted_at
    if asked is None or memory.restart_lost:
        return False
    failure = fleet.failure_of(Doing.RESTART_ENGINE, pod_uid)
    return failure is not None and failure.at >= asked


def _remember_engine(memory: PodMemory, agent: AgentView, now: float) -> PodMemory:
    instance = agent.engine.instance or memory.instance
    serving = f"{agent.serving.revision}@{instance}" if agent.serving else f"@{instance}"
    served = agent.serving.revision if agent.serving else memory.served
    reserved = agent.reserved_txn or ""
    engaged_for = _engaged_for(agent)
    seen = (instance, serving, served, reserved, engaged_for)
    if seen == (
        *(memory.instance, memory.serving, memory.served),
        *(memory.reserved_txn, memory.engaged_for),
    ):
        return memory
    since = memory.serving_since if serving == memory.serving else now
    reserved_since = memory.reserved_since if reserved == memory.reserved_txn else now
    return replace(
        memory,
        instance=instance,
        serving=serving,
        serving_since=since,
        served=served,
        reserved_txn=reserved,
        reserved_since=reserved_since,
        engaged_for=engaged_for,
    )


def put_in_for(pod: PodView) -> str:
    """The revision that it was last put in with, as its own note says; "" for none of ours."""
    parts = pod.put_in_txn.split("/")
    return parts[1] if len(parts) == 4 else ""


def _engaged_for(agent: AgentView) -> str:
    if agent.transaction is not None and agent.transaction.running:
        return agent.transaction.weights.revision
    parts = (agent.reserved_txn or "").split("/")
    return parts[1] if len(parts) == 4 else ""


def _remember_transaction(memory: PodMemory, agent: AgentView, now: float) -> PodMemory:
    transaction = agent.transaction
    if transaction is None or transaction.running:
        return memory
    if transaction.outcome is Outcome.COMMITTED and not is_contradicted(agent):
        done = replace(memory, failed_txn="", failures=0, gave_up=0)
        return done if memory.failed_txn else memory
    if transaction.txn == memory.failed_txn:
        return memory
    ended = replace(memory, failed_txn=transaction.txn, failed_at=now, gave_up=0)
    if transaction.outcome is Outcome.GAVE_UP:
        again = f"/{transaction.weights.revision}/" in memory.failed_txn
        return replace(ended, gave_up=1 + (memory.gave_up if again else 0))
    return replace(ended, failures=memory.failures + 1)


def is_contradicted(agent: AgentView) -> bool:
    """Its newest swap was committed, and in the same breath it reports other weights.

    An engine that restarted since holds its base weights, and that is no contradiction.
    """
    last = agent.transaction
    if last is None or last.outcome is not Outcome.COMMITTED:
        return False
    if agent.engine.baseline or not agent.engine.reachable:
        return False
    if agent.held_by_trainer or agent.has_trainers_weights:
        return False  # a trainer came after it
    held = agent.serving
    return held is None or (held.digest, held.version) != (
        last.weights.digest,
        last.weights.version,
    )


def _remember_staging(memory: PodMemory, agent: AgentView, fleet: Fleet) -> StageMemory | None:
    asked = memory.staging or _staging_seen_first(agent, fleet)
    if asked is None:
        return None
    revision = find(fleet.revisions, asked.revision)
    ref = revision.ref if revision is not None else None
    if ref is not None and _found(agent, ref):
        return StageMemory(asked.revision, awaited=False)
    view = staging_of(agent, replace(memory, staging=asked), asked.revision)
    if view is None or (view.failure_class is None and not view.done):
        return asked
    if view.failure_class is None and _found(agent, replace(ref or BASELINE, digest=view.digest)):
        return StageMemory(asked.revision, awaited=False)
    if not asked.awaited:
        return asked
    failure_class, reason, message = _judge_staging(view, revision)
    return StageMemory(
        asked.revision,
        awaited=False,
        failures=asked.failures + 1,
        failed_at=fleet.now,
        failure_class=failure_class,
        reason=reason,
        message=message,
    )


def _found(agent: AgentView, ref: Ref) -> bool:
    """Its image is there, and signed as it must be: one that was there before may not be."""
    return ref.digest in agent.staged and ref.proofs <= agent.signed


def _staging_seen_first(agent: AgentView, fleet: Fleet) -> StageMemory | None:
    """A staging that an earlier leader asked for, where the agent says for which revision. A failure
    of a revision that was tried again may be from before that, and is not believed."""
    view = agent.staging
    if view is None or not view.revision:
        return None
    known = find(fleet.revisions, view.revision)
    again = known is not None and known.tries > 1 and view.failure_class is not None
    return StageMemory(view.revision, awaited=not again)


def _judge_staging(view: StagingView, revision: Revision | None) -> tuple[FailureClass, str, str]:
    """Class, reason, message. A digest that a scout pinned and that is wrong now: the source changed,
    not the weights. One that ended well and left nothing says nothing about the weights either."""
    if view.failure_class is None:
        message = f"its agent says that it staged {view.digest or 'it'}, and does not hold it"
        return FailureClass.ENVIRONMENT, STAGED_NOTHING, message
    failure_class = view.failure_class
    pinned = revision is not None and revision.ref.digest is not None and not revision.digest_given
    if failure_class is FailureClass.WEIGHTS and view.reason == DIGEST_MISMATCH and pinned:
        return FailureClass.ENVIRONMENT, SOURCE_CHANGED, view.message
    return failure_class, view.reason, view.message
