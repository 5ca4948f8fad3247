"""Have an engine's process end, so that it comes back with its base weights."""

from weightrollout.controller.act.context import SHOWN_S, Context
from weightrollout.controller.act.unary import ask
from weightrollout.controller.calls import wire_fence, wire_weights
from weightrollout.rollout.actions import RestartEngine
from weightrollout.rollout.fleet import AgentView
from weightrollout.wire.agent import agent_pb2 as pb


async def restart_engine(context: Context, action: RestartEngine) -> None:
    """Ends when the agent has lost the old instance. The planner decides when to ask again."""
    link = context.link(action.pod_uid)
    request = pb.RestartEngineRequest(
        fence=wire_fence(context.fence), serve=wire_weights(action.serve), reason=action.reason
    )
    answer = await ask(context.guard, "RestartEngine", link.stub.RestartEngine, request)

    def shown(seen: AgentView) -> bool:
        return not seen.engine.reachable or seen.engine.instance != answer.instance

    await link.until(shown, SHOWN_S)
