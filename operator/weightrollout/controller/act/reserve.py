"""Promise a pod to a swap. A second run for the same transaction renews its time."""

from weightrollout.api.spec import TakeOut
from weightrollout.controller.act.context import SHOWN_S, Context
from weightrollout.controller.act.unary import ask
from weightrollout.controller.calls import wire_fence, wire_weights
from weightrollout.rollout.actions import Reserve
from weightrollout.rollout.fleet import AgentView
from weightrollout.wire.agent import agent_pb2 as pb


async def reserve(context: Context, action: Reserve) -> None:
    """Ends when the agent's report shows it: until then the pod must count as out by our work."""
    link = context.link(action.pod_uid)
    request = pb.ReserveRequest(
        fence=wire_fence(context.fence),
        txn=action.txn,
        take_out=_take_out(action.take_out),
        ttl_seconds=action.ttl_s,
        weights=wire_weights(action.weights),
    )
    await ask(context.guard, "Reserve", link.stub.Reserve, request)

    def shown(seen: AgentView) -> bool:
        running = seen.transaction is not None and seen.transaction.txn == action.txn
        return seen.reserved_txn == action.txn or running

    await link.until(shown, SHOWN_S)


def _take_out(take_out: TakeOut) -> "pb.TakeOut.ValueType":
    match take_out:
        case TakeOut.ENDPOINT:
            return pb.TAKE_OUT_ENDPOINT
        case TakeOut.NONE:
            return pb.TAKE_OUT_NONE
