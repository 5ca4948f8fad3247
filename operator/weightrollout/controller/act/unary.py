"""One mutating call to an agent: the guard first, a deadline, and its refusal in our words."""

import asyncio
from typing import TypeVar

import grpc.aio

from weightrollout.controller.calls import CALL_S, AgentUnreachable, call_error, channel_closed
from weightrollout.controller.leader import Guard

Q = TypeVar("Q")
A = TypeVar("A")


async def ask(
    guard: Guard, name: str, call: "grpc.aio.UnaryUnaryMultiCallable[Q, A]", request: Q
) -> A:
    """Raises AgentRefusedCall, AgentUnreachable, NotLeading."""
    guard()
    try:
        return await call(request, timeout=CALL_S)
    except asyncio.CancelledError as cut:
        if not channel_closed():
            raise
        raise AgentUnreachable(f"{name}: its channel was closed") from cut
    except grpc.aio.AioRpcError as error:
        raise call_error(name, error) from error
