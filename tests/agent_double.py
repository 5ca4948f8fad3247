"""An agent's wire side over real gRPC: says what a test puts into `state`, records what it is asked.

It has none of the agent's rules; what they are is tested with the agent itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent import agent_pb2_grpc as wire

REFUSAL = "weightrollout-refusal-bin"


class AgentDouble(wire.AgentServicer):
    def __init__(self) -> None:
        self.state = pb.AgentState(agent_version="double", ready=True)
        self.hellos: list[pb.HelloRequest] = []
        self.asked: list[Any] = []
        self.watchers = 0
        self.watched: list[pb.WatchRequest] = []
        self.refusal: pb.Refusal | None = None  # answers every call but Watch
        self.silent = False
        self.stage_progress: list[pb.StageProgress] = []
        self.swap_progress: list[pb.SwapProgress] = []
        self.answers_lost = (
            False  # it acts, and the caller of Reserve, Swap and RestartEngine hears nothing
        )
        self.cuts = 0  # streams of Stage and Swap that end before their last message
        self.held = asyncio.Event()  # Hello answers while it is set
        self.held.set()
        self._changed = asyncio.Event()

    def say(self, state: pb.AgentState) -> None:
        self.state = state
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def Hello(self, request: pb.HelloRequest, context: Any) -> pb.AgentState:  # noqa: N802 - gRPC's name
        self.hellos.append(request)
        await self.held.wait()
        await self._refuse(context)
        return self.state

    async def Watch(self, request: pb.WatchRequest, context: Any) -> AsyncIterator[pb.AgentState]:  # noqa: N802 - gRPC's name
        self.watchers += 1
        self.watched.append(request)
        try:
            while True:
                changed = self._changed
                if not self.silent:
                    yield self.state
                await changed.wait()
        finally:
            self.watchers -= 1

    async def Stage(  # noqa: N802 - gRPC's name
        self, request: pb.StageRequest, context: Any
    ) -> AsyncIterator[pb.StageProgress]:
        self.asked.append(request)
        await self._refuse(context)
        for progress in self._cut(self.stage_progress):
            yield progress

    async def Swap(self, request: pb.SwapRequest, context: Any) -> AsyncIterator[pb.SwapProgress]:  # noqa: N802 - gRPC's name
        self.asked.append(request)
        await self._refuse(context)
        await self._lose(context)
        for progress in self._cut(self.swap_progress):
            yield progress

    async def Reserve(self, request: pb.ReserveRequest, context: Any) -> pb.ReserveResponse:  # noqa: N802 - gRPC's name
        self.asked.append(request)
        await self._refuse(context)
        await self._lose(context)
        return pb.ReserveResponse()

    async def Release(self, request: pb.ReleaseRequest, context: Any) -> pb.ReleaseResponse:  # noqa: N802 - gRPC's name
        self.asked.append(request)
        await self._refuse(context)
        return pb.ReleaseResponse()

    async def RestartEngine(  # noqa: N802 - gRPC's name
        self, request: pb.RestartEngineRequest, context: Any
    ) -> pb.RestartEngineResponse:
        self.asked.append(request)
        await self._refuse(context)
        await self._lose(context)
        return pb.RestartEngineResponse(instance="i-1")

    def _cut(self, progress: list[Any]) -> list[Any]:
        if self.cuts:
            self.cuts -= 1
            return progress[:-1]
        return progress

    async def _lose(self, context: Any) -> None:
        if self.answers_lost:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "Stream removed")

    async def _refuse(self, context: Any) -> None:
        if self.refusal is not None:
            metadata = ((REFUSAL, self.refusal.SerializeToString()),)
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                self.refusal.message,
                trailing_metadata=metadata,
            )


@asynccontextmanager
async def served(
    double: wire.AgentServicer, port: int = 0, host: str = "127.0.0.1"
) -> AsyncIterator[str]:
    """Its address; gone when the context ends."""
    server = grpc.aio.server()
    wire.add_AgentServicer_to_server(double, server)
    bound = server.add_insecure_port(f"{host}:{port}")
    await server.start()
    try:
        yield f"{host}:{bound}"
    finally:
        await server.stop(0)
