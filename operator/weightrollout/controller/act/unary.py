"""One mutating call to an agent: the guard first, a deadline, and its refusal in our words."""

from typing import TypeVar

import grpc.aio

from weightrollout.controller.calls import CALL_S, call_error
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
    except grpc.aio.AioRpcError as error:
        raise call_error(name, error) from error
