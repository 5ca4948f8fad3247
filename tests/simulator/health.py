"""gRPC's own health service, as the engine's frontend has it: it knows of the core's death alone."""

# ruff: noqa: N802 - the method's name is the protocol's

import asyncio
from typing import Any

from grpc_health.v1 import health, health_pb2

from simulator.faults import Do, Faults


class Health(health.aio.HealthServicer):  # type: ignore[misc, name-defined]  # missing in its stubs
    def __init__(self, faults: Faults) -> None:
        super().__init__()
        self._faults = faults

    async def Check(
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> health_pb2.HealthCheckResponse:
        """Faults: "refuse" is the word of a dead core, "hang" that of nobody."""
        fault = self._faults.take("health")
        if fault is not None and fault.do is Do.HANG:
            await asyncio.Event().wait()
        if fault is not None and fault.do is Do.REFUSE:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)
        answer: health_pb2.HealthCheckResponse = await super().Check(request, context)
        return answer
