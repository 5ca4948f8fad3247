"""What an agent said counts only while it speaks; what it refuses is not the same as silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from agent_double import AgentDouble, served
from localcluster.waiting import eventually
from weightrollout.api.callers import Callee
from weightrollout.clock import SystemClock
from weightrollout.controller import agents as agents_module
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_line import Line
from weightrollout.controller.agents import Address, AgentLink
from weightrollout.controller.leader import Fence
from weightrollout.rollout.fleet import AgentFault, AgentView, StagingView
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent import agent_pb2_grpc as wire

FENCE = Fence("uid-1", 4)
SOON = 5.0


@asynccontextmanager
async def linked(
    target: str, expected: bool = True
) -> AsyncIterator[tuple[AgentLink, list[float]]]:
    """The link, and the loop's time at each of its changes."""
    loop, changes = asyncio.get_running_loop(), list[float]()
    address = Address("chat-0", "u", target)
    line = Line(AgentAccess(), target, Callee("ns", "u"))
    link = AgentLink(
        address, FENCE, SystemClock(), expected, lambda: changes.append(loop.time()), line
    )
    try:
        yield link, changes
    finally:
        await link.close()


def view(link: AgentLink) -> AgentView:
    assert isinstance(link.seen, AgentView)
    return link.seen


async def alive(link: AgentLink, double: AgentDouble) -> None:
    await eventually(
        lambda: isinstance(link.seen, AgentView) and double.watchers, SOON, "the agent is heard"
    )


async def more_than(changes: list[float], known: int) -> None:
    await eventually(lambda: len(changes) > known, SOON, "it is known", every_s=0.001)


async def heard_after(link: AgentLink, before: object) -> None:
    await eventually(lambda: link.seen is not before, SOON, "it was heard", every_s=0.001)


async def test_first_word_is_a_takeover_with_our_epoch() -> None:
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, _):
        await alive(link, double)
        hello = double.hellos[0]
        assert (hello.takeover, hello.fence.owner_uid, hello.fence.epoch) == (True, "uid-1", 4)


async def test_heartbeats_that_say_nothing_new_wake_nobody() -> None:
    """In a fleet of 1,000 pods there is one every two milliseconds, and a pass looks at all pods."""
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, changes):
        await alive(link, double)
        known = len(changes)
        for _ in range(3):
            before = link.seen
            double.say(pb.AgentState.FromString(double.state.SerializeToString()))
            await heard_after(link, before)
        assert len(changes) == known
        double.say(pb.AgentState(agent_version="double", ready=False))
        await more_than(changes, known)
        assert not view(link).ready


async def test_agent_that_nothing_is_started_for_is_watched_without_a_fence() -> None:
    """So that it counts as without an operator, and helps an engine that is out of service itself."""
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, _):
        await alive(link, double)
        assert double.watched[-1].fence.epoch == FENCE.epoch
        for quiet in (True, False):
            link.set_quiet(quiet)

            async def told(quiet: bool = quiet) -> bool:
                return double.watched[-1].HasField("fence") is not quiet

            await eventually(told, SOON, f"quiet is {quiet}")


async def test_change_in_the_agent_is_known_within_ten_milliseconds() -> None:
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, changes):
        await alive(link, double)
        best = 1.0
        for number in range(10):  # the best of ten: other tests run beside this one
            begun, known = asyncio.get_running_loop().time(), len(changes)
            double.say(pb.AgentState(agent_version=str(number)))
            await more_than(changes, known)
            best = min(best, changes[known] - begun)
        assert best < 0.01


async def test_agent_that_dies_is_unreachable_and_comes_back_by_itself() -> None:
    double = AgentDouble()
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        target = await first.enter_async_context(served(double))
        link, _ = await stack.enter_async_context(linked(target))
        await alive(link, double)
        await first.aclose()
        await eventually(lambda: link.seen is AgentFault.UNREACHABLE, SOON, "it is unreachable")
        await stack.enter_async_context(served(double, int(target.rpartition(":")[2])))
        await alive(link, double)


async def test_silent_agent_is_unreachable_although_its_connection_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agents_module, "SILENT_S", 0.05)
    double = AgentDouble()
    double.silent = True
    async with served(double) as target, linked(target) as (link, _):
        await eventually(lambda: link.seen is AgentFault.UNREACHABLE, SOON, "it is unreachable")
        assert "silent" in link.message


async def test_stale_epoch_is_a_refusal_that_tells_the_highest() -> None:
    double = AgentDouble()
    double.refusal = pb.Refusal(reason="StaleEpoch", message="epoch 4 is over", epoch=9)
    async with served(double) as target, linked(target) as (link, _):
        await eventually(lambda: link.heard, SOON, "it answered")
        assert (link.seen, link.stale_epoch) == (AgentFault.REFUSED, 9)


async def test_agent_that_refuses_is_not_asked_in_a_tight_loop() -> None:
    double = AgentDouble()
    double.refusal = pb.Refusal(reason="ForeignOwner", message="a swap is not settled yet")
    async with served(double) as target, linked(target):
        begun = asyncio.get_running_loop().time()
        await eventually(lambda: len(double.hellos) == 3, SOON, "it was asked three times")
        assert asyncio.get_running_loop().time() - begun >= 0.25  # rests of 0.1 and 0.2 s


async def test_new_fence_is_said_at_once_after_a_refusal() -> None:
    double = AgentDouble()
    double.refusal = pb.Refusal(reason="StaleEpoch", message="epoch 4 is over", epoch=9)
    async with served(double) as target, linked(target) as (link, _):
        await eventually(lambda: link.heard, SOON, "it answered")
        double.refusal = None
        link.set_fence(Fence("uid-1", 10))
        await alive(link, double)
        assert (double.hellos[-1].fence.epoch, link.stale_epoch) == (10, 0)


async def test_new_fence_is_said_at_once_on_a_living_connection() -> None:
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, _):
        await alive(link, double)
        link.set_fence(Fence("uid-1", 5))
        await eventually(lambda: double.hellos[-1].fence.epoch == 5, SOON, "it was said")
        await alive(link, double)


async def test_agent_that_does_not_know_hello_is_refused_and_not_unreachable() -> None:
    async with served(wire.AgentServicer()) as target, linked(target) as (link, _):  # type: ignore[abstract]
        await eventually(lambda: link.heard, SOON, "it answered")
        assert link.seen is AgentFault.REFUSED
        assert "older than this operator" in link.message


async def test_agent_of_a_young_pod_is_starting_and_not_unreachable() -> None:
    async with linked("127.0.0.1:1", expected=False) as (link, _):
        await eventually(lambda: link.heard, SOON, "it was tried")
        assert link.seen is AgentFault.STARTING


async def test_agent_that_ran_before_our_term_and_does_not_answer_is_unreachable() -> None:
    async with linked("127.0.0.1:1", expected=True) as (link, _):
        await eventually(lambda: link.heard, SOON, "it was tried")
        assert link.seen is AgentFault.UNREACHABLE


async def test_agent_that_is_never_reached_is_not_starting_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agents_module, "YOUNG_S", 0.0)
    async with linked("127.0.0.1:1", expected=False) as (link, _):
        await eventually(lambda: link.seen is AgentFault.UNREACHABLE, SOON, "it is unreachable")


async def test_scouts_find_stays_visible_after_its_staging_ended() -> None:
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, changes):
        await alive(link, double)
        found = StagingView("file:///m/", "sha256:aa", 1, 1, done=True, revision="chat-1")
        link.staged(found)
        assert view(link).staging == found
        known = len(changes)
        double.say(pb.AgentState(agent_version="next"))
        await eventually(lambda: len(changes) > known, SOON, "the next state came")
        assert view(link).staging == found


async def test_fact_that_never_shows_is_waited_for_no_longer_than_asked() -> None:
    double = AgentDouble()
    async with served(double) as target, linked(target) as (link, _):
        await alive(link, double)
        assert not await link.until(lambda seen: seen.poisoned, 0.02)
        double.say(pb.AgentState(poisoned=True))
        assert await link.until(lambda seen: seen.poisoned, SOON)
