"""An engine is asked to end by its own plugin, and by its frontend only where that one is deaf."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from modelled.clockwork import StoryLoop
from weightrollout.agent.restart import EXIT_S, HEARD_S, Restarter
from weightrollout.agent.state import Bell
from weightrollout.handover import files
from weightrollout.swap.book import Book
from weightrollout.swap.records import BASELINE


@dataclass
class Memory:
    """A journal that never fails."""

    book: Book = field(default_factory=Book)

    def put(self, new: Book) -> None:
        self.book = new

    async def sync(self) -> None:
        """It is safe already."""


@dataclass
class Engine:
    """One process, whose frontend answers until `gone`. Its plugin may be deaf."""

    loop: StoryLoop
    shutdowns: list[float] = field(default_factory=list)  # when
    gone: bool = False

    sight = SimpleNamespace(instance="e-1")

    async def fresh(self, seconds: float) -> SimpleNamespace:
        return self.sight

    def reachable(self) -> bool:
        return not self.gone

    async def shutdown(self, *, deadline_s: float) -> None:
        self.shutdowns.append(self.loop.now)


def asked(folder: Path, *events: tuple[float, Callable[[Engine], None]]) -> Engine:
    """`events`: when, in seconds, and what happens to the engine then. Ends after a minute."""
    loop = StoryLoop()
    engine: Any = Engine(loop)
    parts: dict[str, Any] = {
        "journal": Memory(),
        "board": SimpleNamespace(bell=Bell()),
        "watch": engine,
        "engine": engine,
        "clock": SimpleNamespace(monotonic=lambda: loop.now),
    }

    async def story() -> None:
        restarter = Restarter(**parts, handover=folder)
        for at, event in events:
            loop.call_later(at, event, engine)
        assert await restarter.restart(BASELINE, "Poisoned") == "e-1"
        await asyncio.sleep(60.0)
        await restarter.stop()

    loop.run_until_complete(story())
    loop.close()
    found: Engine = engine
    return found


def hear(folder: Path) -> Callable[[Engine], None]:
    return lambda _: files.exit_request(folder).unlink()


def end(engine: Engine) -> None:
    engine.gone = True


def test_frontend_that_outlives_its_core_by_seconds_is_not_asked(tmp_path: Path) -> None:
    """vLLM 0.32 logs the refusal as an ERROR, beside those of the end that was wanted."""
    assert asked(tmp_path, (0.25, hear(tmp_path)), (EXIT_S + 5.0, end)).shutdowns == []


def test_engine_whose_plugin_is_deaf_is_shut_down_by_its_frontend(tmp_path: Path) -> None:
    assert asked(tmp_path).shutdowns == [EXIT_S]


def test_engine_that_heard_and_stays_is_shut_down_by_its_frontend(tmp_path: Path) -> None:
    assert asked(tmp_path, (0.25, hear(tmp_path))).shutdowns == [HEARD_S]


def test_volume_that_takes_no_request_does_not_pass_for_a_plugin_that_heard(
    tmp_path: Path,
) -> None:
    assert asked(tmp_path / "is" / "not" / "there").shutdowns == [EXIT_S]
