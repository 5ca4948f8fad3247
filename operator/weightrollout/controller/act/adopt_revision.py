"""Become the owner of a ControllerRevision that a deleted WeightRollout left behind."""

from weightrollout.controller.act.context import Context
from weightrollout.kube.errors import Conflict
from weightrollout.kube.revisions import facts_of, reread_revision, write_revision
from weightrollout.rollout.actions import AdoptRevision


async def adopt_revision(context: Context, action: AdoptRevision) -> None:
    """Nothing else about it changes. Not when it was written since: the next plan is made from that."""
    world = context.world
    read = world.revisions.get(action.revision)
    if read is None or read.owner_uid:
        return
    await lives(context)
    context.guard()
    try:
        await write_revision(world.client, world.revisions, read, context.owner, facts_of(read))
    except Conflict:
        await reread_revision(world.client, world.revisions, action.revision)


async def lives(context: Context) -> None:
    """Asked right before a record without an owner, or with another one, becomes ours. Raises Conflict.

    A record loses its owner because that one is being deleted. Were that still us, by a picture that
    lags behind, the garbage collector would delete the history that was to be left behind.
    """
    name, uid = context.owner.name, context.owner.uid
    metadata = (await context.world.rollouts.reread(name))["metadata"]
    if metadata["uid"] != uid or "deletionTimestamp" in metadata:
        raise Conflict(f"WeightRollout {name} was deleted: its history is not adopted")
