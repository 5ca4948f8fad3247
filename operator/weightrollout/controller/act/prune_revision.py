"""Delete a ControllerRevision that is in use nowhere."""

from weightrollout.controller.act.context import Context
from weightrollout.kube.errors import Conflict
from weightrollout.kube.revisions import remove_revision, reread_revision
from weightrollout.rollout.actions import PruneRevision


async def prune_revision(context: Context, action: PruneRevision) -> None:
    """Not when it was written since: the next plan is made from what it says now."""
    world = context.world
    read = world.revisions.get(action.revision)
    if read is None or read.number != action.number:
        return
    context.guard()
    try:
        await remove_revision(world.client, world.revisions, read)
    except Conflict:
        await reread_revision(world.client, world.revisions, action.revision)
