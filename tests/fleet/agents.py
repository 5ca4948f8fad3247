"""Ask the agents of a fleet themselves."""

from typing import Any

import grpc.aio

from fleet.world import World
from weightrollout.api import names
from weightrollout.wire.agent import agent_pb2, agent_pb2_grpc


async def agent_states(world: World, app: str) -> list[agent_pb2.AgentState]:
    """What each agent says itself. Its fence is the highest that it journaled."""
    found = []
    for pod in await world.pods(app):
        target = f"{pod['status']['podIP']}:{names.DEFAULT_GRPC_PORT}"
        options = [("grpc.enable_http_proxy", 0)]
        async with grpc.aio.insecure_channel(target, options=options) as channel:
            stub: Any = agent_pb2_grpc.AgentStub(channel)
            stream = stub.Watch(agent_pb2.WatchRequest(heartbeat_seconds=1), timeout=10)
            found.append(await stream.read())
            stream.cancel()
    return found


async def one_is_paced(world: World, app: str) -> bool:
    """An agent of them reads weights, held to so many bytes per second."""
    states = await agent_states(world, app)
    return any(each.staging.max_bytes_per_second > 0 for each in states)
