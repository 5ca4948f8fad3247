"""Run one pod's transaction. A second run attaches to it, or reads how it ended."""

import grpc.aio

from weightrollout.api.spec import PauseMode, Prompt
from weightrollout.controller.act.context import SHOWN_S, Context
from weightrollout.controller.act.streams import follow
from weightrollout.controller.agent_view import transaction_view
from weightrollout.controller.calls import understood, wire_fence, wire_weights
from weightrollout.metrics import SWAP_PAUSE, SWAPS
from weightrollout.rollout.actions import SwapPod
from weightrollout.rollout.fleet import AgentView, TransactionView
from weightrollout.wire.agent import agent_pb2 as pb


async def swap(context: Context, action: SwapPod) -> None:
    """Ends when the transaction ended and the agent's report shows it."""
    link = context.link(action.pod_uid)
    request = pb.SwapRequest(
        fence=wire_fence(context.fence),
        txn=action.txn,
        attempt=action.attempt,
        weights=wire_weights(action.weights),
        pause_mode=_pause_mode(action.pause_mode),
        clear_cache=action.clear_cache,
        drain_seconds=action.drain_s,
        deadline_seconds=action.deadline_s,
        prompts=[_prompt(each) for each in action.prompts],
    )

    def attach() -> "grpc.aio.UnaryStreamCall[pb.SwapRequest, pb.SwapProgress]":
        context.guard()
        return context.link(action.pod_uid).stub.Swap(request)  # the link may be another by now

    last = await follow(
        "Swap", attach, pb.SwapProgress, lambda said: bool(said.transaction.outcome)
    )
    _measure(context, understood(transaction_view, last.transaction))

    def shown(seen: AgentView) -> bool:
        said = seen.transaction
        return said is not None and said.txn == action.txn and not said.running

    await link.until(shown, SHOWN_S)


def _measure(context: Context, ended: TransactionView) -> None:
    metrics, rollout = context.world.metrics, (context.world.namespace, context.owner.name)
    failure_class = ended.failure_class or ""
    metrics.counter(SWAPS).labels(*rollout, ended.outcome, failure_class, ended.reason).inc()
    if ended.pause_millis:
        metrics.histogram(SWAP_PAUSE).labels(*rollout).observe(ended.pause_millis / 1000)


def _prompt(asked: Prompt) -> pb.Prompt:
    expect = asked.expect
    return pb.Prompt(
        prompt=asked.prompt,
        max_tokens=asked.max_tokens,
        contains=expect.contains or "",
        regex=expect.regex or "",
        token_ids=expect.token_ids or (),
    )


def _pause_mode(mode: PauseMode) -> "pb.PauseMode.ValueType":
    match mode:
        case PauseMode.KEEP:
            return pb.PAUSE_MODE_KEEP
        case PauseMode.ABORT:
            return pb.PAUSE_MODE_ABORT
        case PauseMode.GIVE_UP:
            return pb.PAUSE_MODE_GIVE_UP
