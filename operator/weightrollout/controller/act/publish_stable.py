"""Tell the pods, through a ConfigMap, what to serve while no operator is there."""

from weightrollout.controller.act.context import Context
from weightrollout.kube.configmaps import Stable
from weightrollout.kube.configmaps import publish_stable as write_stable
from weightrollout.rollout.actions import PublishStable
from weightrollout.rollout.revisions import said_metadata


async def publish_stable(context: Context, action: PublishStable) -> None:
    """Raises Conflict: the watch brings the newer one, and the next plan is made from it."""
    world, ref = context.world, action.stable
    stable = Stable(
        owner_uid=context.owner.uid,
        epoch=context.fence.epoch,
        revision=ref.revision,
        version=ref.version,
        uri=ref.uri,
        digest=ref.digest or "",
        metadata=said_metadata(ref),
        draft=ref.draft,
        signature=ref.signature,
    )
    context.guard()
    await write_stable(
        world.client, world.stables, context.owner.name, None if ref.is_baseline else stable
    )
