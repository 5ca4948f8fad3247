"""One pass per rollout at a time, no wake lost, no storm, no pass after the end."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from localcluster.waiting import eventually
from weightrollout.clock import SystemClock
from weightrollout.controller import queue as queue_module
from weightrollout.controller.queue import WorkQueue

SOON = 5.0


class Passes:
    """Counts passes; `gate` holds them back, `then` says when to come again or raises."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.running = 0
        self.most = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.then: Callable[[str], float | None] = lambda key: None
        self.errors: list[Exception] = []
        self.queue = WorkQueue(
            self.run, SystemClock(), lambda key, error: self.errors.append(error)
        )

    async def run(self, key: str) -> float | None:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
            return self.then(key)
        finally:
            self.running -= 1
            self.done.append(key)


@pytest.fixture
async def passes() -> AsyncIterator[Passes]:
    made = Passes()
    yield made
    made.gate.set()
    await made.queue.close()


async def count(passes: Passes, number: int) -> None:
    await eventually(lambda: len(passes.done) >= number, SOON, f"{number} passes", every_s=0.001)


async def test_wakes_that_come_together_become_one_pass(passes: Passes) -> None:
    for _ in range(100):
        passes.queue.wake("chat")
    await count(passes, 1)
    await idle(passes)
    assert passes.done == ["chat"]


async def test_wake_during_a_pass_leads_to_one_more_and_never_to_two_at_once(
    passes: Passes,
) -> None:
    passes.gate.clear()
    passes.queue.wake("chat")
    await eventually(lambda: passes.running == 1, SOON, "it runs")
    passes.queue.wake("chat")
    passes.queue.wake("chat")
    passes.gate.set()
    await count(passes, 2)
    await idle(passes)
    assert (passes.done, passes.most) == (["chat", "chat"], 1)


async def test_slow_rollout_does_not_hold_up_another(passes: Passes) -> None:
    passes.gate.clear()
    passes.queue.wake("slow")
    passes.queue.wake("quick")
    await eventually(lambda: passes.running == 2, SOON, "both run")


async def test_time_alone_brings_the_next_pass(passes: Passes) -> None:
    loop = asyncio.get_running_loop()
    times = iter([loop.time() + 0.03])
    passes.then = lambda key: next(times, None)
    passes.queue.wake("chat")
    await count(passes, 2)


async def test_quiet_rollout_is_served_within_ten_milliseconds(passes: Passes) -> None:
    passes.queue.wake("chat")
    await count(passes, 1)
    await idle(passes)
    loop, begun = asyncio.get_running_loop(), asyncio.get_running_loop().time()
    served: list[float] = []
    passes.then = lambda key: served.append(loop.time())
    passes.queue.wake("chat")
    await count(passes, 2)
    assert served[0] - begun < 0.01


async def test_failed_pass_is_repeated_with_growing_pauses(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "RETRY_S", (0.01, 0.02))
    passes.then = fails_times(3)
    passes.queue.wake("chat")
    await count(passes, 4)
    await idle(passes)
    assert len(passes.errors) == 3


async def test_wakes_do_not_shorten_the_pause_after_a_failed_pass(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pass begins wakes it: with a write that is refused every time this was a storm of writes."""
    monkeypatch.setattr(queue_module, "RETRY_S", (0.1, 0.1))
    asyncio.get_running_loop().call_later(0.01, passes.queue.wake, "chat")
    passes.then = fails_times(1)
    begun = asyncio.get_running_loop().time()
    passes.queue.wake("chat")
    await count(passes, 2)
    assert asyncio.get_running_loop().time() - begun >= 0.1


async def test_wake_ends_a_long_pause_after_failed_passes(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that was away for minutes is back: whoever hears of it wakes us."""
    monkeypatch.setattr(queue_module, "RETRY_S", (60.0, 60.0))
    monkeypatch.setattr(queue_module, "DEAF_S", 0.01)
    passes.then = fails_times(1)
    passes.queue.wake("chat")
    await count(passes, 1)
    passes.queue.wake("chat")
    await count(passes, 2)


def fails_times(number: int) -> Callable[[str], float | None]:
    left = iter(range(number))

    def then(key: str) -> float | None:
        if next(left, None) is not None:
            raise RuntimeError(key)
        return None

    return then


async def test_forgotten_rollout_gets_no_pass_until_it_is_woken_again(passes: Passes) -> None:
    def forget(key: str) -> float | None:
        passes.queue.forget(key)
        return 0.0  # even though time has come

    passes.then = forget
    passes.queue.wake("chat")
    await count(passes, 1)
    await idle(passes)
    assert passes.done == ["chat"]
    passes.queue.wake("chat")
    await count(passes, 2)


async def test_rollout_that_is_forgotten_and_woken_in_its_own_pass_has_one_at_a_time(
    passes: Passes,
) -> None:
    """It was deleted and created again, which its pass finds out in the middle."""

    def forget(key: str) -> float | None:
        passes.queue.forget(key)
        passes.queue.wake(key)
        passes.then = lambda _: None
        return None

    run = passes.run

    async def forgotten_at_its_beginning(key: str) -> float | None:
        first = not passes.done and not passes.running
        if first:
            forget(key)
        return await run(key)

    passes.queue = WorkQueue(forgotten_at_its_beginning, SystemClock(), lambda key, error: None)
    passes.gate.clear()
    passes.queue.wake("chat")
    await eventually(lambda: passes.running == 1, SOON, "it runs")
    for _ in range(100):  # another one would begin now
        await asyncio.sleep(0)
    passes.gate.set()
    await count(passes, 2)
    await idle(passes)
    assert (passes.done, passes.most) == (["chat", "chat"], 1)


async def test_closed_queue_cancels_what_runs_and_starts_nothing(passes: Passes) -> None:
    passes.gate.clear()
    passes.queue.wake("chat")
    await eventually(lambda: passes.running == 1, SOON, "it runs")
    await passes.queue.close()
    assert passes.running == 0
    passes.queue.wake("chat")
    assert passes.queue.depth == 0


async def idle(passes: Passes) -> None:
    """What was due has run: a key that was woken later has had its pass, and has left no trace."""
    kept = passes.then
    passes.then = lambda key: None if key == "later" else kept(key)
    passes.queue.wake("later")
    await eventually(lambda: "later" in passes.done, SOON, "the later key ran", every_s=0.001)
    passes.queue.forget("later")
    passes.done.remove("later")
    passes.then = kept
