"""The invariants of the design, checked after every pass against the toy world's own truth.

Each is written from the rule, not from the planner's code, so that both can be wrong only apart.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from weightrollout.api.quantity import limit
from weightrollout.api.spec import Driver, Mode, TakeOut
from weightrollout.rollout.actions import (
    EvictPod,
    Plan,
    PruneRevision,
    PublishStable,
    PutIn,
    Reserve,
    RestartEngine,
    Stage,
    SwapPod,
    TakeOutPod,
)
from weightrollout.rollout.fleet import AgentFault, AgentView, Doing, Fleet, Ref, Verdict
from weightrollout.rollout.simulate import ToyWorld
from weightrollout.rollout.toybudget import ToyBudget
from weightrollout.rollout.toypod import ToyPod

OURS = {Doing.RESERVE, Doing.TAKE_OUT, Doing.SWAP, Doing.PUT_IN, Doing.RESTART_ENGINE}


@dataclass
class Watcher:
    """Follows one world from its beginning."""

    world: ToyWorld
    last_ready: dict[str, float] = field(default_factory=dict)  # by uid
    came_back: dict[str, tuple[tuple[str, int, bool], float]] = field(default_factory=dict)
    held: set[str | None] = field(default_factory=set)  # digests that some pod has ever held
    silent_since: dict[str, float] = field(default_factory=dict)  # by uid
    given_up: set[str] = field(default_factory=set)  # uids; silent for so long that others go on

    def one_pass(self) -> Plan:
        """A pass of the world, with all invariants checked."""
        world = self.world
        world.kubelet()
        fleet = world.observe()
        self._follow(fleet)
        plan = world.one_pass()
        self._budget(fleet, plan)
        self._disruptions(fleet, plan)
        self._evictions(fleet, plan)
        self._out_before_swap(plan)
        self._updated_is_true(plan)
        self._nothing_old_starts(fleet, plan)
        self._joiners_get_what_is_proven(fleet, plan)
        self._one_pod_proves()
        self._agents_alone_load_what_is_proven(plan)
        self._mode_is_obeyed(fleet, plan)
        self._step_is_a_level(plan)
        self._history_keeps_what_is_used(fleet, plan)
        self._counts_add_up(fleet, plan)
        self._ready_is_about_this_spec(fleet, plan)
        self._stable_is_true(fleet, plan)
        self._trainers_pods_are_left_alone(fleet, plan)
        return plan

    def _follow(self, fleet: Fleet) -> None:
        for pod in fleet.pods:
            toy = self._toy(pod.uid)
            self._listen(fleet, toy)
            if pod.ready or pod.uid not in self.last_ready:
                self.last_ready[pod.uid] = fleet.now
            loaded = toy.loaded.version if toy.loaded else ""
            now = (
                loaded,
                toy.instance,
                pod.ready,
            )  # a swap that changed nothing begins nothing anew
            if self.came_back.get(pod.uid, (None, 0))[0] != now:
                self.came_back[pod.uid] = (now, fleet.now)

    def _listen(self, fleet: Fleet, toy: ToyPod) -> None:
        if not toy.poisoned:
            self.given_up.discard(toy.uid)
        if toy.fault is None:
            self.silent_since.pop(toy.uid, None)
            return
        silent_for = fleet.now - self.silent_since.setdefault(toy.uid, fleet.now)
        strange = toy.uid not in fleet.memory.pods  # to a new leader
        fallen = toy.fault is not AgentFault.MISSING  # its container was there
        if strange or not fallen or silent_for >= fleet.spec.pod_deadline_seconds:
            self.given_up.add(toy.uid)

    # 1. The budget limits taking serving pods out.
    def _budget(self, fleet: Fleet, plan: Plan) -> None:
        base = [pod for pod in fleet.pods if not pod.terminating]
        allowed = limit(fleet.spec.strategy.max_unavailable, len(base), at_least=1)
        away = {pod.uid for pod in base if not self._serves_traffic(fleet, pod.uid)}
        away |= {pod.uid for pod in base if self._soaks(fleet, pod.uid, plan)}
        for action in plan.actions:
            if not isinstance(action, Reserve | RestartEngine) or action.pod_uid in away:
                continue
            away.add(action.pod_uid)
            assert len(away) <= allowed, f"invariant 1: {sorted(away)} away, {allowed} allowed"

    # No PodDisruptionBudget is overdrawn by us, counted by the pods and not by what its status says.
    def _disruptions(self, fleet: Fleet, plan: Plan) -> None:
        if fleet.spec.strategy.ignore_pdb:
            return
        endpoint = fleet.spec.swap.take_out is TakeOut.ENDPOINT
        there = {toy.uid for toy in self.world.pods if toy.ready and not toy.terminating}
        there -= {uid for uid in there if self._is_leaving(fleet, uid)}
        for action in plan.actions:
            if not isinstance(action, Reserve | RestartEngine) or action.pod_uid not in there:
                continue
            if isinstance(action, Reserve) and not endpoint:
                continue
            there.remove(action.pod_uid)
            for budget in self.world.budgets:
                if budget.view.selects(self._toy(action.pod_uid).labels):
                    self._has_room(budget, there)

    def _has_room(self, budget: ToyBudget, there: set[str]) -> None:
        selected = {toy.uid for toy in self.world.pods if budget.view.selects(toy.labels)}
        left, needed = len(there & selected), budget.desired(len(selected))
        assert left >= needed, f"{budget.name}: {left} pods are left, {needed} must be"

    def _is_leaving(self, fleet: Fleet, uid: str) -> bool:
        toy = self._toy(uid)
        ours = any(work.pod_uid == uid and work.doing in OURS for work in fleet.work)
        if ours or toy.fault is not None:
            return ours
        promised = toy.reserved_txn is not None or toy.swapping
        return promised or not toy.agent_ready(fleet.published)

    # A pod that answers anybody is never removed, nor two at a time, nor any without leave.
    def _evictions(self, fleet: Fleet, plan: Plan) -> None:
        evicted = [action for action in plan.actions if isinstance(action, EvictPod)]
        if not evicted:
            return
        assert fleet.spec.repair.allow_delete, "evicted without repair.allowDelete"
        assert fleet.spec.mode is Mode.RUN, f"evicted while {fleet.spec.mode}"
        toys = [self._toy(action.pod_uid) for action in evicted]
        going = [work.pod_uid for work in fleet.work if work.doing is Doing.EVICT]
        assert len(toys) + len(going) == 1, f"evicted together: {evicted} {going}"
        assert not toys[0].ready, f"{toys[0].name} serves and is evicted"
        assert toys[0].controlled, f"nobody replaces {toys[0].name}"

    # 2. No weight changes before Ready=False was seen and settled.
    def _out_before_swap(self, plan: Plan) -> None:
        swap = self.world.spec.swap
        for action in plan.actions:
            if isinstance(action, SwapPod) and swap.take_out is TakeOut.ENDPOINT:
                toy = self._toy(action.pod_uid)
                out_for = self.world.now - self.last_ready[action.pod_uid]
                assert not toy.ready, f"invariant 2: {action.pod} swaps while it is Ready"
                assert out_for >= swap.settle_seconds, f"invariant 2: {action.pod} did not settle"

    # Whoever holds a pod, or drives the fleet, is alone at it. Base weights serve where the operator drives.
    def _trainers_pods_are_left_alone(self, fleet: Fleet, plan: Plan) -> None:
        begun = (Reserve, SwapPod, RestartEngine, TakeOutPod, EvictPod)
        driven = fleet.spec.driver is Driver.TRAINER
        for action in plan.actions:
            if isinstance(action, PutIn) and driven:
                assert not action.serving.is_baseline, f"{action.pod} is put in with base weights"
            if not isinstance(action, begun):
                continue
            toy = self._toy(action.pod_uid)
            assert not toy.held, f"{action} while a trainer holds it: {toy.held}"
            if driven and not toy.poisoned:
                assert toy.loaded is None, f"{action} and it holds {toy.loaded}"
        if driven:
            assert not plan.status.pods.outdated, "outdated, where a trainer drives"
            assert plan.status.trainer is not None, "nobody says who drives"
            assert plan.status.trainer.drives, "the operator drives, says the status"

    def _holds_what_it_was_given(self, toy: ToyPod) -> bool:
        return toy.loaded is not None and not toy.updating

    # 3. `updated` counts only pods that hold exactly the target, in a whole engine; where a trainer drives,
    # whatever it gave them.
    def _updated_is_true(self, plan: Plan) -> None:
        driven = self.world.spec.driver is Driver.TRAINER
        target = plan.status.target
        assert target is not None
        honest = sum(
            toy.fault is None
            and toy.engine_up
            and not toy.poisoned
            and not toy.swapping
            and not toy.terminating
            and (driven or not toy.incompatible_reason)
            and (
                self._holds_what_it_was_given(toy)
                if driven
                else _is(toy.loaded, target.version, target.digest)
            )
            for toy in self.world.pods
        )
        assert plan.status.pods.updated <= honest, "invariant 3: updated counts too many"

    # 7. A newer spec supersedes: nothing starts for what is neither target nor stable.
    def _nothing_old_starts(self, fleet: Fleet, plan: Plan) -> None:
        status = plan.status
        wanted = {ref.revision for ref in (status.target, status.stable) if ref is not None}
        wanted |= {"baseline"}
        for action in plan.actions:
            if isinstance(action, Reserve | SwapPod | Stage):
                assert action.weights.revision in wanted, f"invariant 7: {action}"

    # 9. Joiners load stable, or what is proven; only the prover loads the unproven.
    def _joiners_get_what_is_proven(self, fleet: Fleet, plan: Plan) -> None:
        if not fleet.spec.strategy.prove_first:
            return
        for action in plan.actions:
            if isinstance(action, Reserve) and not self._is_proven(action.weights):
                others = [
                    toy
                    for toy in self.world.pods
                    if toy.uid != action.pod_uid
                    and toy.fault is None  # a new leader cannot know what a silent agent does
                    and _is_busy_with(toy, action.weights.revision)
                ]
                assert not others, f"invariant 9: {action.pod} loads what {others[0].name} proves"

    # 11. One bad digest touches one pod at a time until it is proven, and poisons at most one.
    def _one_pod_proves(self) -> None:
        if not self.world.spec.strategy.prove_first:
            return
        for uri, checkpoint in self.world.checkpoints.items():
            if any(_holds(toy, checkpoint.digest) for toy in self.world.pods):
                self.held.add(checkpoint.digest)
            if checkpoint.digest in self.held:
                continue  # proven, also where that pod has gone on or restarted since
            poisoned = [
                toy.name
                for toy in self.world.pods
                if toy.poisoned
                and not toy.terminating  # it was given up, another one is tried
                and toy.uid not in self.given_up
                and toy.transaction is not None
                and toy.transaction.weights.digest == checkpoint.digest
            ]
            if not self._is_proven(Ref("", "", uri, checkpoint.digest)):
                assert len(poisoned) <= 1, f"invariant 11: {poisoned} poisoned by {uri}"

    # 11. Pods that come up without an operator all load what is published, and nobody compares them.
    def _agents_alone_load_what_is_proven(self, plan: Plan) -> None:
        for action in plan.actions:
            if isinstance(action, PublishStable) and not action.stable.is_baseline:
                assert self._is_proven(action.stable), f"invariant 11: {action}"

    def _mode_is_obeyed(self, fleet: Fleet, plan: Plan) -> None:
        mode = fleet.spec.mode
        for action in plan.actions:
            if mode is Mode.SUSPENDED:
                begins = isinstance(action, Stage | Reserve | SwapPod | RestartEngine)
                assert not begins, f"Suspended, and {action} starts"
            if mode is Mode.PAUSED and isinstance(action, Reserve | RestartEngine):
                serves = self._serves_traffic(fleet, action.pod_uid)
                assert not serves, f"Paused, and the serving {action.pod} is touched"

    # No pod more begins the target than the step allows, whatever became of those before it.
    def _step_is_a_level(self, plan: Plan) -> None:
        step, target = plan.status.step, plan.status.target
        if step is None or target is None or step.index >= step.of:
            return
        base = sum(not toy.terminating for toy in self.world.pods)
        levels = [each.updated for each in self.world.spec.strategy.steps[: step.index + 1]]
        allowed = max((_share(each, base) for each in levels if each is not None), default=0)
        holding = {
            toy.uid
            for toy in self.world.pods
            if toy.fault is None
            and not toy.terminating
            and (_is_busy_with(toy, target.revision) or _serves(toy, target.revision))
        }
        begun = {
            action.pod_uid
            for action in plan.actions
            if isinstance(action, Reserve | SwapPod) and action.weights.revision == target.revision
        }
        if begun:
            there = sorted(holding | begun)
            assert len(there) <= allowed, f"step: {there} at the target, {allowed} allowed"

    # Stable, target, desired, what an abort of stable goes back to, and what a pod serves are never pruned.
    def _history_keeps_what_is_used(self, fleet: Fleet, plan: Plan) -> None:
        pruned = {action.revision for action in plan.actions if isinstance(action, PruneRevision)}
        if not pruned:
            return
        status = plan.status
        used = {ref.revision for ref in (status.target, status.stable, status.desired) if ref}
        used |= {ref.revision for toy in self.world.pods for ref in _refs_of(toy)}
        used |= {fleet.published.revision} if fleet.published else set()
        assert not pruned & used, f"history: {pruned & used} pruned while in use"
        left = [each for each in fleet.revisions if each.ref.revision not in pruned]
        newest = max(each.number for each in fleet.revisions)
        assert any(each.number == newest for each in left), "history: the newest number is lost"
        stable = status.stable.revision if status.stable is not None else ""
        verified = [
            (each.number, each.ref.revision)
            for each in fleet.revisions
            if each.verdict is Verdict.VERIFIED and each.ref.revision != stable
        ]
        assert not verified or max(verified)[1] not in pruned, "history: no way back from stable"
        idle = [each for each in left if each.ref.revision not in used]
        assert len(idle) >= fleet.spec.revision_history_limit, "history: short"

    def _counts_add_up(self, fleet: Fleet, plan: Plan) -> None:
        pods = plan.status.pods
        classes = (
            pods.updated
            + pods.outdated
            + pods.joining
            + pods.failed
            + pods.poisoned
            + pods.unreachable
            + pods.incompatible
        )
        base = sum(not pod.terminating for pod in fleet.pods)
        assert classes == pods.selected == base, "each pod is in exactly one class"
        assert pods.available + pods.out == base, "a pod is available or out"
        assert len(plan.status.conditions) == 5, "all five conditions are always there"

    # Whoever waits for Ready waits for what the spec says now, and for all pods.
    def _ready_is_about_this_spec(self, fleet: Fleet, plan: Plan) -> None:
        status = plan.status
        assert {each.observed_generation for each in status.conditions} == {fleet.generation}
        (ready,) = (each for each in status.conditions if each.type == "Ready")
        if ready.status != "True":
            return
        wanted, pods = fleet.spec.weights, status.pods
        if wanted is not None:
            assert status.target is not None
            assert status.target.version == wanted.version, f"Ready: {status.message}"
        left = pods.outdated + pods.failed + pods.poisoned + pods.unreachable + pods.incompatible
        assert not left, f"Ready, and {left} pods are left: {status.message}"
        self._every_pod_holds_the_target(fleet, plan, "Ready")

    # What the whole fleet is said to serve each pod that runs serves, where the operator drives. An abort goes
    # back to what it served once.
    def _stable_is_true(self, fleet: Fleet, plan: Plan) -> None:
        old, new = fleet.status.stable, plan.status.stable
        number = {each.ref.revision: each.number for each in fleet.revisions}
        if old is None or new is None or new != plan.status.target:
            return
        if number.get(new.revision, 0) > number.get(old.revision, 0):
            self._every_pod_holds_the_target(fleet, plan, "stable")

    def _every_pod_holds_the_target(self, fleet: Fleet, plan: Plan, said: str) -> None:
        target = plan.status.target
        if fleet.spec.driver is Driver.TRAINER or target is None:
            return
        for toy in self.world.pods:
            never_ran = toy.fault is AgentFault.STARTING and not toy.running
            if toy.terminating or never_ran:
                continue
            holds = _is(toy.loaded, target.version, target.digest)
            assert holds, f"{said}, and {toy.name} holds {toy.loaded}"
            assert toy.engine_up, f"{said}, and the engine of {toy.name} is away"

    def _serves_traffic(self, fleet: Fleet, uid: str) -> bool:
        toy = self._toy(uid)
        ours = any(work.pod_uid == uid and work.doing in OURS for work in fleet.work)
        view = next(pod for pod in fleet.pods if pod.uid == uid)
        if not isinstance(view.agent, AgentView):
            return False
        at_it = view.agent.reserved_txn is not None or (
            view.agent.transaction is not None and view.agent.transaction.running
        )
        gate = not toy.gated or view.gate_open is True
        return view.ready and view.agent.ready and gate and not at_it and not ours

    def _soaks(self, fleet: Fleet, uid: str, plan: Plan) -> bool:
        soak = fleet.spec.strategy.soak_seconds
        target = plan.status.target
        toy = self._toy(uid)
        if not soak or target is None or not _is(toy.loaded, target.version, target.digest):
            return False
        return fleet.now < self.came_back[uid][1] + soak

    def _is_proven(self, ref: Ref) -> bool:
        verified = any(
            each.verdict is Verdict.VERIFIED and each.ref.digest == ref.digest
            for each in self.world.revisions
        )
        return verified or any(_holds(toy, ref.digest) for toy in self.world.pods)

    def _toy(self, uid: str) -> ToyPod:
        return next(toy for toy in self.world.pods if toy.uid == uid)


def _share(wanted: int | str, base: int) -> int:
    if isinstance(wanted, int):
        return wanted
    return math.ceil(base * int(wanted.removesuffix("%")) / 100)


def _serves(toy: ToyPod, revision: str) -> bool:
    if toy.loaded is None or not toy.engine_up or toy.poisoned or toy.swapping:
        return False
    return toy.loaded.revision == revision


def _is(loaded: Ref | None, version: str, digest: str | None) -> bool:
    if loaded is None:
        return digest is None
    return (loaded.version, loaded.digest) == (version, digest)


def _holds(toy: ToyPod, digest: str | None) -> bool:
    committed = toy.transaction is not None and toy.transaction.outcome == "Committed"
    if committed and toy.transaction is not None and toy.transaction.weights.digest == digest:
        return True
    return toy.loaded is not None and toy.loaded.digest == digest


def _is_busy_with(toy: ToyPod, revision: str) -> bool:
    reserved = toy.reserved_txn is not None and f"/{revision}/" in toy.reserved_txn
    swapping = toy.swapping and toy.transaction is not None
    if swapping and toy.transaction is not None:
        return toy.transaction.weights.revision == revision
    return reserved and not toy.terminating


def _refs_of(toy: ToyPod) -> Iterator[Ref]:
    """All that this pod holds, goes back to or is on its way to. A silent one has only its marks."""
    if toy.loaded is not None and toy.loaded.version == toy.version_label:
        yield toy.loaded
    if toy.fault is not None:
        return
    yield from (ref for ref in (toy.loaded, toy.told, toy.last_good) if ref is not None)
    if toy.swapping and toy.transaction is not None:
        yield toy.transaction.weights
