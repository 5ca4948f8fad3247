"""Follow a progress stream to its last message, attaching again when it is cut."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import grpc.aio

from weightrollout.controller.calls import (
    AgentRefusedCall,
    AgentUnreachable,
    call_error,
    channel_closed,
)

IDLE_S: Final = 60.0  # agents report at least every few seconds; a silent stream is a dead one
ATTACH: Final = 8  # times in a row without a single message
ATTACH_S: Final = (0.1, 2.0)

Q = TypeVar("Q")
M = TypeVar("M")


async def follow(
    call: str,
    attach: "Callable[[], grpc.aio.UnaryStreamCall[Q, M]]",
    kind: type[M],
    ended: Callable[[M], bool],
) -> M:
    """The last message. The work goes on in the agent whatever happens to the stream.

    Raises AgentRefusedCall at once, AgentUnreachable when attaching again does not help.
    """
    failures, wait_s = 0, ATTACH_S[0]
    while True:
        stream = attach()
        try:
            while True:
                async with asyncio.timeout(IDLE_S):
                    message = await stream.read()
                if not isinstance(message, kind):  # the mark of the stream's end
                    lost = AgentUnreachable(f"{call}: the stream ended before its last message")
                    break
                failures, wait_s = 0, ATTACH_S[0]
                if ended(message):
                    return message
        except TimeoutError:
            lost = AgentUnreachable(f"{call}: no message for {IDLE_S:g} s")
        except asyncio.CancelledError:
            if not channel_closed():
                raise
            lost = AgentUnreachable(f"{call}: its channel was closed")
        except grpc.aio.AioRpcError as error:
            failed = call_error(call, error)
            if isinstance(failed, AgentRefusedCall):
                raise failed from error
            lost = AgentUnreachable(str(failed))
        finally:
            stream.cancel()
        failures += 1
        if failures >= ATTACH:
            raise lost
        await asyncio.sleep(wait_s)  # spares an agent that restarts; the loop asks for the fact
        wait_s = min(wait_s * 2, ATTACH_S[1])
