"""Run a world as a story: a log that a person can read, compared with a golden file."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from planning.invariants import Watcher
from weightrollout.rollout.actions import Announce, Plan
from weightrollout.rollout.simulate import ToyWorld

MOST_STEPS = 3000


@dataclass
class Story:
    world: ToyWorld
    lines: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)  # pods whose swap was seen to begin

    def __post_init__(self) -> None:
        self.watcher = Watcher(self.world)
        self._head = ""
        self._answered = ""
        self._steps = 0

    def say(self, text: str) -> None:
        self.lines.append(f"--- {text}")

    def one_pass(self) -> Plan:
        plan = self.watcher.one_pass()
        self._log(plan)
        return plan

    def until(self, true: Callable[[Plan], bool]) -> Plan:
        """Pass, let one thing happen, and again. A story that never gets there fails."""
        plan = self.one_pass()
        while not true(plan):
            self._steps += 1
            assert self._steps < MOST_STEPS, f"no end: {self._tail()}"
            assert self.world.advance(), f"it stands still: {self._tail()}"
            plan = self.one_pass()
        return plan

    def for_seconds(self, seconds: float) -> Plan:
        end = self.world.now + seconds
        self.world.later(seconds, "the story goes on", lambda: None)
        return self.until(lambda _: self.world.now >= end)

    def quiet(self) -> Plan:
        """Until no event is due any more."""
        return self.until(lambda _: not self.world.events)

    def _log(self, plan: Plan) -> None:
        status = plan.status
        head = f"{status.phase} {status.updated} available {status.pods.available}"
        hold = (
            f"hold {status.hold.gate}/{status.hold.reason}: {status.hold.message}"
            if status.hold
            else ""
        )
        if status.step is not None:
            head += f" step {status.step.index}/{status.step.of}"
        news = [_line(action) for action in plan.actions]
        answer = status.last_action
        if answer is not None and answer.id != self._answered:
            self._answered = answer.id
            news.insert(0, f"{answer.outcome:<14} {answer.id}: {answer.message}")
        if not news and head + hold == self._head:
            return
        self._head = head + hold
        self.lines.append(f"{self.world.now:6g} s  {head}")
        self.lines += [f"          {line}" for line in news]
        if hold:
            self.lines.append(f"          {hold}")

    def _tail(self) -> str:
        return "\n" + "\n".join(self.lines[-40:])

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def compare(told: str, golden: Path) -> None:
    """`UPDATE_GOLDEN=1` rewrites it."""
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told)
    assert told == golden.read_text(), "run with UPDATE_GOLDEN=1 and review the difference"


def _line(action: object) -> str:
    name = type(action).__name__
    reason, message = getattr(action, "reason", ""), getattr(action, "message", "")
    if isinstance(action, Announce):
        return f"event          {reason}: {message}"
    return f"{name:<14} {reason}: {message}"
