"""One namespace of a term: its passes, its links to agents, its actions.

Made when something is woken there, and let go when nothing of ours is left.
"""

import asyncio
from typing import Final

from weightrollout.controller.act.supervisor import Supervisor
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Epochs, Guard
from weightrollout.controller.loop import Hands, Loop, Planner
from weightrollout.controller.orphans import Orphans
from weightrollout.controller.queue import WorkQueue
from weightrollout.controller.report import Reporter
from weightrollout.controller.rl_view import worker_of
from weightrollout.controller.rl_workers import Worker
from weightrollout.controller.world import World
from weightrollout.kube.picture import Key

#: The orphan pass in the queue: no object can have this name.
ORPHANS: Final = ""


class Part:
    """Everything in it goes by names alone; only the queue, which all parts share, needs the namespace too."""

    def __init__(
        self,
        world: World,
        guard: Guard,
        plan: Planner,
        queue: WorkQueue[Key],
        slots: asyncio.Semaphore,
    ) -> None:
        """`slots`: how many orphan pods are visited at once, in all parts together."""

        def wake(name: str) -> None:
            queue.wake(Key(world.namespace, name))

        def drop(name: str) -> None:
            queue.forget(Key(world.namespace, name))

        self._world = world
        self._agents = Agents(world.clock, wake, world.access)
        self._supervisor = Supervisor(wake)
        epochs, reporter = Epochs(world.rollouts, guard), Reporter(world, guard)
        hands = Hands(guard, epochs, self._agents, self._supervisor, reporter)
        self._loop = Loop(world, hands, plan, drop)
        self._orphans = Orphans(world, guard, slots)
        self._passes = 0  # that run now

    @property
    def idle(self) -> bool:
        """Nothing is there, and nothing is under way."""
        still = self._agents.idle and self._supervisor.idle and not self._passes
        return still and self._world.empty

    def workers(self, rollout: str | None) -> list[Worker]:
        """For trainers, as agents told it last; None: of all fleets here."""
        names = [each for each in self._agents.rollouts if rollout in (None, each)]
        return [
            worker_of(name, link) for name in names for link in self._agents.links(name).values()
        ]

    async def run_pass(self, name: str) -> float | None:
        """When time alone asks for the next one."""
        self._passes += 1
        try:
            if name == ORPHANS:
                return await self._orphans.run_pass()
            return await self._loop.run_pass(name)
        finally:
            self._passes -= 1

    async def close(self) -> None:
        """First no more actions, then the connections."""
        await self._supervisor.close()
        await self._agents.close()
