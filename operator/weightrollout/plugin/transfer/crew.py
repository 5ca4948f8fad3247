"""Threads on other cores than the caller's that work beside it.

They are there before they are needed, wait without using time, and end with the crew.
"""

import os
import queue
import threading
import weakref
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from weightrollout.plugin.transfer.cores import cores_for_helpers


class _Shift(NamedTuple):
    work: Callable[[], None]
    stop: Callable[[], None]
    cores: frozenset[int]


_Inbox: TypeAlias = "queue.SimpleQueue[_Shift | None]"
_Done: TypeAlias = "queue.SimpleQueue[BaseException | None]"


class Crew:
    """`threads` at work: the one that calls `run`, and the others, made here."""

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"{threads} threads: there is always the caller")
        self._inboxes: list[_Inbox] = [queue.SimpleQueue() for _ in range(threads - 1)]
        self._done: _Done = queue.SimpleQueue()
        self._helpers = [
            threading.Thread(
                target=_help,
                args=(inbox, self._done),
                name=f"weightrollout-copy-{index}",
                daemon=True,  # an engine that exits does not wait for us
            )
            for index, inbox in enumerate(self._inboxes, start=1)
        ]
        for helper in self._helpers:
            helper.start()
        self._end = weakref.finalize(self, _dismiss, self._inboxes)

    @property
    def threads(self) -> int:
        return len(self._helpers) + 1

    def run(
        self,
        work: Callable[[], None],
        *,
        stop: Callable[[], None],
        first: Callable[[], None] | None = None,
    ) -> None:
        """Every thread calls `work`, the caller after `first`; returns when all of them have.

        When one raises, `stop` is called (by any thread, at any time) so that the others return
        early, and the error is raised here. Not by two threads at once.
        """
        shares = zip(self._inboxes, cores_for_helpers(len(self._inboxes)), strict=True)
        for inbox, cores in shares:
            inbox.put(_Shift(work, stop, cores))
        error: BaseException | None = None
        try:
            if first is not None:
                first()
            work()
        except BaseException as raised:
            error = raised
            stop()
        for failure in self._ends(stop):
            error = error or failure
        if error is not None:
            raise error

    def close(self) -> None:
        """End the threads and wait for them. A crew that is forgotten ends them too."""
        self._end()
        for helper in self._helpers:
            helper.join()

    def _ends(self, stop: Callable[[], None]) -> list[BaseException]:
        """Wait for every helper, whatever comes: they write to memory that is not theirs."""
        errors: list[BaseException] = []
        missing = len(self._helpers)
        while missing:
            try:
                ended = self._done.get()
            except BaseException as interruption:  # a signal's handler raised in this thread
                errors.append(interruption)
                stop()
                continue
            missing -= 1
            if ended is not None:
                errors.append(ended)
        return errors


def _help(inbox: _Inbox, done: _Done) -> None:
    """A helper's life. Holds no reference to the crew, so that a forgotten crew is collected."""
    cores: frozenset[int] | None = None
    while (shift := inbox.get()) is not None:
        if shift.cores != cores:
            cores = shift.cores
            _move_to(cores)
        try:
            shift.work()
        except BaseException as error:
            shift.stop()
            done.put(error)
        else:
            done.put(None)
        del shift  # or an idle helper would keep the last transfer alive


def _move_to(cores: frozenset[int]) -> None:
    try:
        os.sched_setaffinity(0, cores)
    except OSError:
        pass  # slower, not wrong: the cpuset shrank, or a sandbox forbids it


def _dismiss(inboxes: list[_Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)
