"""One leadership, from winning the Lease to losing it: everything that acts lives and ends here."""

import asyncio
import logging
from collections.abc import Callable

from weightrollout.controller.leader import Guard, NotLeading
from weightrollout.controller.loop import Planner
from weightrollout.controller.orphans import AT_ONCE
from weightrollout.controller.part import ORPHANS, Part
from weightrollout.controller.queue import WorkQueue
from weightrollout.controller.rl_workers import Worker
from weightrollout.controller.world import Cluster
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.errors import KubeError
from weightrollout.kube.pdbs import PdbRecord
from weightrollout.kube.picture import Key
from weightrollout.kube.pods import Pod
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.metrics import PASS_ERRORS, PASSES, QUEUE_DEPTH

log = logging.getLogger(__name__)


class Term:
    """Starts working when it is made; `end` returns when all is still."""

    def __init__(self, cluster: Cluster, guard: Guard, plan: Planner) -> None:
        self._cluster = cluster
        self._guard = guard
        self._plan = plan
        self._queue = WorkQueue(self._pass, cluster.clock, self._failed)
        self._parts: dict[str, Part] = {}  # by namespace
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._unsubscribe: list[Callable[[], None]] = [
            cluster.rollouts.subscribe(self._rollout_changed),
            cluster.pods.subscribe(self._pod_changed),
            cluster.strays.subscribe(self._stray_changed),
            cluster.revisions.subscribe(lambda before, after: self._fleet_changed(before or after)),
            cluster.stables.subscribe(lambda before, after: self._fleet_changed(before or after)),
            cluster.pdbs.subscribe(self._pdb_changed),
        ]
        self.wake_all()

    def wake_all(self) -> None:
        for key in self._cluster.rollouts.known():
            self._queue.wake(key)
        for namespace in self._cluster.namespaces:
            self._queue.wake(Key(namespace, ORPHANS))

    def workers(self, namespace: str, rollout: str | None) -> list[Worker]:
        """Engines that a trainer can drive there; none where nothing of ours is."""
        part = self._parts.get(namespace)
        return part.workers(rollout) if part is not None else []

    async def end(self) -> None:
        """First no more passes, then no more actions, then the connections."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._queue.close()
        await asyncio.gather(*(part.close() for part in self._parts.values()))

    async def _pass(self, key: Key) -> float | None:
        metrics = self._cluster.metrics
        metrics.gauge(QUEUE_DEPTH).set(self._queue.depth)
        part = self._part(key.namespace)
        with metrics.histogram(PASSES).time():
            wake_at = await part.run_pass(key.name)
        if not part.idle:
            return wake_at
        # The last one to leave may be any pass; the orphan pass is the one that is always there.
        orphans = Key(key.namespace, ORPHANS)
        if key != orphans:
            self._queue.wake(orphans)
            return wake_at
        del self._parts[key.namespace]
        self._queue.forget(orphans)
        await part.close()
        return None

    def _part(self, namespace: str) -> Part:
        if namespace not in self._parts:
            world = self._cluster.within(namespace)
            self._parts[namespace] = Part(world, self._guard, self._plan, self._queue, self._slots)
        return self._parts[namespace]

    def _failed(self, key: Key, error: Exception) -> None:
        """It is repeated with back-off. An error that nobody foresaw is told with its trace."""
        where = key if key.name != ORPHANS else f"the orphan pass in {key.namespace}"
        reason = getattr(error, "reason", "InternalError")
        self._cluster.metrics.counter(PASS_ERRORS).labels(reason).inc()
        match error:
            case NotLeading():
                log.info("%s: not leading any more", where)
            case KubeError():
                log.warning("%s: the pass is repeated: %s", where, error)
            case _:
                log.error("%s: the pass failed and is repeated", where, exc_info=error)

    def _rollout_changed(self, key: Key) -> None:
        self._queue.wake(key)
        self._queue.wake(Key(key.namespace, ORPHANS))

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        for key in {Key(pod.namespace, pod.rollout) for pod in (before, after) if pod is not None}:
            known = self._cluster.rollouts.get(key) is not None
            self._queue.wake(key if known else Key(key.namespace, ORPHANS))
        if before is not None and after is None:
            self._cluster.access.forget(before.callee)

    def _stray_changed(self, before: Pod | None, after: Pod | None) -> None:
        for pod in (before, after):
            if pod is not None:
                self._queue.wake(Key(pod.namespace, ORPHANS))
        if before is not None and after is None:
            self._cluster.access.forget(before.callee)

    def _pdb_changed(self, before: PdbRecord | None, after: PdbRecord | None) -> None:
        """Those look whose pods it selects, or selected; all there are, when it may be read now."""
        pdbs = [pdb for pdb in (before, after) if pdb is not None]
        if not pdbs:
            self.wake_all()
        elif len(pdbs) == 1 or pdbs[0].budget != pdbs[1].budget:
            pods = self._cluster.pods.on_shelf(pdbs[0].namespace).values()
            budgets = {pdb.budget for pdb in pdbs}
            touched = (pod for pod in pods if any(each.selects(pod.labels) for each in budgets))
            for rollout in {pod.rollout for pod in touched}:
                self._queue.wake(Key(pdbs[0].namespace, rollout))

    def _fleet_changed(self, record: RevisionRecord | StableRecord | None) -> None:
        if record is None:
            return
        key = Key(record.namespace, record.rollout)
        known = self._cluster.rollouts.get(key) is not None
        self._queue.wake(key if known else Key(key.namespace, ORPHANS))
