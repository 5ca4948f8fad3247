"""One agent that lies to the real planner: the pod is named, nothing spins, the rest of the fleet goes on."""

from collections import Counter

import pytest

from planning.liars import Flaps, NothingSwaps, StagesNothing, StaysReady
from planning.stories import Story
from planning.worlds import world_of
from weightrollout.api.status import Phase
from weightrollout.rollout.simulate import ToyWorld
from weightrollout.rollout.toypod import ToyPod

LIAR = "chat-1"
#: Long enough for everything else to be done, shorter than progressDeadlineSeconds.
LONG_S = 900.0


def with_liar(kind: type[ToyPod], name: str = LIAR) -> ToyWorld:
    """Three pods that serve `a`, with `b` desired."""
    world = world_of("b", 3, on="a")
    index = next(number for number, pod in enumerate(world.pods) if pod.name == name)
    honest = world.pods[index]
    world.pods[index] = kind(**vars(honest))
    return world


def told(world: ToyWorld) -> tuple[str, tuple[str, ...]]:
    hold = world.status.hold
    return (hold.reason, hold.pods) if hold is not None else ("", ())


def actions(story: Story, pod: str) -> Counter[str]:
    return Counter(line.split()[0] for line in story.lines if f": {pod} " in line)


def test_committed_swap_that_is_not_served_is_repeated_with_growing_rests() -> None:
    world = with_liar(NothingSwaps)
    story = Story(world)
    story.for_seconds(LONG_S)
    assert told(world) == ("RetryBackOff", (LIAR,))
    assert world.status.hold is not None
    assert "other weights than it committed" in world.status.hold.message
    assert actions(story, LIAR)["SwapPod"] < 12  # 5, 10, 20 ... 300 seconds apart


def test_agent_whose_commits_are_not_served_does_not_stay_the_prover() -> None:
    world = with_liar(NothingSwaps, "chat-0")
    Story(world).for_seconds(LONG_S)
    assert world.status.updated == "2/3"
    assert all(pod.loaded and pod.loaded.version == "b" for pod in world.pods[1:])


@pytest.mark.parametrize("name", ["chat-0", LIAR])
def test_staging_that_leaves_nothing_is_named_and_not_repeated_at_once(name: str) -> None:
    world = with_liar(StagesNothing, name)
    story = Story(world)
    story.for_seconds(LONG_S)
    assert told(world) == ("StagedNothing", (name,))
    assert [failure.pod for failure in world.status.failures] == [name]
    assert world.status.updated == "2/3"
    assert actions(story, name)["Stage"] < 25  # at most one a minute in the end


def test_reserved_pod_that_stays_ready_is_never_swapped_and_is_named() -> None:
    world = with_liar(StaysReady)
    story = Story(world)
    story.for_seconds(LONG_S)
    assert told(world)[1] == (LIAR,)
    assert actions(story, LIAR)["SwapPod"] == 0
    assert world.status.updated == "1/3"
    assert world.status.pods.available >= 2


@pytest.mark.parametrize("name", ["chat-0", LIAR])
def test_invariant_11_weights_that_a_pod_never_met_are_not_rejected_because_it_stays_ready(
    name: str,
) -> None:
    world = with_liar(StaysReady, name)
    story = Story(world)
    story.for_seconds(2.0 * world.spec.progress_deadline_seconds)
    assert world.status.phase is Phase.PROGRESSING
    story.until(lambda _: told(world) == ("WaitingForUnready", (name,)))


def test_pod_whose_readiness_flaps_widens_no_batch() -> None:
    """Story's watcher checks the budget in every pass."""
    world = with_liar(Flaps)
    Story(world).for_seconds(120.0)
    assert world.status.phase is Phase.COMPLETE
    assert world.status.updated == "3/3"
