"""What `plan` promises: the operator's own planner, and nothing that nobody can know."""

from dataclasses import replace
from typing import Any

from sights import V7, V8, asked, controller_revision, pod, rollout, swapped
from weightrollout.api.disruption import DisruptionBudget
from weightrollout.cli.forecast import Forecast, Kind, Live, forecast
from weightrollout.cli.past import own_records
from weightrollout.kube.pods import Pod
from weightrollout.reading import read_spec, revision_of

Json = dict[str, Any]


def ahead(pods: list[Pod], verdict: str = "", **spec: Any) -> Forecast:
    """Of a fleet that serves v7 and is asked for v8, which has this verdict already."""
    body = rollout(phase="Complete", desired=V7, target=V7, stable=V7)
    body["spec"] |= spec
    history = [controller_revision(1, V7, "Verified")]
    spec_read = read_spec(body)
    if verdict:
        history.append(controller_revision(2, asked(), verdict, digest=""))
    records = own_records(body["metadata"], history)
    seen = Live(body, tuple(map(revision_of, records)), tuple(pods), None)
    return forecast(seen, spec_read)


def test_a_disruption_budget_without_room_stops_the_plan_and_is_named() -> None:
    body = rollout(phase="Complete", desired=V7, target=V7, stable=V7)
    records = own_records(body["metadata"], [controller_revision(1, V7, "Verified")])
    full = DisruptionBudget("chat-pdb", (), observed=True, healthy=2, desired=2, expected=2)
    seen = Live(body, tuple(map(revision_of, records)), tuple(on_v7(2)), None, (full,))
    plan = forecast(seen, read_spec(body))
    assert not plan.arrives
    assert "chat-pdb" in plan.message
    assert kinds(plan) == [(Kind.READ, 2)]


def on_v7(count: int) -> list[Pod]:
    return [swapped(f"chat-{each}", V7) for each in range(count)]


def kinds(plan: Forecast) -> list[tuple[Kind, int]]:
    return [(step.kind, len(step.pods)) for step in plan.steps]


def test_one_pod_proves_and_every_other_pod_follows_once() -> None:
    plan = ahead(on_v7(8))
    assert kinds(plan) == [(Kind.READ, 8), (Kind.PROVE, 1), (Kind.SWAP, 7)]
    assert plan.arrives
    assert (plan.serves, plan.version, plan.most_out) == ("v7", "v8", 2)


def test_pauses_are_told_where_they_are_and_the_plan_goes_on_behind_them() -> None:
    steps = [{"updated": 1}, {"pause": {}}, {"updated": "50%"}, {"pause": {"durationSeconds": 90}}]
    plan = ahead(on_v7(4), strategy={"steps": steps})
    assert [each.message for each in plan.steps if each.kind is Kind.WAIT] == [
        "step 2 of 4: until a person promotes it",
        "step 4 of 4: for 1 min 30 s",
    ]
    assert sum(len(each.pods) for each in plan.steps if each.kind in (Kind.PROVE, Kind.SWAP)) == 4
    assert plan.arrives


def test_a_fleet_that_is_there_already_has_nothing_to_do() -> None:
    pods = [swapped(f"chat-{each}", asked()) for each in range(3)]
    plan = ahead(pods, verdict="Verified")
    assert (plan.steps, plan.arrives) == ((), True)


def test_a_rejected_version_is_not_promised() -> None:
    plan = ahead(on_v7(3), verdict="Rejected")
    assert not plan.arrives
    assert not [each for each in plan.steps if each.version == "v8"]


def test_a_paused_rollout_does_not_get_there() -> None:
    plan = ahead(on_v7(3), mode="Paused")
    assert (plan.arrives, plan.phase) == (False, "Paused")
    assert any("mode Paused" in each for each in plan.warnings)


def test_a_fleet_of_one_that_leaves_its_endpoint_is_warned_about() -> None:
    assert any("a fleet of one pod" in each for each in ahead(on_v7(1)).warnings)
    kept = ahead(on_v7(1), swap={"takeOut": "None"})
    assert not any("a fleet of one pod" in each for each in kept.warnings)


def test_a_profile_is_what_is_planned_and_warned_about() -> None:
    one = ahead(on_v7(1), profile="Training")
    assert not any("a fleet of one pod" in each for each in one.warnings)
    leaves = ahead(on_v7(1), profile="Training", swap={"takeOut": "Endpoint"})
    assert any("a fleet of one pod" in each for each in leaves.warnings)
    assert ahead(on_v7(8), profile="Training").most_out == 8
    assert ahead(on_v7(8), profile="Training", strategy={"maxUnavailable": 3}).most_out == 3


def test_a_pod_without_an_agent_is_no_reason_to_promise_more() -> None:
    plan = ahead([*on_v7(2), replace(pod("chat-9", "v7"), agent_port=None)])
    assert not plan.arrives
    assert not any("chat-9" in each.pods for each in plan.steps)


def test_what_cannot_be_known_is_said() -> None:
    plan = ahead([*on_v7(2), swapped("chat-7", V7, ready=False)])
    assert any("chat-7" in each for each in plan.assumes)


def test_a_draft_of_its_own_is_no_obstacle_to_the_plan() -> None:
    weights = {
        "version": "v8",
        "uri": "file:///models/chat/v8/",
        "digest": V8["digest"],
        "draft": {"uri": "file:///models/draft/", "digest": V7["digest"]},
    }
    assert ahead(on_v7(2), weights=weights).arrives
