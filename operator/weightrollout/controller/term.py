"""One leadership, from winning the Lease to losing it: everything that acts lives and ends here."""

import logging
from collections.abc import Callable
from typing import Final

from weightrollout.controller.act.supervisor import Supervisor
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Epochs, Guard, NotLeading
from weightrollout.controller.loop import Hands, Loop, Planner
from weightrollout.controller.orphans import Orphans
from weightrollout.controller.queue import WorkQueue
from weightrollout.controller.report import Reporter
from weightrollout.controller.world import World
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.errors import KubeError
from weightrollout.kube.pods import Pod
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.metrics import PASS_ERRORS, PASSES, QUEUE_DEPTH

#: The orphan pass in the queue: no object can have this name.
ORPHANS: Final = ""

log = logging.getLogger(__name__)


class Term:
    """Starts working when it is made; `end` returns when all is still."""

    def __init__(self, world: World, guard: Guard, plan: Planner) -> None:
        self._world = world
        self._queue = WorkQueue(self._pass, world.clock, self._failed)
        supervisor = Supervisor(self._queue.wake)
        self._agents = Agents(world.clock, self._queue.wake, world.access)
        self._supervisor = supervisor
        hands = Hands(
            guard, Epochs(world.rollouts, guard), self._agents, supervisor, Reporter(world, guard)
        )
        self._loop = Loop(world, hands, plan, self._queue.forget)
        self._orphans = Orphans(world, guard)
        self._unsubscribe: list[Callable[[], None]] = [
            world.rollouts.subscribe(self._rollout_changed),
            world.pods.subscribe(self._pod_changed),
            world.strays.subscribe(self._stray_changed),
            world.revisions.subscribe(lambda before, after: self._fleet_changed(before or after)),
            world.stables.subscribe(lambda before, after: self._fleet_changed(before or after)),
        ]
        self.wake_all()

    def wake_all(self) -> None:
        for name in (*self._world.rollouts.names(), ORPHANS):
            self._queue.wake(name)

    async def end(self) -> None:
        """First no more passes, then no more actions, then the connections."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._queue.close()
        await self._supervisor.close()
        await self._agents.close()

    async def _pass(self, key: str) -> float | None:
        metrics = self._world.metrics
        metrics.gauge(QUEUE_DEPTH).set(self._queue.depth)
        with metrics.histogram(PASSES).time():
            if key == ORPHANS:
                return await self._orphans.run_pass()
            return await self._loop.run_pass(key)

    def _failed(self, key: str, error: Exception) -> None:
        """It is repeated with back-off. An error that nobody foresaw is told with its trace."""
        where = key or "the orphan pass"
        reason = getattr(error, "reason", "InternalError")
        self._world.metrics.counter(PASS_ERRORS).labels(reason).inc()
        match error:
            case NotLeading():
                log.info("%s: not leading any more", where)
            case KubeError():
                log.warning("%s: the pass is repeated: %s", where, error)
            case _:
                log.error("%s: the pass failed and is repeated", where, exc_info=error)

    def _rollout_changed(self, name: str) -> None:
        self._queue.wake(name)
        self._queue.wake(ORPHANS)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        for name in {pod.rollout for pod in (before, after) if pod is not None}:
            known = self._world.rollouts.get(name) is not None
            self._queue.wake(name if known else ORPHANS)
        if before is not None and after is None:
            self._world.access.forget(before.uid)

    def _stray_changed(self, before: Pod | None, after: Pod | None) -> None:
        self._queue.wake(ORPHANS)
        if before is not None and after is None:
            self._world.access.forget(before.uid)

    def _fleet_changed(self, record: RevisionRecord | StableRecord | None) -> None:
        if record is not None and self._world.rollouts.get(record.rollout) is not None:
            self._queue.wake(record.rollout)
