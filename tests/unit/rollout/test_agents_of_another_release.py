"""An agent that cannot do what is asked is not asked: it would do half of it, and be asked for ever."""

from planning.liars import OfAnOlderRelease
from planning.worlds import good, weights, world_of
from weightrollout.api.spec import Draft
from weightrollout.rollout.actions import Reserve, Stage
from weightrollout.rollout.simulate import ToyWorld

FROM_TARGET = Draft.model_validate({"from": "Target"})


def world_with_an_old_agent(draft: Draft | None) -> ToyWorld:
    """chat-0 is first in the planner's order, and would prove."""
    world = world_of("b", 3, on="a")
    old = OfAnOlderRelease("chat-0", "pod-0")
    for name, value in vars(world.pods[0]).items():
        setattr(old, name, value)
    world.pods[0] = old
    desired = weights("b", good("b").digest).model_copy(update={"draft": draft})
    world.change_spec(weights=desired)
    return world


def asked(world: ToyWorld, seconds: float) -> set[str]:
    """Pods that were asked to stage or swap within that time."""
    found = set[str]()
    while world.now < seconds:
        actions = world.one_pass().actions
        found |= {each.pod for each in actions if isinstance(each, Stage | Reserve)}
        if not world.advance():
            break
    return found


def test_pod_with_an_agent_that_knows_no_drafts_is_named_and_the_others_go_on() -> None:
    world = world_with_an_old_agent(FROM_TARGET)
    assert asked(world, 120) == {"chat-1", "chat-2"}
    plan = world.one_pass()
    assert plan.status.pods.updated == 2
    assert plan.status.hold is not None
    assert (plan.status.hold.reason, plan.status.hold.pods) == ("AgentTooOld", ("chat-0",))
    assert "release 0.0.9" in plan.status.hold.message


def test_old_agent_is_swapped_as_ever_where_nothing_new_is_asked() -> None:
    world = world_with_an_old_agent(None)
    assert "chat-0" in asked(world, 120)
    assert world.one_pass().status.updated == "3/3"
