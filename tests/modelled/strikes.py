"""Boundaries, numbered as they are crossed, and what strikes at which. The log is the story."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Victim(StrEnum):
    OPERATOR = "operator"
    AGENT = "agent"
    ENGINE = "engine"
    WIRE = "wire"  # the call, or its answer, is lost
    LIAR = "liar"  # the call is answered well and was not executed


#: Who can be killed with -9.
PROCESSES: Final = frozenset({Victim.OPERATOR, Victim.AGENT, Victim.ENGINE})
NOTHING: Final[frozenset[Victim]] = frozenset()


@dataclass(frozen=True, slots=True, order=True)
class Strike:
    at: int  # number of the boundary, from 1
    victim: Victim


class Killed(BaseException):
    """This process is dead: nothing of it may run on. Not an Exception, so nobody catches it."""


class Process:
    """Tasks that die together. `kill` may be called from inside."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self._tasks: set[asyncio.Task[Any]] = set()
        self._timers: list[asyncio.TimerHandle] = []

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        def ring() -> None:
            try:
                if self.alive:
                    what()
            except Killed:
                pass  # a task would have ended here

        self._timers.append(asyncio.get_running_loop().call_later(seconds, ring))

    def kill(self) -> None:
        self.alive = False
        me = asyncio.current_task()
        for timer in self._timers:
            timer.cancel()
        for task in self._tasks:
            if task is not me:
                task.cancel()

    def check(self) -> None:
        if not self.alive:
            raise Killed(self.name)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            error = task.exception()
            if error is not None and not isinstance(error, Killed):
                asyncio.get_running_loop().call_exception_handler(
                    {"message": f"a task of {self.name} failed", "exception": error}
                )


@dataclass
class Boundaries:
    """`cross` is called at each; `strike` kills; `watch` looks at the world each time."""

    strikes: Sequence[Strike]
    strike: Callable[[Victim, str], None]
    watch: Callable[[], None]
    now: Callable[[], float]
    crossed: int = 0
    last_hit: int = 0
    _log: list[tuple[float, int, str, list[Victim]]] = field(default_factory=list)

    def say(self, text: str) -> None:
        self._log.append((self.now(), 0, text, []))

    def told(self) -> list[str]:
        """The story so far. Written out only when somebody wants to read it."""
        return [
            f"{at:8.2f} s  {number or '':4}  {text}" + "".join(f"  <== {each}" for each in struck)
            for at, number, text, struck in self._log
        ]

    def cross(self, where: str, pod: str, by: Process | None = None) -> frozenset[Victim]:
        """What strikes here and kills nobody; raises Killed where `by` is what dies."""
        self.crossed += 1
        due = [each.victim for each in self.strikes if each.at == self.crossed]
        self._log.append((self.now(), self.crossed, f"{pod} {where}", due))
        for victim in due:
            self.last_hit = self.crossed
            if victim in PROCESSES:
                self.strike(victim, pod)
        self.watch()
        if by is not None:
            by.check()
        return frozenset(due) - PROCESSES if due else NOTHING
