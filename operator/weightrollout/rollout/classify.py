"""Put each pod in exactly one class, and say which pods are out, swapping or soaking."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weightrollout.api.spec import Draft
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    Doing,
    Fleet,
    PodMemory,
    PodView,
    Ref,
    TransactionView,
)
from weightrollout.rollout.revisions import BASELINE
from weightrollout.rollout.target import Goal

#: Ours in flight with a pod that keep it out of service, or may do so at any moment.
TAKES_OUT: Final = frozenset(
    {Doing.RESERVE, Doing.TAKE_OUT, Doing.SWAP, Doing.PUT_IN, Doing.RESTART_ENGINE}
)

#: RestartEngine is sent again when the engine has not changed within this time.
RESTART_AGAIN_S: Final = 60.0


class PodState(StrEnum):
    UPDATED = "updated"
    OUTDATED = "outdated"
    JOINING = "joining"
    FAILED = "failed"
    POISONED = "poisoned"
    UNREACHABLE = "unreachable"
    INCOMPATIBLE = "incompatible"


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of the base with all that is derived from its observation."""

    view: PodView
    agent: AgentView | None  # None: see `view.agent`
    memory: PodMemory
    work: Mapping[Doing, str]  # ours in flight, and for which revision ("": not said)
    state: PodState
    loaded: Ref | None  # proven; None: unknown
    out: bool
    engaged: bool  # reserved or swapping, by the agent's word or by ours in flight
    soak_until: float | None  # updated and in service, but not to be trusted before; None: over
    stable_fails: bool = False  # its retries for stable are used up, and the target is another one

    @property
    def name(self) -> str:
        return self.view.name

    @property
    def uid(self) -> str:
        return self.view.uid

    @property
    def in_service(self) -> bool:
        return not self.out

    @property
    def running(self) -> TransactionView | None:
        """The transaction under way."""
        transaction = self.agent.transaction if self.agent else None
        return transaction if transaction is not None and transaction.running else None

    @property
    def finished(self) -> TransactionView | None:
        """The newest transaction, when it has ended."""
        transaction = self.agent.transaction if self.agent else None
        return transaction if transaction is not None and not transaction.running else None


def classify(
    fleet: Fleet, goal: Goal, memory: Mapping[str, PodMemory], *, proven_digests: frozenset[str]
) -> tuple[Pod, ...]:
    """The base: every pod that is not terminating, in the order it was given."""
    work: dict[str, dict[Doing, str]] = {}
    for each in fleet.work:
        work.setdefault(each.pod_uid, {})[each.doing] = each.revision
    return tuple(
        _pod(
            view,
            memory[view.uid],
            work.get(view.uid, {}),
            fleet,
            goal,
            proven_digests,
        )
        for view in fleet.pods
        if not view.terminating
    )


def _pod(
    view: PodView,
    memory: PodMemory,
    work: Mapping[Doing, str],
    fleet: Fleet,
    goal: Goal,
    proven_digests: frozenset[str],
) -> Pod:
    agent = view.agent if isinstance(view.agent, AgentView) else None
    loaded = loaded_by(agent)
    out = _is_out(view, agent, work) or restart_pending(memory, fleet.now)
    state = _state(view, memory, fleet, goal, proven_digests, out=out)
    return Pod(
        view=view,
        agent=agent,
        memory=memory,
        work=work,
        state=state,
        loaded=loaded,
        out=out,
        engaged=_is_engaged(agent, work),
        soak_until=_soak_until(memory, fleet, updated=state is PodState.UPDATED and not out),
        stable_fails=_stable_fails(agent, fleet, goal),
    )


def never_ran(pod: Pod) -> bool:
    """A pod that waits for a node or an image converges before it gets traffic."""
    return pod.view.agent is AgentFault.STARTING and not pod.view.running


def loaded_by(agent: AgentView | None) -> Ref | None:
    """What the engine was proven to hold; None when nobody can say."""
    if agent is None or agent.poisoned or not agent.engine.reachable:
        return None
    if _swapping(agent):
        # Until the outcome is journaled nothing is proven, whatever is loaded by now.
        return None
    if agent.serving is not None:
        return agent.serving
    return BASELINE if agent.engine.baseline else None


def serves(agent: AgentView | None, ref: Ref) -> bool:
    """By digest, version and draft, never by a number; the baseline by its untouched engine.

    A draft that failed was tried, and is not tried again before the next revision. Who must have signed changes no
    byte, of the weights or of their draft: it is looked at when they are staged.
    """
    loaded = loaded_by(agent)
    if agent is None or loaded is None:
        return False
    if ref.is_baseline:
        told = agent.told is None or agent.told.is_baseline
        return agent.engine.baseline and told
    if ref.digest is None:
        return False
    mine, wanted = ((each.digest, each.version, _unsigned(each.draft)) for each in (loaded, ref))
    return mine == wanted


def _unsigned(draft: Draft | None) -> Draft | None:
    if draft is None or draft.signature is None:
        return draft
    return draft.model_copy(update={"signature": None})


def attempts_used_up(agent: AgentView | None, digest: str | None, retries: int, tries: int) -> bool:
    """Agents count on for ever; each time that a person asked again grants as many once more."""
    tried = agent.attempts.get(digest) if agent is not None and digest else None
    if tried is None or tried.failure_class is None:
        return False
    return tried.attempts >= (retries + 1) * tries


def _stable_fails(agent: AgentView | None, fleet: Fleet, goal: Goal) -> bool:
    stable = goal.stable
    if stable is None or stable.ref.digest == goal.target.ref.digest:
        return False
    return attempts_used_up(agent, stable.ref.digest, fleet.spec.repair.retries, stable.tries)


def _state(
    view: PodView,
    memory: PodMemory,
    fleet: Fleet,
    goal: Goal,
    proven_digests: frozenset[str],
    *,
    out: bool,
) -> PodState:
    agent = view.agent
    target = goal.target.ref
    if agent in (AgentFault.UNREACHABLE, AgentFault.REFUSED):
        return PodState.UNREACHABLE
    if agent is AgentFault.MISSING:
        return PodState.INCOMPATIBLE
    if not isinstance(agent, AgentView):
        return PodState.JOINING
    if fleet.trainer_drives and (state := _in_a_trainers_hand(agent)) is not None:
        return state
    if agent.incompatible_reason and not fleet.trainer_drives:
        return PodState.INCOMPATIBLE
    if agent.poisoned:
        return PodState.POISONED
    if serves(agent, target) and not fleet.trainer_drives:  # there it may be the baseline
        return PodState.UPDATED
    retries = fleet.spec.repair.retries
    if attempts_used_up(agent, target.digest, retries, goal.target.tries):
        return PodState.FAILED
    if target.digest in proven_digests and (
        _staging_used_up(agent, memory, target, retries)
        or refused_at_reserve(fleet, view.uid, target.revision) is not None
    ):
        return PodState.FAILED
    if fleet.trainer_drives:
        return PodState.JOINING
    if out and not _swapping(agent) and not _could_serve(agent, goal):
        return PodState.JOINING
    return PodState.OUTDATED


def _in_a_trainers_hand(agent: AgentView) -> PodState | None:
    """None: it holds base weights or nothing, and a trainer is not at it."""
    loaded = loaded_by(agent)
    if loaded is not None and not loaded.is_baseline:
        return PodState.UPDATED
    if agent.held_by_trainer:
        return PodState.JOINING
    unfit = agent.incompatible_reason and not agent.drivable and not agent.poisoned
    return PodState.INCOMPATIBLE if unfit else None


def _could_serve(agent: AgentView, goal: Goal) -> bool:
    """It holds something proven that it may answer with once it is ready.

    The baseline counts only in a fleet that has no stable version yet: later it is what a new or
    restarted engine is born with.
    """
    loaded = loaded_by(agent)
    if loaded is None:
        return False
    return not loaded.is_baseline or (goal.stable is None and serves(agent, BASELINE))


def _swapping(agent: AgentView) -> bool:
    return agent.transaction is not None and agent.transaction.running


def _staging_used_up(agent: AgentView, memory: PodMemory, target: Ref, retries: int) -> bool:
    """Others passed the check that this pod fails at staging: it is the pod (its disk, its mount)."""
    staging = memory.staging
    return (
        staging is not None
        and staging.revision == target.revision
        and staging.failure_class is not None
        and staging.failure_class is not FailureClass.ENVIRONMENT
        and staging.failures > retries
        and not agent.holds(target)
    )


def refused_at_reserve(fleet: Fleet, pod_uid: str, revision: str) -> ActionFailure | None:
    """An image that lay there was looked at with this revision's rules, and may not be loaded here.

    It was staged under other rules, such as another `spec.weights.metadata`. The same question has the
    same answer again, so no retries are counted.
    """
    failure = fleet.failure_of(Doing.RESERVE, pod_uid)
    if failure is None or failure.revision != revision:
        return None
    counts = failure.failure_class is FailureClass.WEIGHTS and failure.at > fleet.memory.retried_at
    return failure if counts else None


def restart_pending(memory: PodMemory, now: float) -> bool:
    """RestartEngine was sent, and the old instance may still answer for a moment."""
    if memory.restarted_at is None or now >= memory.restarted_at + RESTART_AGAIN_S:
        return False
    return memory.instance == memory.restarted_instance


def _is_engaged(agent: AgentView | None, work: Mapping[Doing, str]) -> bool:
    if work.keys() & {Doing.RESERVE, Doing.SWAP}:
        return True
    return agent is not None and (agent.reserved_txn is not None or _swapping(agent))


def _is_out(view: PodView, agent: AgentView | None, work: Mapping[Doing, str]) -> bool:
    """Not serving for sure, or about to stop: counted from the moment that we ask for it."""
    if not view.ready or agent is None or not agent.ready:
        return True
    if work.keys() & TAKES_OUT:
        return True
    if view.gated and view.gate_open is not True:
        return True
    return _is_engaged(agent, work)


def _soak_until(memory: PodMemory, fleet: Fleet, *, updated: bool) -> float | None:
    soak = fleet.spec.strategy.soak_seconds
    if not updated or soak == 0:
        return None
    end = max(memory.ready_since, memory.serving_since) + soak
    return end if fleet.now < end else None
