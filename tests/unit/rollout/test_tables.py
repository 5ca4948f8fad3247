"""The small rules, as tables: budget, gates, classes, order, back-off."""

from dataclasses import replace

import pytest

from planning.stories import Story
from planning.worlds import digest, new_pod, ref_of, serving, spec, world_of
from weightrollout.api.reasons import HoldGate
from weightrollout.api.spec import Strategy, Swap
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.rollout.actions import (
    PublishStable,
    RecordRevision,
    Release,
    Reserve,
    Stage,
    SwapPod,
)
from weightrollout.rollout.backoff import restart_again_at, stage_again_at, swap_again_at
from weightrollout.rollout.budget import Budget, refuse_over_budget
from weightrollout.rollout.classify import RESTART_AGAIN_S, Pod, PodState, classify
from weightrollout.rollout.decide import Decision
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    AttemptsView,
    Doing,
    EngineView,
    Fleet,
    Memory,
    PodMemory,
    PodView,
    StageMemory,
    StagingView,
    TransactionView,
    Verdict,
    Work,
)
from weightrollout.rollout.gates import START_GATES
from weightrollout.rollout.memory import remember_pods
from weightrollout.rollout.order import in_order
from weightrollout.rollout.plan import plan
from weightrollout.rollout.proof import proven_digests
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.situation import attempt_of
from weightrollout.rollout.target import choose_goal

A, B = ref_of("a"), ref_of("b")
ENGINE = EngineView(reachable=True, instance="i")
DONE = TransactionView("cr/x/pod-0/1", 1, B, SwapPhase.DONE, Outcome.COMMITTED)


def agent(**fields: object) -> AgentView:
    values: dict[str, object] = {"ready": True, "engine": ENGINE, "serving": A, **fields}
    return AgentView(**values)  # type: ignore[arg-type]


def fleet_of(*pods: PodView, target: str = "b") -> Fleet:
    """A fleet in the middle of a -> `target`, whose digest is pinned."""
    world = world_of(target, 0, on="a")
    pinned = replace(serving(world_of("a", 0, on="a"), "b").revisions[1], verdict=None)
    world.revisions = (*world.revisions, pinned)
    return replace(world.observe(), pods=pods)


def pod(view: AgentView | AgentFault, *, ready: bool = True, **fields: object) -> PodView:
    return PodView("chat-0", "pod-0", view, ready, **fields)  # type: ignore[arg-type]


def state_of(view: PodView) -> PodState:
    fleet = fleet_of(view)
    goal = choose_goal(fleet)
    (one,) = classify(fleet, goal, remember_pods(fleet), proven_digests=proven_digests(fleet))
    return one.state


USED_UP = {digest("b"): AttemptsView(3, FailureClass.POD, "EngineCrashed", "it ended")}


@pytest.mark.parametrize(
    ("sentence", "view", "state"),
    [
        ("serves the target by digest and version", pod(agent(serving=B)), PodState.UPDATED),
        (
            "has the target's digest under another version",
            pod(agent(serving=replace(B, version="other"))),
            PodState.OUTDATED,
        ),
        (
            "has the target's version with another digest",
            pod(agent(serving=replace(B, digest=digest("d")))),
            PodState.OUTDATED,
        ),
        (
            "serves the target but its engine does not answer",
            pod(agent(serving=B, engine=EngineView(reachable=False))),
            PodState.OUTDATED,
        ),
        ("serves an older version", pod(agent()), PodState.OUTDATED),
        ("serves an older version and is unready", pod(agent(), ready=False), PodState.OUTDATED),
        (
            "is new and holds its base weights",
            pod(agent(serving=None, ready=False), ready=False),
            PodState.JOINING,
        ),
        ("does not run yet", pod(AgentFault.STARTING, ready=False), PodState.JOINING),
        ("has no agent", pod(AgentFault.MISSING), PodState.INCOMPATIBLE),
        (
            "has an engine that cannot be swapped",
            pod(agent(incompatible_reason="EngineTooOld")),
            PodState.INCOMPATIBLE,
        ),
        ("does not answer", pod(AgentFault.UNREACHABLE), PodState.UNREACHABLE),
        ("refuses us", pod(AgentFault.REFUSED), PodState.UNREACHABLE),
        ("is poisoned", pod(agent(poisoned=True)), PodState.POISONED),
        ("is poisoned by the target", pod(agent(serving=B, poisoned=True)), PodState.POISONED),
        ("used up its retries", pod(agent(attempts=USED_UP)), PodState.FAILED),
        (
            "is in the middle of its swap",
            pod(agent(serving=B, transaction=replace(DONE, outcome=None))),
            PodState.OUTDATED,
        ),
    ],
)
def test_a_pod_is_in_one_class(sentence: str, view: PodView, state: PodState) -> None:
    assert state_of(view) is state, sentence


@pytest.mark.parametrize(
    ("sentence", "view", "work"),
    [
        ("not Ready", pod(agent(), ready=False), None),
        ("unreachable, though Ready", pod(AgentFault.UNREACHABLE), None),
        ("its probe says no, though Ready", pod(agent(ready=False)), None),
        ("reserved", pod(agent(reserved_txn="cr/x/pod-0/1")), None),
        ("swapping with takeOut None", pod(agent(transaction=replace(DONE, outcome=None))), None),
        ("Reserve was sent and not answered", pod(agent()), Doing.RESERVE),
        ("Swap was sent", pod(agent()), Doing.SWAP),
        ("PutIn is not written yet", pod(agent(transaction=DONE)), Doing.PUT_IN),
        ("RestartEngine was sent", pod(agent()), Doing.RESTART_ENGINE),
        ("its gate is shut", pod(agent(), gated=True, gate_open=False), None),
        ("its gate was never answered", pod(agent(), gated=True), None),
    ],
)
def test_a_pod_counts_as_out(sentence: str, view: PodView, work: Doing | None) -> None:
    in_flight = frozenset({Work(work, "pod-0")}) if work else frozenset()
    planned = plan(replace(fleet_of(view), work=in_flight))
    assert (planned.status.pods.out, planned.status.pods.available) == (1, 0), sentence


def test_a_ready_pod_with_nothing_in_flight_is_available() -> None:
    assert plan(fleet_of(pod(agent()))).status.pods.available == 1


@pytest.mark.parametrize(
    ("limit", "engaged", "unready", "soaking", "reason"),
    [
        (1, (), (), (), None),
        (2, ("x",), (), (), None),
        (1, ("x",), (), (), "BudgetInUse"),
        (1, (), ("x",), (), "BudgetUsedByUnreadyPods"),
        (1, (), (), ("x",), "Soaking"),
        (2, (), ("x",), ("y",), "Soaking"),
        (2, ("x",), ("y",), (), "BudgetInUse"),
        (3, ("x",), (), ("y",), None),
    ],
)
def test_budget(
    limit: int,
    engaged: tuple[str, ...],
    unready: tuple[str, ...],
    soaking: tuple[str, ...],
    reason: str | None,
) -> None:
    refusal = refuse_over_budget(Budget(limit, limit, engaged, unready, soaking))
    assert (refusal.reason if refusal else None) == reason


@pytest.mark.parametrize(
    ("setting", "count", "reserved"),
    [("25%", 3, 1), ("25%", 4, 1), ("25%", 8, 2), ("50%", 7, 3), (0, 4, 1), (3, 4, 3)],
)
def test_percent_rounds_down_and_one_is_the_least(
    setting: int | str, count: int, reserved: int
) -> None:
    strategy = Strategy(max_unavailable=setting, prove_first=False)
    world = serving(world_of("b", count, on="a"), "a")
    fleet = fleet_of(*(each.view(A) for each in world.pods))
    staged = tuple(
        replace(view, agent=replace(view.agent, staged=frozenset({digest("b")})))
        for view in fleet.pods
        if isinstance(view.agent, AgentView)
    )
    planned = plan(replace(fleet, pods=staged, spec=spec("b", strategy=strategy)))
    assert sum(isinstance(action, Reserve) for action in planned.actions) == reserved


def test_gates_are_asked_in_this_order() -> None:
    assert [gate.__name__ for gate in START_GATES] == [
        "mode_allows",
        "rollback_goes_on",
        "engine_is_reachable",
        "no_trainer_holds",
        "agent_is_new_enough",
        "retries_are_left",
        "digest_is_pinned",
        "proof_allows",
        "weights_are_staged",
        "back_off_is_over",
    ]


def test_hold_reports_the_gates_in_this_order() -> None:
    order = [
        *("Spec", "Verdict", "Mode", "Step", "Pods", "Environment", "BackOff", "Leaving"),
        *(
            "Trainer",
            "Repair",
            "Budget",
            "Disruption",
            "Soak",
            "Traffic",
            "Proof",
            "Staging",
            "Ready",
        ),
        *("Failed", "Agent"),
    ]
    assert list(HoldGate) == order
    refusals = tuple(Refusal(HoldGate(gate), gate, "") for gate in reversed(order))
    for count in range(1, len(order) + 1):
        hold = Decision((), refusals[:count], busy=False).hold
        assert hold is not None
        assert hold.reason == refusals[count - 1].reason


def test_running_work_is_not_a_hold_but_a_person_is() -> None:
    waits = Refusal(HoldGate.BUDGET, "BudgetInUse", "")
    paused = Refusal(HoldGate.MODE, "ModePaused", "")
    assert Decision((), (waits,), busy=True).hold is None
    assert Decision((), (waits, paused), busy=True).hold == paused


def test_order_is_not_serving_then_oldest_then_name() -> None:
    world = serving(world_of("c", 4, on="a"), "b")
    world.pods[1].loaded = world.pods[1].told = A
    world.pods[3].ready = False
    fleet = world.observe()
    pods = classify(fleet, choose_goal(fleet), remember_pods(fleet), proven_digests=frozenset())
    ordered = [each.name for each in in_order(pods, fleet.revisions)]
    assert ordered == ["chat-3", "chat-1", "chat-0", "chat-2"]


@pytest.mark.parametrize(
    ("failures", "attempts", "seconds"),
    [(1, 0, 5), (1, 1, 5), (2, 2, 10), (3, 0, 20), (9, 0, 300), (99, 0, 300)],
)
def test_swaps_back_off_to_five_minutes(failures: int, attempts: int, seconds: float) -> None:
    tried = {digest("b"): AttemptsView(attempts, FailureClass.POD)}
    one = _classified(pod(agent(attempts=tried)))
    txn = f"cr/{B.revision}/pod-0/1"
    memory = replace(one.memory, failed_txn=txn, failed_at=100.0, failures=failures)
    assert swap_again_at(replace(one, memory=memory), B, Swap()) == 100 + seconds
    assert swap_again_at(replace(one, memory=memory), A, Swap()) is None


@pytest.mark.parametrize(("failures", "seconds"), [(1, 5), (2, 10), (4, 40), (5, 60), (99, 60)])
def test_staging_backs_off_to_a_minute(failures: int, seconds: float) -> None:
    one = _classified(pod(agent()))
    staging = StageMemory(
        B.revision, failures=failures, failed_at=100, failure_class=FailureClass.ENVIRONMENT
    )
    memory = replace(one.memory, staging=staging)
    assert stage_again_at(replace(one, memory=memory), B) == 100 + seconds
    assert stage_again_at(replace(one, memory=memory), A) is None


def test_terminating_pods_count_nowhere_and_are_never_reserved() -> None:
    view = pod(agent(staged=frozenset({digest("b")})), terminating=True)
    planned = plan(fleet_of(view))
    assert planned.status.pods.selected == 0
    assert not [action for action in planned.actions if isinstance(action, Reserve | Stage)]


def test_never_two_calls_of_one_kind_to_one_pod() -> None:
    view = pod(agent(staged=frozenset({digest("b")})))
    for doing in (Doing.RESERVE, Doing.SWAP, Doing.PUT_IN, Doing.RELEASE, Doing.TAKE_OUT):
        work = frozenset({Work(doing, "pod-0")})
        planned = plan(replace(fleet_of(view), work=work))
        assert not [a for a in planned.actions if isinstance(a, Reserve | SwapPod | Release)]
    staging = frozenset({Work(Doing.STAGE, "pod-0", B.revision)})
    planned = plan(replace(fleet_of(pod(agent())), work=staging))
    assert not [action for action in planned.actions if isinstance(action, Stage)]


def test_stale_failure_of_the_same_path_does_not_reject_the_next_version() -> None:
    """The path was staged for an earlier version and failed; its files were replaced since."""
    stale = StagingView(B.uri, "", 1, 1, True, FailureClass.WEIGHTS, "SizeMismatch", "too short")
    planned = plan(fleet_of(pod(agent(staging=stale))))
    assert not [a for a in planned.actions if isinstance(a, RecordRevision)]
    assert [a.weights.version for a in planned.actions if isinstance(a, Stage)] == ["b"]


def test_failed_staging_that_names_its_revision_is_believed_after_a_takeover() -> None:
    failed = StagingView(
        B.uri, "", 1, 1, True, FailureClass.WEIGHTS, "SizeMismatch", "too short", B.revision
    )
    (record,) = plan(fleet_of(pod(agent(staging=failed)))).actions[:1]
    assert isinstance(record, RecordRevision)
    assert record.reason == "SizeMismatch"


def test_what_is_staged_for_stable_target_and_undo_is_kept() -> None:
    view = pod(agent(last_good=ref_of("d")))
    (stage,) = [a for a in plan(fleet_of(view)).actions if isinstance(a, Stage)]
    assert stage.keep == {digest("a"), digest("b"), digest("d")}


def test_reservation_outlives_settling() -> None:
    view = pod(agent(staged=frozenset({digest("b")})), version_label="a")
    fleet = replace(fleet_of(view), spec=spec("b", swap=Swap(settle_seconds=600)))
    (reserve,) = [a for a in plan(fleet).actions if isinstance(a, Reserve)]
    assert reserve.ttl_s == 630
    assert reserve.txn == f"cr/{B.revision}/pod-0/1"


def test_invariant_2_reserved_pod_that_is_still_ready_is_never_swapped() -> None:
    held = agent(
        staged=frozenset({digest("b")}), reserved_txn=f"cr/{B.revision}/pod-0/1", ready=False
    )
    still_ready, unready = (pod(held, ready=ready, version_label="a") for ready in (True, False))
    fleet, swaps = fleet_of(still_ready), []
    for now, view in ((0.0, still_ready), (100.0, still_ready), (200.0, unready), (300.0, unready)):
        planned = plan(replace(fleet, pods=(view,), now=now))
        fleet = replace(fleet, memory=planned.memory)
        swaps.append(sum(isinstance(action, SwapPod) for action in planned.actions))
    assert swaps == [0, 0, 0, 1], "not while Ready, not before it settled, then at once"


def test_invariant_7_promise_for_weights_that_are_not_wanted_any_more_is_given_back() -> None:
    held = agent(
        staged=frozenset({digest("b"), digest("c")}),
        reserved_txn="cr/chat-c/pod-0/1",  # of a spec that was replaced before its swap began
        ready=False,
    )
    fleet = fleet_of(pod(held, ready=False, version_label="a"))
    freely = fleet.spec.model_copy(update={"strategy": Strategy(prove_first=False)})
    actions = plan(replace(fleet, spec=freely)).actions
    assert [action.txn for action in actions if isinstance(action, Release)] == [held.reserved_txn]
    assert not any(isinstance(action, SwapPod) for action in actions)


def test_invariant_9_pod_that_joins_loads_stable_while_another_one_proves() -> None:
    born = replace(ENGINE, baseline=True)
    staged = frozenset({digest("a"), digest("b")})
    prover = pod(
        agent(staged=staged, reserved_txn=f"cr/{B.revision}/pod-0/1", ready=False), ready=False
    )
    joiner = replace(
        pod(agent(staged=staged, serving=None, engine=born, ready=False), ready=False),
        name="chat-1",
        uid="pod-1",
    )
    reserved = [a for a in plan(fleet_of(prover, joiner)).actions if isinstance(a, Reserve)]
    assert [(each.pod, each.weights.version) for each in reserved] == [("chat-1", "a")]


def test_next_attempt_follows_the_newest_finished_transaction() -> None:
    done = replace(DONE, attempt=4)
    view = pod(agent(staged=frozenset({digest("b")}), transaction=done), version_label="a")
    (reserve,) = [a for a in plan(fleet_of(view)).actions if isinstance(a, Reserve)]
    assert reserve.txn.endswith("/5")


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "\u0663", "9" * 7, "9" * 5000, ""])
def test_attempt_that_nobody_could_have_counted_is_not_believed(last: str) -> None:
    assert attempt_of(f"cr/revision/pod/{last}") == 0


def test_stable_of_a_deleted_rollout_is_published_anew_by_the_one_that_took_its_name() -> None:
    world = world_of("a", 1, on="a")
    planned = plan(replace(world.observe(), published_by="deleted"))
    assert any(isinstance(action, PublishStable) for action in planned.actions)
    planned = plan(replace(world.observe(), published_by="cr"))
    assert not any(isinstance(action, PublishStable) for action in planned.actions)


def test_published_version_that_the_history_rejected_is_nothing_to_go_back_to() -> None:
    world = world_of("b", 1, on="a")
    (known,) = world.revisions
    world.revisions = (replace(known, verdict=Verdict.REJECTED),)
    assert choose_goal(world.observe()).stable is None


def test_prover_that_fell_silent_in_mid_swap_keeps_others_waiting_until_its_deadline() -> None:
    world = world_of("b", 3, on="a", strategy=Strategy(max_unavailable=3))
    while not world.pods[0].swapping:
        world.one_pass()
        world.advance()
    world.one_pass()
    world.pods[0].fault = AgentFault.UNREACHABLE
    silent_at = world.now
    while not any(other.reserved_txn for other in world.pods[1:]):
        world.one_pass()
        assert world.advance()
    assert world.now >= silent_at + world.spec.pod_deadline_seconds


def test_new_pod_is_not_the_prover_while_its_engine_is_loading() -> None:
    world = world_of("b", 2, on="a", strategy=Strategy(max_unavailable=2))
    world.pods.append(new_pod(2, engine_up=False))
    while not any(each.reserved_txn for each in world.pods):
        world.one_pass()
        assert world.advance()
    assert world.pods[2].reserved_txn is None


def test_one_bad_node_never_rolls_back_the_fleet() -> None:
    world = world_of("b", 3, on="a", progress_deadline_seconds=60)
    world.pods.append(new_pod(3, engine_up=False))
    story = Story(world)
    story.until(lambda planned: planned.status.hold is not None)
    story.for_seconds(300)
    assert world.status.phase == "Progressing"
    assert world.status.hold is not None
    assert world.status.hold.reason == "BudgetUsedByUnreadyPods"


def _classified(view: PodView) -> Pod:
    fleet = fleet_of(view)
    (one,) = classify(fleet, choose_goal(fleet), remember_pods(fleet), proven_digests=frozenset())
    return one


@pytest.mark.parametrize(("asked_at", "lost"), [(10.0, True), (11.0, True), (12.0, False)])
def test_restart_that_was_lost_with_its_agent_is_not_waited_for(
    asked_at: float, lost: bool
) -> None:
    """Else a poisoned pod is out for a minute because its agent died at the wrong moment."""
    failure = ActionFailure(
        Doing.RESTART_ENGINE, "pod-0", FailureClass.ENVIRONMENT, "AgentUnreachable", "cut", 11.0
    )
    asked = PodMemory(True, 0.0, "", 0.0, restarted_at=asked_at, restarted_instance="i")
    fleet = fleet_of(pod(agent(poisoned=True), ready=False))
    fleet = replace(fleet, now=13.0, failures=(failure,), memory=Memory(pods={"pod-0": asked}))
    goal = choose_goal(fleet)
    (one,) = classify(fleet, goal, remember_pods(fleet), proven_digests=proven_digests(fleet))
    assert restart_again_at(one) == (None if lost else asked_at + RESTART_AGAIN_S)
    assert one.out, "the agent may have heard it all the same"
