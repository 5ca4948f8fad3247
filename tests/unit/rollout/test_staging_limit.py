"""spec.staging.maxBytesPerSecond reaches every staging, also one that runs, and no agent that would ignore it."""

from dataclasses import replace

import pytest

from planning.liars import OfAnOlderRelease
from planning.worlds import good, weights, world_of
from weightrollout.api.quantity import bytes_of
from weightrollout.api.spec import Staging
from weightrollout.rollout.actions import Stage
from weightrollout.rollout.simulate import ToyWorld

MIB = 1 << 20
AT_ONE_MIB = Staging(max_concurrent="100%", max_bytes_per_second="1Mi")


def stagings(world: ToyWorld) -> list[tuple[str, int, bool]]:
    """Of one pass: pod, limit, whether it runs already."""
    actions = world.one_pass().actions
    return [(each.pod, each.limit, each.joins) for each in actions if isinstance(each, Stage)]


def staging_world(staging: Staging) -> ToyWorld:
    """Every pod of two is about to stage."""
    world = world_of("b", 2, on="a", staging=staging)
    world.change_spec(weights=weights("b", good("b").digest))
    for _ in range(20):
        if all(pod.staging is not None for pod in world.pods):
            break
        world.one_pass()
        if not all(pod.staging is not None for pod in world.pods):
            world.advance()
    return world


def test_each_staging_is_asked_for_with_the_limit() -> None:
    world = world_of("b", 2, on="a", staging=AT_ONE_MIB)
    world.change_spec(weights=weights("b", good("b").digest))
    asked: list[tuple[str, int, bool]] = []
    while not asked and world.now < 60:
        asked = stagings(world)
        world.advance()
    assert {(limit, joins) for _, limit, joins in asked} == {(MIB, False)}


@pytest.mark.parametrize("most", ["2Mi", 1 << 30, None])
def test_staging_that_runs_learns_of_another_limit_once(most: str | int | None) -> None:
    world = staging_world(AT_ONE_MIB)
    assert stagings(world) == []
    world.change_spec(staging=Staging(max_concurrent="100%", max_bytes_per_second=most))
    wanted = 0 if most is None else bytes_of(most)
    assert sorted(stagings(world)) == [("chat-0", wanted, True), ("chat-1", wanted, True)]
    assert stagings(world) == []  # under way
    while any(event.due <= world.now for event in world.events):
        world.advance()
    assert {pod.staging.limit for pod in world.pods if pod.staging is not None} == {wanted}
    assert stagings(world) == []


def test_status_adds_up_how_fast_the_pods_read() -> None:
    world = staging_world(AT_ONE_MIB)
    for pod, rate in zip(world.pods, (1000, 24), strict=True):
        assert pod.staging is not None
        pod.staging = replace(pod.staging, bytes_per_second=rate)
    staging = world.one_pass().status.staging
    assert staging is not None
    assert (staging.pods, staging.bytes_per_second) == (2, 1024)


def test_status_says_which_pods_wait_for_one_of_their_node_and_for_what() -> None:
    world = staging_world(Staging(max_concurrent="100%"))
    words = "waits for another pod of its node, which has read 8 bytes of the tensors"
    for number, pod in enumerate(world.pods):
        assert pod.staging is not None
        pod.staging = replace(pod.staging, message=words if number else "")
    said = world.one_pass().status.message
    assert said.endswith(f"; staging on chat-0, chat-1; chat-1 {words}")

    for pod in world.pods:
        assert pod.staging is not None
        pod.staging = replace(pod.staging, message=words)
    assert world.one_pass().status.message.endswith(f"; chat-0 {words} (and 1 more wait)")

    for pod in world.pods:
        assert pod.staging is not None
        pod.staging = replace(pod.staging, done=True)
    assert "waits" not in world.one_pass().status.message


def test_staging_of_weights_that_nobody_wants_any_more_is_left_alone() -> None:
    world = staging_world(AT_ONE_MIB)
    world.change_spec(weights=weights("c", good("c").digest), staging=Staging())
    assert [joins for _, _, joins in stagings(world) if joins] == []


def with_an_old_agent(staging: Staging) -> ToyWorld:
    world = world_of("b", 2, on="a", staging=staging)
    old = OfAnOlderRelease("chat-0", "pod-0")
    for name, value in vars(world.pods[0]).items():
        setattr(old, name, value)
    world.pods[0] = old
    world.change_spec(weights=weights("b", good("b").digest))
    return world


def asked(world: ToyWorld) -> set[str]:
    found = set[str]()
    while world.now < 120:
        found |= {pod for pod, _, _ in stagings(world)}
        if not world.advance():
            break
    return found


def test_agent_that_knows_no_limits_is_named_and_does_not_read() -> None:
    world = with_an_old_agent(AT_ONE_MIB)
    assert asked(world) == {"chat-1"}
    hold = world.one_pass().status.hold
    assert hold is not None
    assert (hold.reason, hold.pods) == ("AgentTooOld", ("chat-0",))
    assert "leave spec.staging.maxBytesPerSecond out" in hold.message


def test_agent_that_knows_no_limits_reads_as_ever_without_one() -> None:
    assert asked(with_an_old_agent(Staging())) == {"chat-0", "chat-1"}


@pytest.mark.parametrize(
    ("value", "size"), [(65536, 65536), ("64Ki", 65536), ("1M", 10**6), ("1024Gi", 1 << 40)]
)
def test_amounts_of_bytes_are_those_of_kubernetes(value: int | str, size: int) -> None:
    most = Staging(max_bytes_per_second=value).max_bytes_per_second
    assert most is not None
    assert bytes_of(most) == size


@pytest.mark.parametrize(
    "value", [0, -1, 65535, "64k", "1025Gi", "1.5Mi", "1e9", "100m", "Mi", "", True, 1.0, "1Ti"]
)
def test_amounts_that_are_none_or_out_of_bounds_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        Staging.model_validate({"maxBytesPerSecond": value})
