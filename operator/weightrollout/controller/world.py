"""What lives as long as the process, leading or not: connections, pictures of the cluster, metrics."""

from dataclasses import dataclass
from typing import Any

from weightrollout.clock import Clock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.kube.client import Client
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.events import Events
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import PodWriter
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store
from weightrollout.metrics import Metrics


@dataclass(frozen=True, slots=True)
class World:
    client: Client
    clock: Clock
    metrics: Metrics
    rollouts: Rollouts
    pods: Store[Pod]
    strays: Store[Pod]  # carry our version label and belong to no fleet
    revisions: Store[RevisionRecord]
    stables: Store[StableRecord]
    pod_writer: PodWriter
    events: Events
    access: AgentAccess

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        return (self.pods, self.strays, self.revisions, self.stables)

    @property
    def complete(self) -> bool:
        """Every picture has had its first whole list; before that nothing may act."""
        return self.rollouts.complete and all(store.synced.is_set() for store in self.stores)

    def pods_of(self, rollout: str) -> list[Pod]:
        return [pod for pod in self.pods.all() if pod.rollout == rollout and pod.counts]
