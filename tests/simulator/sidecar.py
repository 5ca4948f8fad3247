"""Dynamo's sidecar as a process of its own, which reaches its engine by vllm.Control alone, as `dynamo-vllm-sidecar` does.

    DYN_SYSTEM_HOST=127.0.0.1 DYN_SYSTEM_PORT=9090 python -m simulator.sidecar --grpc-endpoint 127.0.0.1:50051 --enable-rl

Without --enable-rl it has no routes, and no server without DYN_SYSTEM_PORT. What its engine can do is asked once, at the start.
"""

import argparse
import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

import grpc.aio
from aiohttp import web
from google.protobuf.message import Message

from simulator.dynamo import Offers, Sidecar
from simulator.refusals import Refusal
from weightrollout.wire.vllm import control_pb2 as pb

ENGINE_S = 120.0  # until it is there


@dataclass(frozen=True, slots=True)
class Far:
    """The control side of an engine in another process."""

    channel: grpc.aio.Channel

    async def served(self, name: str, data: bytes) -> Message:
        """Raises Refusal."""
        call = self._call(name, getattr(pb, f"{name}Response"))
        try:
            answer: Message = await call(data)
        except grpc.aio.AioRpcError as error:
            raise Refusal(error.code(), error.details() or "") from error
        return answer

    async def offers(self) -> Offers:
        """Waits until the engine is there."""
        call = self._call("GetServerInfo", pb.ServerInfo)
        info = await call(b"", wait_for_ready=True, timeout=ENGINE_S)
        can = info.rl_capabilities
        return Offers(
            rl=info.HasField("rl_capabilities"),
            sleep=can.sleep_mode_enabled,
            transfer=can.weight_transfer_enabled,
            draft=can.draft_weight_updates_enabled,
        )

    def _call(self, name: str, answer: Any) -> Any:
        return self.channel.unary_unary(
            f"/vllm.Control/{name}",
            request_serializer=bytes,
            response_deserializer=answer.FromString,
        )


async def run(endpoint: str, host: str, port: int) -> None:
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    async with grpc.aio.insecure_channel(endpoint) as channel:
        far = Far(channel)
        runner = web.AppRunner(Sidecar(far, await far.offers()).app(), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        try:
            await ending.wait()
        finally:
            await runner.cleanup()


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="dynamo-vllm-sidecar")
    parser.add_argument("--grpc-endpoint", required=True, metavar="HOST:PORT")
    parser.add_argument("--enable-rl", action="store_true", required=True)
    arguments = parser.parse_args(argv)
    host = os.environ.get("DYN_SYSTEM_HOST", "0.0.0.0")
    asyncio.run(run(arguments.grpc_endpoint, host, int(os.environ["DYN_SYSTEM_PORT"])))


if __name__ == "__main__":
    main(sys.argv[1:])
