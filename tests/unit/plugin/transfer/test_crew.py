"""Threads beside the caller's: on other cores, never left behind, never quiet about a failure."""

import os
import signal
import threading
import time
import weakref
from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from weightrollout.plugin.transfer import Pair, Transfer, TransferFailed
from weightrollout.plugin.transfer.cores import (
    allowed_cores,
    cores_for_helpers,
    threads_by_default,
)
from weightrollout.plugin.transfer.crew import Crew

DEADLINE_S = 20.0
several_cores = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="needs two cores that this process may use"
)


def helpers() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("weightrollout-copy")}


def eventually(true: Callable[[], bool]) -> bool:
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > DEADLINE_S:
            return False
        threading.Event().wait(0.005)
    return True


def pinned(core: int, work: Callable[[], None]) -> None:
    """Run `work` in a thread that is pinned to one core, as vLLM pins its CPU worker."""
    errors: list[BaseException] = []

    def body() -> None:
        os.sched_setaffinity(0, {core})
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def test_every_thread_works_and_the_caller_waits_for_all() -> None:
    crew = Crew(4)
    everyone = threading.Barrier(4)

    def work() -> None:
        everyone.wait(DEADLINE_S)

    crew.run(work, stop=everyone.abort)
    assert everyone.n_waiting == 0
    assert not everyone.broken
    crew.close()


def test_threads_have_names_and_end_when_the_transfer_is_closed() -> None:
    before = helpers()
    transfer = Transfer.prepare([Pair(torch.zeros(3), torch.ones(3))], threads=3)
    ours = helpers() - before
    assert {each.name for each in ours} == {"weightrollout-copy-1", "weightrollout-copy-2"}
    transfer.close()
    assert not any(each.is_alive() for each in ours)


class Memory(bytearray):
    """Something that a weak reference can watch."""


def test_staged_memory_lives_as_long_as_the_transfer_and_threads_go_with_it() -> None:
    before = helpers()
    memory = Memory(b"\1" * 300)
    watched = weakref.ref(memory)
    pair = Pair(torch.zeros(300, dtype=torch.uint8), torch.frombuffer(memory, dtype=torch.uint8))
    transfer = Transfer.prepare([pair], threads=3)
    del memory, pair
    ours = helpers() - before
    transfer.run()
    assert watched() is not None
    del transfer
    assert eventually(lambda: not any(each.is_alive() for each in ours))
    assert watched() is None


def test_an_idle_thread_does_not_hold_what_it_worked_on() -> None:
    class Work:
        def __call__(self) -> None:
            pass

    crew, work = Crew(2), Work()
    watched = weakref.ref(work)
    crew.run(work, stop=lambda: None)
    del work
    assert eventually(lambda: watched() is None)
    crew.close()


def test_one_thread_needs_no_helper() -> None:
    before = helpers()
    transfer = Transfer.prepare([Pair(torch.zeros(3), torch.ones(3))], threads=1)
    transfer.run()
    assert helpers() == before
    transfer.close()


class BreaksIn:
    """A stage of a transfer that fails in one kind of thread, while the others still work."""

    def __init__(self, *, helper: bool) -> None:
        self.helper = helper
        self.stopped = threading.Event()
        self.ended: list[str] = []

    def run(self, crew: Crew) -> None:
        crew.run(self._work, stop=self.stopped.set)

    def _work(self) -> None:
        name = threading.current_thread().name
        if name.startswith("weightrollout-copy") == self.helper:
            raise OSError("the volume is gone")
        assert self.stopped.wait(DEADLINE_S)  # only a failure elsewhere ends this
        self.ended.append(name)


@pytest.mark.parametrize("helper", [True, False], ids=["in a helper", "in the caller"])
def test_a_failure_in_one_thread_stops_the_others_and_surfaces_in_run(helper: bool) -> None:
    stage = BreaksIn(helper=helper)
    bare = Transfer.prepare([], threads=1)
    transfer = Transfer([], bare._guard, [stage], Crew(2))
    with pytest.raises(TransferFailed, match="OSError: the volume is gone") as caught:
        transfer.run()
    assert isinstance(caught.value.__cause__, OSError)
    assert len(stage.ended) == 1
    transfer.close()
    bare.close()


def test_an_interrupted_caller_still_waits_for_threads_that_write() -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    caller, stopped, ended = threading.main_thread(), threading.Event(), threading.Event()

    def work() -> None:
        if threading.current_thread() is not caller:
            assert caller.ident is not None
            signal.pthread_kill(caller.ident, signal.SIGUSR1)
            assert stopped.wait(DEADLINE_S)
            ended.set()

    crew, handler = Crew(2), signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            crew.run(work, stop=stopped.set)
        assert ended.is_set()
        crew.run(lambda: None, stop=lambda: None)  # and is as good as new
    finally:
        signal.signal(signal.SIGUSR1, handler)
        crew.close()


@several_cores
def test_helpers_of_a_caller_that_is_pinned_to_one_core_work_on_others() -> None:
    here = min(os.sched_getaffinity(0))
    seen: dict[str, set[int]] = {}

    def work() -> None:
        seen[threading.current_thread().name] = os.sched_getaffinity(0)

    def body() -> None:
        crew = Crew(2)
        crew.run(work, stop=lambda: None)
        crew.close()

    pinned(here, body)
    assert seen.pop("weightrollout-copy-1").isdisjoint({here})
    assert list(seen.values()) == [{here}]


@several_cores
def test_a_pinned_caller_still_gets_the_threads_that_the_machine_has_cores_for() -> None:
    pinned(min(os.sched_getaffinity(0)), lambda: _assert(threads_by_default() >= 2))
    assert len(allowed_cores()) >= len(os.sched_getaffinity(0))


@several_cores
def test_a_caller_that_was_given_several_cores_keeps_its_helpers_on_them() -> None:
    mine = os.sched_getaffinity(0)
    for cores in cores_for_helpers(1):
        assert cores < mine
        assert len(cores) == len(mine) - 1


def test_more_helpers_than_cores_share_what_there_is() -> None:
    every = cores_for_helpers(2000)
    assert len(every) == 2000
    assert all(cores for cores in every)


def test_less_than_the_caller_cannot_work() -> None:
    with pytest.raises(ValueError, match="0 threads"):
        Crew(0)


def _assert(true: bool) -> None:
    assert true
