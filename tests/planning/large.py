"""Fleets of any size in one situation each, as a leader sees them in one pass of many.

Built record by record and not by the toy world, so that 5,000 pods take no longer than the pass itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from planning.worlds import ref_of, weights
from weightrollout.api.spec import Staging, Step, Strategy, WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    AttemptsView,
    Doing,
    EngineView,
    Fleet,
    PodView,
    Ref,
    Revision,
    TransactionView,
    Verdict,
    Work,
)
from weightrollout.rollout.plan import plan
from weightrollout.rollout.situation import txn_id

OWNER: Final = "rollout-uid"
OLD: Final = ref_of("a")
NEW: Final = ref_of("b")
NOW: Final = 1000.0
MESSAGE: Final = "the engine refused block 7 of model.layers.12.mlp.down_proj.weight"


def at_rest(count: int) -> Fleet:
    """All serve what is desired, and the history says so."""
    pods = tuple(_pod(index, _agent(index, NEW)) for index in range(count))
    return _settled(_fleet(pods, verified=(OLD, NEW)))


def under_way(count: int, **strategy: Any) -> Fleet:
    """Half are updated, a quarter swap or are reserved, and the rest waits for its turn."""
    return _settled(_fleet(*_halfway(count), verified=(OLD,), strategy=strategy))


def at_a_step(count: int) -> Fleet:
    """The same, with a canary's step that gives out places."""
    return under_way(count, steps=(Step(updated="60%"),))


def all_begin(count: int) -> Fleet:
    """One pod has proven what is desired, and all others are promised to a swap in this pass."""
    pods = tuple(_pod(index, _agent(index, OLD if index else NEW)) for index in range(count))
    return _fleet(pods, verified=(OLD,), strategy={"max_unavailable": "100%"})


def unreachable(count: int) -> Fleet:
    """A network that fails in the middle: no agent answers, and every call that was under way failed."""
    pods, _ = _halfway(count)
    before = _settled(_fleet(pods, verified=(OLD,)))
    silent = tuple(
        replace(pod, agent=AgentFault.UNREACHABLE, agent_message="deadline exceeded")
        for pod in before.pods
    )
    calls = (
        _failure(pod, doing, FailureClass.ENVIRONMENT)
        for pod in silent
        for doing in (Doing.STAGE, Doing.RESERVE)
    )
    return replace(before, pods=silent, failures=tuple(calls))


def failed(count: int) -> Fleet:
    """One pod vouches for the digest, and all others refuse it for good."""
    pods = tuple(
        _pod(index, _agent(index, NEW) if index == 0 else _exhausted(index))
        for index in range(count)
    )
    before = _settled(_fleet(pods, verified=(OLD,), strategy={"max_failed": "100%"}))
    calls = (
        _failure(pod, doing, FailureClass.WEIGHTS)
        for pod in pods[1:]
        for doing in (Doing.STAGE, Doing.RESERVE)
    )
    return replace(before, failures=tuple(calls))


SITUATIONS: Final[Mapping[str, Callable[[int], Fleet]]] = {
    "at rest": at_rest,
    "all begin": all_begin,
    "under way": under_way,
    "at a step": at_a_step,
    "no agent answers": unreachable,
    "every pod failed": failed,
}


def _fleet(
    pods: tuple[PodView, ...],
    work: frozenset[Work] = frozenset(),
    *,
    verified: tuple[Ref, ...],
    strategy: Mapping[str, Any] | None = None,
) -> Fleet:
    revisions = tuple(
        Revision(
            ref,
            number,
            digest_given=False,
            verdict=Verdict.VERIFIED if ref in verified else None,
        )
        for number, ref in enumerate((OLD, NEW), start=1)
    )
    spec = WeightRolloutSpec(
        weights=weights("b"),
        strategy=Strategy(**{"max_unavailable": "25%", **(strategy or {})}),
        staging=Staging(max_concurrent="100%"),
    )
    return Fleet(
        *("default", "chat", OWNER, 2, spec, WeightRolloutStatus(), revisions, pods, work),
        now=NOW,
        wall="2026-11-29T10:00:00Z",
        epoch=3,
        published=verified[-1],
    )


def _settled(fleet: Fleet) -> Fleet:
    """Some passes later: what a leader remembers and has written by then."""
    for _ in range(2):
        done = plan(fleet)
        fleet = replace(fleet, memory=done.memory, status=done.status, now=fleet.now + 1.0)
    return fleet


def _halfway(count: int) -> tuple[tuple[PodView, ...], frozenset[Work]]:
    pods, work = [], set()
    for index in range(count):
        agent = _agent(index, NEW if index < count // 2 else OLD)
        if count // 2 <= index < count * 3 // 4:
            agent = replace(agent, reserved_txn=_txn(NEW, index), ready=False)
            if index % 2:
                agent = replace(agent, transaction=_transaction(NEW, index, SwapPhase.TRANSFERRING))
            work.add(Work(Doing.SWAP if index % 2 else Doing.RESERVE, _uid(index), NEW.revision))
        pods.append(_pod(index, agent))
    return tuple(pods), frozenset(work)


def _pod(index: int, agent: AgentView) -> PodView:
    served = agent.serving
    return PodView(
        f"chat-{index}",
        _uid(index),
        agent,
        ready=agent.ready,
        version_label=served.version if served is not None else "",
        put_in_txn=_txn(served, index) if served is not None else "",
    )


def _agent(index: int, serving: Ref) -> AgentView:
    committed = _transaction(serving, index, SwapPhase.DONE, Outcome.COMMITTED)
    return AgentView(
        ready=True,
        engine=EngineView(True, f"i-{index}", "0.32.0", serving.version),
        serving=serving,
        told=serving,
        last_good=OLD,
        staged=frozenset({OLD.digest or "", NEW.digest or ""}),
        transaction=committed,
        attempts={serving.digest or "": AttemptsView(1)},
    )


def _exhausted(index: int) -> AgentView:
    undone = _transaction(NEW, index, SwapPhase.DONE, Outcome.UNDONE, FailureClass.POD)
    tried = AttemptsView(9, FailureClass.POD, "TransferFailed", MESSAGE)
    agent = _agent(index, OLD)
    return replace(agent, transaction=undone, attempts={NEW.digest or "": tried})


def _transaction(
    ref: Ref,
    index: int,
    phase: SwapPhase,
    outcome: Outcome | None = None,
    failure_class: FailureClass | None = None,
) -> TransactionView:
    why = ("TransferFailed", MESSAGE) if failure_class is not None else ("", "")
    return TransactionView(
        *(_txn(ref, index), 1, ref, phase, outcome, failure_class, *why), pause_millis=12.0
    )


def _failure(pod: PodView, doing: Doing, failure_class: FailureClass) -> ActionFailure:
    return ActionFailure(
        doing, pod.uid, failure_class, "MetadataDiffers", MESSAGE, NOW + 1.0, NEW.revision
    )


def _uid(index: int) -> str:
    return f"pod-{index}"


def _txn(ref: Ref, index: int) -> str:
    return txn_id(OWNER, ref.revision, _uid(index), 1)
