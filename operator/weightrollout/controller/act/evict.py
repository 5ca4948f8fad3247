"""Remove a pod that is beyond repair, so that its controller makes another one."""

from weightrollout.controller.act.context import Context
from weightrollout.kube.evictions import evict_pod
from weightrollout.rollout.actions import EvictPod


async def evict(context: Context, action: EvictPod) -> None:
    """Never one that is Ready, and never another one of its name. A second run finds it on its way or gone.

    Raises Conflict where it was written since we saw it: it is looked at again first.
    """
    world = context.world
    pod = world.pods.get(action.pod)
    if pod is None or pod.uid != action.pod_uid or pod.ready or pod.terminating:
        return
    context.guard()
    await evict_pod(world.client, pod)
