"""What lives as long as the process, leading or not: connections, pictures of the cluster, metrics.

Passes and actions are given a `World`, which is one namespace: no rule can mix the fleets of two, since
nothing of another namespace can be reached through it.
"""

from dataclasses import dataclass
from typing import Any

from weightrollout.clock import Clock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.measuring.analyst import NO_ANALYST, Analyst
from weightrollout.kube.client import Client
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.events import Events
from weightrollout.kube.pdbs import PdbRecord
from weightrollout.kube.picture import Shelf
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import PodWriter
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.kube.rollouts import Rollouts, RolloutsOf
from weightrollout.kube.store import Store
from weightrollout.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Cluster:
    """All that this operator works in: one namespace, or every one."""

    client: Client
    clock: Clock
    metrics: Metrics
    rollouts: Rollouts
    pods: Store[Pod]
    strays: Store[Pod]  # carry our version label and belong to no fleet
    revisions: Store[RevisionRecord]
    stables: Store[StableRecord]
    pdbs: Store[PdbRecord]  # everybody's: where they are, nothing need be ours
    pod_writer: PodWriter
    events: Events
    access: AgentAccess  # whom agents are and what they are shown: of all namespaces
    analyst: Analyst = NO_ANALYST

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        return (*self.ours, self.pdbs)

    @property
    def ours(self) -> tuple[Store[Any], ...]:
        """Of what is ours, or joined us."""
        return (self.pods, self.strays, self.revisions, self.stables)

    @property
    def complete(self) -> bool:
        """Every picture has had its first whole list; before that nothing may act."""
        return self.rollouts.complete and all(store.synced.is_set() for store in self.stores)

    @property
    def namespaces(self) -> set[str]:
        """Where anything of ours is."""
        found = {key.namespace for key in self.rollouts.known()}
        return found.union(*(store.namespaces() for store in self.ours))

    def within(self, namespace: str) -> "World":
        return World(
            cluster=self,
            namespace=namespace,
            client=self.client.within(namespace),
            clock=self.clock,
            metrics=self.metrics,
            rollouts=self.rollouts.within(namespace),
            pods=self.pods.within(namespace),
            strays=self.strays.within(namespace),
            revisions=self.revisions.within(namespace),
            stables=self.stables.within(namespace),
            pdbs=self.pdbs.within(namespace),
            pod_writer=self.pod_writer.within(namespace),
            events=self.events,
            access=self.access,
            analyst=self.analyst,
        )


@dataclass(frozen=True, slots=True)
class World:
    """One namespace."""

    cluster: Cluster
    namespace: str
    client: Client
    clock: Clock
    metrics: Metrics
    rollouts: RolloutsOf
    pods: Shelf[Pod]
    strays: Shelf[Pod]
    revisions: Shelf[RevisionRecord]
    stables: Shelf[StableRecord]
    pdbs: Shelf[PdbRecord]
    pod_writer: PodWriter
    events: Events
    access: AgentAccess
    analyst: Analyst

    @property
    def complete(self) -> bool:
        return self.cluster.complete

    @property
    def empty(self) -> bool:
        """Nothing of ours is there."""
        shelves: tuple[Shelf[Any], ...] = (self.pods, self.strays, self.revisions, self.stables)
        return not any(shelf.all() for shelf in shelves) and not self.rollouts.names()

    def pods_of(self, rollout: str) -> list[Pod]:
        return [pod for pod in self.pods.all() if pod.rollout == rollout and pod.counts]
