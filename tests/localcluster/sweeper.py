"""End what containers left behind, many marks in one look at the process table: a hundred pods may end at once."""

from __future__ import annotations

import asyncio

from localcluster.guard import sweep


class Sweeper:
    """One for a node; the look is made in a thread."""

    def __init__(self) -> None:
        """Nothing runs until it is asked."""
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._work: asyncio.Task[None] | None = None

    async def sweep(self, mark: str) -> None:
        """Return once no process carries `mark`."""
        done = self._waiting.setdefault(mark, asyncio.get_running_loop().create_future())
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._sweep_all(), name="sweeper")
        await asyncio.shield(done)

    async def _sweep_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            await asyncio.to_thread(sweep, *batch)
            for done in batch.values():
                done.set_result(None)
