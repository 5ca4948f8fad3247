"""The operator's pictures over one client, for tests that fill them themselves."""

from weightrollout.clock import SystemClock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.world import Cluster
from weightrollout.kube.client import Client
from weightrollout.kube.configmaps import stable_source
from weightrollout.kube.events import Events
from weightrollout.kube.pdbs import pdb_source
from weightrollout.kube.pods import MEMBERS, STRAYS, pod_source
from weightrollout.kube.podwrites import PodWriter
from weightrollout.kube.revisions import revision_source
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store
from weightrollout.metrics import Door, Metrics


def complete_cluster(client: Client) -> Cluster:
    """Its first lists count as read, and are empty. `client` may be one for all namespaces."""
    clock = SystemClock()
    found = Cluster(
        client=client,
        clock=clock,
        metrics=Metrics(Door.OPERATOR),
        rollouts=Rollouts(client),
        pods=Store(client, pod_source(client, "pods", MEMBERS)),
        strays=Store(client, pod_source(client, "strays", STRAYS)),
        revisions=Store(client, revision_source(client)),
        stables=Store(client, stable_source(client)),
        pdbs=Store(client, pdb_source(client)),
        pod_writer=PodWriter(client, clock),
        events=Events(client, clock, "test", lambda reason: None),
        access=AgentAccess(),
    )
    found.rollouts.complete = True
    for store in found.stores:
        store.synced.set()
    return found
