"""A draft is part of what a revision asks for, and never a reason to call a good pod bad."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from planning.worlds import digest, ref_of, world_of
from weightrollout.api.spec import FROM_TARGET, Draft, Weights
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Announce, Plan, Stage
from weightrollout.rollout.classify import serves
from weightrollout.rollout.fleet import AgentView, EngineView, Fleet
from weightrollout.rollout.plan import plan
from weightrollout.rollout.simulate import ToyWorld

OWN = Draft.model_validate({"uri": "file:///draft/", "digest": digest("d")})
A = ref_of("a")


def agent(**fields: Any) -> AgentView:
    return AgentView(ready=True, engine=EngineView(True, "e-1", draft=True), **fields)


@pytest.mark.parametrize(
    "wire",
    [{}, {"uri": OWN.uri}, {"digest": OWN.digest}, {"from": "Target", "uri": OWN.uri}],
)
def test_draft_has_exactly_one_form(wire: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="either from: Target, or uri and digest"):
        Draft.model_validate(wire)


def test_the_same_weights_with_another_draft_are_another_content() -> None:
    loaded = agent(serving=replace(A, draft=OWN))
    assert serves(loaded, replace(A, draft=OWN))
    assert not serves(loaded, A)
    assert not serves(loaded, replace(A, draft=FROM_TARGET))


def test_weights_are_staged_when_their_named_draft_is() -> None:
    target, both = frozenset({digest("a")}), frozenset({digest("a"), digest("d")})
    own, inside = replace(A, draft=OWN), replace(A, draft=FROM_TARGET)
    assert not agent(staged=target, drafts_staged=target).holds(own)
    assert not agent(staged=frozenset(), drafts_staged=both).holds(own)
    assert agent(staged=target, drafts_staged=both).holds(own)
    assert not agent(staged=target).holds(inside)
    assert agent(staged=target, drafts_staged=target).holds(inside)
    assert agent(staged=target).holds(A), "what nobody named is not waited for"
    without = replace(agent(staged=target), engine=EngineView(True, "e-1"))
    assert without.holds(inside), "an engine without a draft needs none"


def asked(world: ToyWorld, draft: Draft) -> ToyWorld:
    old = world.spec.weights
    assert old is not None
    given = old.model_dump(by_alias=True, exclude_none=True)
    given["draft"] = draft.model_dump(by_alias=True, exclude_none=True)
    world.change_spec(weights=Weights.model_validate(given))
    return world


def test_draft_alone_is_a_rollout_and_its_image_is_kept() -> None:
    """The same version and digest: what changed is the draft."""
    world = asked(world_of("a", 1, on="a"), OWN)
    for pod in world.pods:
        pod.staged = {digest("a")}
    world.one_pass()
    while world.advance():
        planned = world.one_pass()
        stages = [action for action in planned.actions if isinstance(action, Stage)]
        if stages:
            break
    assert stages[0].weights.draft == OWN
    assert {digest("a"), digest("d")} <= stages[0].keep
    assert planned.status.updated == "0/1"


def degraded(fleet: Fleet, reason: str, message: str = "why") -> Plan:
    first, *rest = fleet.pods
    assert isinstance(first.agent, AgentView)
    view = replace(first.agent, degraded_reason=reason, degraded_message=message)
    return plan(replace(fleet, pods=(replace(first, agent=view), *rest)))


def complete() -> Fleet:
    world = world_of("a", 2, on="a")
    planned = world.one_pass()
    while planned.status.phase is not Phase.COMPLETE and world.advance():
        planned = world.one_pass()
    return world.observe()


def ready(planned: Plan) -> tuple[str, str, str]:
    condition = next(each for each in planned.status.conditions if each.type == "Ready")
    return condition.status, condition.reason, condition.message


def test_fleet_whose_draft_failed_is_complete_and_degraded() -> None:
    planned = degraded(complete(), "DraftFailed", "TransferFailed: torn")
    status = planned.status
    assert (status.phase, status.updated, status.pods.failed) == (Phase.COMPLETE, "2/2", 0)
    assert status.message == ("all pods serve a; DraftFailed on chat-0: TransferFailed: torn")
    assert ready(planned)[:2] == ("True", "Degraded")
    assert "chat-0" in ready(planned)[2]
    (failure,) = status.failures
    assert (failure.pod, failure.failure_class, failure.reason) == ("chat-0", "Pod", "DraftFailed")
    events = [action for action in planned.actions if isinstance(action, Announce)]
    assert [(event.reason, event.pod) for event in events] == [("PodFailed", "chat-0")]
    assert planned.actions == tuple(events), "nothing is tried before the next revision"


def test_stale_draft_is_a_warning_and_no_failure() -> None:
    planned = degraded(complete(), "DraftStale", "name its weights in spec.weights.draft")
    assert planned.status.phase is Phase.COMPLETE
    assert "DraftStale on chat-0: name its weights" in planned.status.message
    assert ready(planned)[:2] == ("True", "DraftStale")
    assert planned.status.failures == ()
    assert planned.actions == ()


def test_fleet_without_trouble_says_nothing_of_drafts() -> None:
    planned = plan(complete())
    assert ready(planned)[:2] == ("True", "Complete")
    assert "raft" not in planned.status.message
