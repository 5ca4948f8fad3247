"""Give a reservation back. A second run finds none, which is as good."""

from weightrollout.controller.act.context import SHOWN_S, Context
from weightrollout.controller.act.unary import ask
from weightrollout.controller.calls import wire_fence
from weightrollout.rollout.actions import Release
from weightrollout.wire.agent import agent_pb2 as pb


async def release(context: Context, action: Release) -> None:
    link = context.link(action.pod_uid)
    request = pb.ReleaseRequest(fence=wire_fence(context.fence), txn=action.txn)
    await ask(context.guard, "Release", link.stub.Release, request)
    await link.until(lambda seen: seen.reserved_txn != action.txn, SHOWN_S)
