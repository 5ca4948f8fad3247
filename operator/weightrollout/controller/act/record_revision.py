"""Create a ControllerRevision, or write digest and verdict to it on top of what was read."""

from weightrollout.clock import rfc3339
from weightrollout.controller.act.adopt_revision import lives
from weightrollout.controller.act.context import Context
from weightrollout.kube.errors import Conflict, NotFound
from weightrollout.kube.revisions import (
    Content,
    Facts,
    create_revision,
    reread_revision,
    write_revision,
)
from weightrollout.rollout.actions import RecordRevision
from weightrollout.rollout.revisions import said_metadata, said_retry


async def record_revision(context: Context, action: RecordRevision) -> None:
    """A conflict changes nothing but our picture; the next plan is made from the newer one.

    A conflict that leaves our picture as it was is raised: nobody wrote, the write itself is refused,
    and the same plan would repeat it as fast as that happens.
    """
    world, ref = context.world, action.ref
    pinned = "" if action.digest_given else ref.digest or ""
    read = world.revisions.get(ref.revision)
    # No verdict in the action is no news: an older one stays, unless it was the verdict of a
    # WeightRollout that was deleted: its record is ours now, and says nothing about our pods.
    ours = read is not None and read.owner_uid in ("", context.owner.uid)
    # A person who asks for a rejected one again takes its verdict back.
    retry = said_retry(action.retry)
    stays = read is not None and ours and read.retry == retry
    verdict = (action.verdict or "") or (read.verdict if read is not None and stays else "")
    facts = Facts(
        *(action.number, pinned, verdict, action.reason, action.message),
        *(rfc3339(world.clock.wall()), retry),
    )
    if read is not None and read.owner_uid != context.owner.uid:
        await lives(context)
    context.guard()
    try:
        if read is None:
            content = Content(
                version=ref.version,
                uri=ref.uri,
                given_digest=(ref.digest or "") if action.digest_given else "",
                metadata=said_metadata(ref),
                draft=ref.draft,
                signature=ref.signature,
            )
            await create_revision(
                world.client,
                world.revisions,
                ref.revision,
                context.owner,
                content,
                facts,
                context.guard,
            )
        else:
            await write_revision(world.client, world.revisions, read, context.owner, facts)
    except (Conflict, NotFound):
        await reread_revision(world.client, world.revisions, ref.revision)
        if world.revisions.get(ref.revision) == read:
            raise
