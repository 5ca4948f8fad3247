"""Have a pod removed by the Eviction API, which asks PodDisruptionBudgets first. There is no plain delete of pods."""

from typing import Final

from weightrollout.api.reasons import HoldReason
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import Forbidden, NamespaceEnds, NotFound, Refused, TooManyRequests
from weightrollout.kube.pods import Pod, pods_path

_RIGHT: Final = "the chart's rbac.evictPods gives the operator the right to evict"


class EvictionRefused(Refused):
    """A PodDisruptionBudget is in the way, or the API server is busy."""

    reason = HoldReason.EVICTION_REFUSED


class EvictionForbidden(Refused):
    reason = HoldReason.EVICTION_FORBIDDEN


async def evict_pod(client: Client, pod: Pod) -> None:
    """Of exactly this state: raises Conflict where the pod was written since, and EvictionRefused,
    EvictionForbidden. One that is gone was evicted."""
    body: Json = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {
            "preconditions": {"uid": pod.uid, "resourceVersion": str(pod.resource_version)}
        },
    }
    path = f"{pods_path(client)}/{pod.name}/eviction"
    try:
        await client.request("POST", path, body=body, patient=False)
    except NotFound:
        return
    except TooManyRequests as busy:
        raise EvictionRefused(str(busy)) from busy
    except NamespaceEnds:
        raise
    except Forbidden as lacking:
        raise EvictionForbidden(f"{lacking}: {_RIGHT}") from lacking
