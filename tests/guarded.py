"""An agent's wire side behind the agent's own question who calls, over real TLS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import grpc
import grpc.aio

from agent_double import AgentDouble
from issuing import NAMESPACE, OPERATOR, POD_UID, Issuer
from localcluster.certificates import Leaf
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.callers import Callers
from weightrollout.agent.service import REFUSAL_KEY
from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.clock import Clock, SystemClock
from weightrollout.controller.agent_access import certificate_of
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent import agent_pb2_grpc as wire

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import AgentAsyncStub  # a name for mypy only

HELLO = pb.HelloRequest(fence=pb.Fence(owner_uid="cr", epoch=1))


def access_by_file(issuer: Issuer, folder: Path, **fields: Any) -> CallerAccess:
    """Tokens of the operator, checked by a JWKS file."""
    path = folder / "jwks.json"
    path.write_text(json.dumps(issuer.jwks()))
    usual = CallerAccess(NAMESPACE, "chat-0", POD_UID, (OPERATOR,), str(path))
    return replace(usual, **fields)


def flags_of(access: CallerAccess) -> tuple[str, ...]:
    """Of a real agent."""
    return (
        f"--pod-namespace={access.pod_namespace}",
        f"--pod-uid={access.pod_uid}",
        f"--jwks={access.jwks}",
        f"--cluster-credentials={access.cluster}",
        *(f"--operator-account={each}" for each in access.accounts),
        *(f"--client-name={each}" for each in access.client_names),
        *((f"--tls-certificate={access.certificate}",) if access.certificate else ()),
        *((f"--tls-key={access.key}",) if access.key else ()),
        *((f"--client-ca={access.client_ca}",) if access.client_ca else ()),
    )


@asynccontextmanager
async def guarded(
    access: CallerAccess, double: AgentDouble | None = None, clock: Clock | None = None
) -> AsyncIterator[str]:
    """Its address. `clock` is the agent's."""
    callers = Callers(access, clock or SystemClock())
    server = grpc.aio.server(interceptors=(callers,))
    wire.add_AgentServicer_to_server(double or AgentDouble(), server)
    bound = callers.listen(server, "127.0.0.1:0")
    await server.start()
    running = asyncio.create_task(callers.run())
    try:
        yield f"127.0.0.1:{bound}"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.stop(0)


@asynccontextmanager
async def called(
    target: str, root: bytes | None = None, leaf: Leaf | None = None, name: str = AGENT_TLS_NAME
) -> AsyncIterator[AgentAsyncStub]:
    """A caller that trusts `root`, None: whoever is there now; and shows `leaf`."""
    trusted = root or ((await certificate_of(target)) or "").encode()
    credentials = grpc.ssl_channel_credentials(
        trusted, leaf.key if leaf else None, leaf.certificate if leaf else None
    )
    options = (("grpc.ssl_target_name_override", name), ("grpc.use_local_subchannel_pool", 1))
    async with grpc.aio.secure_channel(target, credentials, options=options) as channel:
        yield wire.AgentStub(channel)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def answer_to(target: str, token: str | None) -> tuple[grpc.StatusCode, str, str]:
    """To a Hello with that token: status, reason and message; OK, "" and "" where it was let in."""
    async with called(target) as stub:
        try:
            await stub.Hello(HELLO, timeout=10, metadata=bearer(token) if token else None)
        except grpc.aio.AioRpcError as error:
            return error.code(), *refusal_of(error)
    return grpc.StatusCode.OK, "", ""


def refusal_of(error: grpc.aio.AioRpcError) -> tuple[str, str]:
    """Reason and message."""
    for key, value in cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ()):
        if key == REFUSAL_KEY and isinstance(value, bytes):
            said = pb.Refusal.FromString(value)
            return said.reason, said.message
    raise AssertionError(f"not refused: {error.code()}: {error.details()}") from error
