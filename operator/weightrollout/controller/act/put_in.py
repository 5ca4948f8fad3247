"""Put a pod back, in one write: version label, note of the swap and, where gated, the condition; or only say what it serves."""

import json

from weightrollout.controller.act.context import Context
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import Ours
from weightrollout.rollout.actions import LabelPod, PutIn, Shown


async def put_in(context: Context, action: PutIn) -> None:
    """Raises PodGone. A second run finds it done and sends nothing."""
    writer = context.world.pod_writer
    note = _note(context, action)

    def change(pod: Pod, ours: Ours) -> Ours:
        gate = (
            writer.flip(ours.gate, True, action.reason, action.message) if pod.gated else ours.gate
        )
        return Ours(action.serving.version, note, gate)

    await writer.write(context.world.pods, action.pod, action.pod_uid, change, context.guard)


async def label(context: Context, action: LabelPod) -> None:
    """The gate stays as it is: it may be shut meanwhile. Raises PodGone."""
    note = _note(context, action)

    def change(pod: Pod, ours: Ours) -> Ours:
        return Ours(action.serving.version, note, ours.gate)

    writer = context.world.pod_writer
    await writer.write(context.world.pods, action.pod, action.pod_uid, change, context.guard)


def _note(context: Context, action: Shown) -> str:
    note = {
        "cr": context.owner.uid,
        "epoch": context.fence.epoch,
        "revision": action.serving.revision,
        "attempt": action.attempt,
        "txn": action.txn,
    }
    return json.dumps(note, separators=(",", ":"))
