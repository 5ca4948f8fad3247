"""Put a pod back: version label, note of the swap and, where gated, the condition, in one write."""

import json

from weightrollout.controller.act.context import Context
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import Ours
from weightrollout.rollout.actions import PutIn


async def put_in(context: Context, action: PutIn) -> None:
    """Raises PodGone. A second run finds it done and sends nothing."""
    writer = context.world.pod_writer
    note = {
        "cr": context.owner.uid,
        "epoch": context.fence.epoch,
        "revision": action.serving.revision,
        "attempt": action.attempt,
        "txn": action.txn,
    }

    def change(pod: Pod, ours: Ours) -> Ours:
        gate = (
            writer.flip(ours.gate, True, action.reason, action.message) if pod.gated else ours.gate
        )
        return Ours(action.serving.version, json.dumps(note, separators=(",", ":")), gate)

    await writer.write(context.world.pods, action.pod, action.pod_uid, change, context.guard)
