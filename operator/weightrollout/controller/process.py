"""The operator's process: what runs, in which order it starts, and in which order it stops.

Stop order: passes and actions, then the Lease, then the probes, then kopf.
"""

import asyncio
import logging
import os
import signal
import socket
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.api.names import OPERATOR_ACCOUNT
from weightrollout.clock import Clock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_tokens import Tokens
from weightrollout.controller.leader import Guard
from weightrollout.controller.loop import Planner
from weightrollout.controller.measuring.analyst import NO_ANALYST, Analyst
from weightrollout.controller.probes import Probes
from weightrollout.controller.rl_door import DiscoveryDoor, DiscoveryOptions
from weightrollout.controller.rl_workers import Worker
from weightrollout.controller.term import Term
from weightrollout.controller.wakeups import Wakeups
from weightrollout.controller.world import Cluster
from weightrollout.engine.tls import TlsFiles, TlsReader
from weightrollout.kube.client import EVERYWHERE, Client
from weightrollout.kube.configmaps import stable_source
from weightrollout.kube.errors import KubeError
from weightrollout.kube.events import Events
from weightrollout.kube.lease import Elector, KubeLease, LeaseTimes
from weightrollout.kube.pdbs import pdb_source
from weightrollout.kube.pods import MEMBERS, STRAYS, pod_source
from weightrollout.kube.podwrites import PodWriter
from weightrollout.kube.revisions import revision_source
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store
from weightrollout.metrics import EVENTS_DROPPED, LEADER, WATCH_STARTS, Metrics

SWEEP_S: Final = 60.0
SWEEP_RETRY_S: Final = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    http_host: str
    http_port: int  # 0: any free one
    lease: LeaseTimes
    everywhere: bool = False  # in all namespaces, not only in the client's
    account: str | None = OPERATOR_ACCOUNT  # whose tokens agents are shown; None: none
    analyst: Analyst = NO_ANALYST  # whom analyses may ask
    agent_tls: TlsFiles | None = None  # None: an agent's certificate is kept from first contact on
    discovery: DiscoveryOptions | None = None  # None: trainers find no workers here


class Process:
    """One replica. `run` returns when it was asked to stop, and raises when a part of it died."""

    def __init__(
        self, client: Client, clock: Clock, metrics: Metrics, plan: Planner, options: Options
    ) -> None:
        self._plan = plan
        self._options = options
        self._identity = f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4().hex[:8]}"
        # Lease and account lie in the operator's own namespace, wherever it works.
        reach = client.within(EVERYWHERE) if options.everywhere else client
        tokens = Tokens(client, options.account, clock) if options.account else None
        files = TlsReader(options.agent_tls, "the agents") if options.agent_tls else None
        self._cluster = _cluster(
            reach,
            clock,
            metrics,
            AgentAccess(tokens, files),
            self._identity,
            self._watched,
            self._restored,
            options.analyst,
        )
        self._elector = Elector(
            KubeLease(client.beside()),
            self._identity,
            options.lease,
            clock,
            self._lead,
            self._fenced,
        )
        self._term: Term | None = None
        self._guard: Guard | None = None  # of the term
        self._ending: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._sweep_now = asyncio.Event()
        self._wakeups = Wakeups(reach, self._cluster.rollouts)
        self._probes = Probes(metrics, self._ready)
        asked = options.discovery
        self._discovery = DiscoveryDoor(asked, client.namespace, self._workers) if asked else None

    async def run(self) -> None:
        cluster = self._cluster
        port = await self._probes.start(self._options.http_host, self._options.http_port)
        log.info("probes and metrics on %s:%d", self._options.http_host, port)
        if self._discovery is not None:
            log.info("workers for trainers on port %d", await self._discovery.start())
        parts = [
            _task("pods", cluster.pods.run()),
            _task("strays", cluster.strays.run()),
            _task("revisions", cluster.revisions.run()),
            _task("stables", cluster.stables.run()),
            _task("poddisruptionbudgets", cluster.pdbs.run()),
            _task("events", cluster.events.run()),
            _task("sweep", self._sweep()),
            _task("heartbeat", self._probes.beat()),
            _task("first lists", self._announce_lists()),
        ]
        elector = _task("elector", self._elector.run())
        wakeups = _task("kopf", self._wakeups.run())
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        asked = _task("stop", self._stop.wait())
        try:
            watched = {*parts[:-1], elector, asked, wakeups}
            ended, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel([elector])
            await self._elector.release()
            await self._end_term()
            await self._cluster.access.close()
            await _cancel([*parts, asked])
            await self._probes.stop()
            if self._discovery is not None:
                await self._discovery.stop()
            await _cancel([wakeups])
        for task in ended - {asked}:
            task.result()  # raises what it died of
            raise RuntimeError(f"{task.get_name()} ended by itself")

    async def _sweep(self) -> None:
        """Never returns. The first round says that the WeightRollouts are known."""
        while True:
            try:
                first = not self._cluster.rollouts.complete
                await self._cluster.rollouts.sweep()
                if first:
                    self._wake_all()
                pause_s = SWEEP_S
            except KubeError as lost:
                log.warning("WeightRollouts could not be listed: %s", lost)
                pause_s = SWEEP_RETRY_S
            with suppress(TimeoutError):
                await asyncio.wait_for(self._sweep_now.wait(), pause_s)
            self._sweep_now.clear()

    async def _announce_lists(self) -> None:
        for store in self._cluster.stores:
            await store.synced.wait()
        self._wake_all()

    def _watched(self, store: str) -> None:
        """A watch begins, so one has ended: what ended it may have cost us events of kopf's as well."""
        self._cluster.metrics.counter(WATCH_STARTS).labels(store).inc()
        self._sweep_now.set()

    def _restored(self) -> None:
        """All watches wait for a version that the restored server has yet to reach."""
        self._wakeups.restart()
        for store in self._cluster.stores:
            store.list_again()

    def _wake_all(self) -> None:
        if self._cluster.complete and self._term is not None:
            self._term.wake_all()

    def _lead(self) -> None:
        self._cluster.metrics.gauge(LEADER).set(1)
        self._guard = Guard(lambda: self._elector.leading, self._elector.fence)
        self._term = Term(self._cluster, self._guard, self._plan)

    def _fenced(self, why: str) -> None:
        self._cluster.metrics.gauge(LEADER).set(0)
        if self._guard is not None:
            self._guard.revoke()
        term, self._term = self._term, None
        if term is not None:
            task = _task("end of term", term.end())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end_term(self) -> None:
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _workers(self, namespace: str, rollout: str | None) -> list[Worker] | None:
        return self._term.workers(namespace, rollout) if self._term is not None else None

    def _ready(self) -> str | None:
        return None if self._cluster.complete else "the first lists are not complete"


def _cluster(
    client: Client,
    clock: Clock,
    metrics: Metrics,
    access: AgentAccess,
    identity: str,
    watched: Callable[[str], None],
    restored: Callable[[], None],
    analyst: Analyst,
) -> Cluster:
    def dropped(reason: str) -> None:
        metrics.counter(EVENTS_DROPPED).labels(reason).inc()

    metrics.gauge(LEADER).set(0)
    return Cluster(
        client=client,
        clock=clock,
        metrics=metrics,
        rollouts=Rollouts(client, restored),
        pods=Store(client, pod_source(client, "pods", MEMBERS), watched),
        strays=Store(client, pod_source(client, "strays", STRAYS), watched),
        revisions=Store(client, revision_source(client), watched),
        stables=Store(client, stable_source(client), watched),
        pdbs=Store(client, pdb_source(client), watched),
        pod_writer=PodWriter(client, clock),
        events=Events(client, clock, identity, dropped),
        access=access,
        analyst=analyst,
    )


def _task(name: str, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    return asyncio.create_task(work, name=name)


async def _cancel(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
