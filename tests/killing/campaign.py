"""Run many kills in several lanes side by side; every test waits for its own."""

import asyncio
import os
from collections.abc import Sequence
from typing import Final

from killing.lane import Ground, Lane, Outcome

#: A run mostly waits for leases, probes and starts: more lanes than cores, until they slow each other.
LANES: Final = int(os.environ.get("WEIGHTROLLOUT_CHAOS_LANES", "4"))

Kill = tuple[str, ...]


class Campaign:
    """Starts when `start` is called; `stop` ends what runs and closes the lanes."""

    def __init__(self, ground: Ground, kills: Sequence[Kill]) -> None:
        self._ground = ground
        self._waiting = list(reversed(kills))
        loop = asyncio.get_running_loop()
        self._outcomes: dict[Kill, asyncio.Future[Outcome]] = {
            kill: loop.create_future() for kill in kills
        }
        self._workers: list[asyncio.Task[None]] = []
        self._uses: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        lanes = min(LANES, len(self._waiting))
        self._workers = [asyncio.create_task(self._work(), name="lane") for _ in range(lanes)]

    async def stop(self) -> None:
        """Raises AssertionError when a lane has left a process behind.

        What runs is cancelled, but never a lane that closes: it would leave its processes behind.
        """
        self._waiting.clear()
        for use in self._uses:
            use.cancel()
        ended = await asyncio.gather(*self._workers, return_exceptions=True)
        for outcome in self._outcomes.values():
            if outcome.done():
                outcome.exception()  # seen, also where the test that asks for it did not run
        for error in ended:
            if isinstance(error, AssertionError):
                raise error

    async def outcome(self, kill: Kill) -> Outcome:
        """Raises what went wrong, with the story of the lane."""
        return await asyncio.shield(self._outcomes[kill])

    def outcomes(self) -> list[Outcome]:
        """Of the runs that went well."""
        return [
            outcome.result()
            for outcome in self._outcomes.values()
            if outcome.done() and outcome.exception() is None
        ]

    async def _work(self) -> None:
        """A lane in which a run has failed is left: what is in it says nothing about the next one."""
        while self._waiting:
            lane = Lane(self._ground)
            use = asyncio.create_task(self._use(lane), name="use of a lane")
            self._uses.add(use)
            await asyncio.wait({use})
            self._uses.discard(use)
            await lane.close()

    async def _use(self, lane: Lane) -> None:
        opened = False
        while self._waiting:
            kill = self._waiting.pop()
            try:
                if not opened:
                    await lane.open()
                    opened = True
                self._outcomes[kill].set_result(await lane.run(kill))
            except Exception as error:
                told = AssertionError(f"{' then '.join(kill)}: {error}\n{lane.story()}")
                self._outcomes[kill].set_exception(told)
                return
