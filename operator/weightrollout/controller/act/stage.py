"""Have an agent read weights while its engine serves. A second run joins the first one's work."""

from dataclasses import replace

import grpc.aio

from weightrollout.controller.act.context import SHOWN_S, Context
from weightrollout.controller.act.streams import follow
from weightrollout.controller.agent_view import staging_view
from weightrollout.controller.calls import wire_fence, wire_weights
from weightrollout.rollout.actions import Stage
from weightrollout.rollout.fleet import AgentView
from weightrollout.wire.agent import agent_pb2 as pb


async def stage(context: Context, action: Stage) -> None:
    """Ends when the staging ended, well or not: its failure is in the agent's own report."""
    link = context.link(action.pod_uid)
    request = pb.StageRequest(
        fence=wire_fence(context.fence),
        weights=wire_weights(action.weights),
        keep_last_good=action.keep_last_good,
        keep=sorted(action.keep),
        max_bytes_per_second=action.limit,
    )

    def attach() -> "grpc.aio.UnaryStreamCall[pb.StageRequest, pb.StageProgress]":
        context.guard()
        return context.link(action.pod_uid).stub.Stage(request)  # the link may be another by now

    last = await follow(
        *("Stage", attach, pb.StageProgress),
        lambda said: action.joins or said.done or bool(said.failure_class),
    )
    if action.joins:  # the call that began it follows it to its end
        await link.until(lambda seen: _is_held_to(seen, action.limit), SHOWN_S)
        return
    link.staged(staging_view(last, action.weights.revision))
    if not last.failure_class:
        found = replace(action.weights, digest=last.digest)
        await link.until(lambda seen: seen.holds(found), SHOWN_S)


def _is_held_to(seen: AgentView, limit: int) -> bool:
    return seen.staging is None or seen.staging.done or seen.staging.limit == limit
