"""Close the readiness gate of a reserved pod. A second run finds it closed and sends nothing."""

from dataclasses import replace

from weightrollout.controller.act.context import Context
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import Ours
from weightrollout.rollout.actions import TakeOutPod


async def take_out(context: Context, action: TakeOutPod) -> None:
    """Raises PodGone."""
    writer = context.world.pod_writer

    def change(pod: Pod, ours: Ours) -> Ours:
        if not pod.gated:
            return ours
        return replace(ours, gate=writer.flip(ours.gate, False, action.reason, action.message))

    await writer.write(context.world.pods, action.pod, action.pod_uid, change, context.guard)
