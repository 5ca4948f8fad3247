"""Who is let in: every call of the agent's service is asked who sends it, here and nowhere else."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

import grpc
import grpc.aio

from weightrollout.agent import certificate, tokens
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.certificate import RotatingFiles
from weightrollout.agent.cluster_keys import ClusterKeys, source_of
from weightrollout.agent.reasons import Refused
from weightrollout.agent.service import refuse
from weightrollout.api.callers import CallerReason, audience
from weightrollout.clock import Clock
from weightrollout.engine.server_tls import RotatingContext, ServerFiles

Context = grpc.aio.ServicerContext[Any, Any]

AUTHORIZATION: Final = "authorization"
BEARER: Final = "bearer "
#: gRPC's name for the DNS names and URIs of a certificate.
ALTERNATIVE_NAMES: Final = "x509_subject_alternative_name"
#: Known, and not let in; everybody else could not be known.
DENIED: Final = frozenset(
    {
        CallerReason.OTHER_AUDIENCE,
        CallerReason.OTHER_ACCOUNT,
        CallerReason.OTHER_CERTIFICATE,
    }
)

log = logging.getLogger(__name__)


class Callers(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """Give it to the server as its interceptor, and listen by `listen`."""

    def __init__(self, access: CallerAccess, clock: Clock) -> None:
        """Raises FilesUnusable."""
        self._access = access
        self._clock = clock
        self._keys: ClusterKeys | None = None
        if access.accounts:
            self._keys = ClusterKeys(source_of(access), clock, set(access.issuers))
        ours = audience(access.pod_namespace, access.pod_uid)
        self._rules = tokens.Rules(ours, frozenset(access.accounts))
        self._credentials = _credentials(access)

    def listen(self, server: grpc.aio.Server, address: str) -> int:
        """The port. Without TLS only where nobody is asked who they are, which main allows on loopback alone."""
        if self._credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, self._credentials)

    async def run(self) -> None:
        """Never returns: keeps the cluster's keys fresh."""
        if self._keys is not None:
            await self._keys.run()
        await asyncio.Event().wait()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        handler = await continuation(handler_call_details)
        if handler is None or not self._access.authenticates:
            return handler
        return self._guarded(handler)

    async def admit(self, metadata: Mapping[str, str], alternative_names: list[str]) -> None:
        """Raises Refused."""
        allowed = self._access.client_names
        if allowed and not set(allowed) & set(alternative_names):
            raise Refused(
                CallerReason.OTHER_CERTIFICATE,
                f"the caller's certificate is for {', '.join(alternative_names[:5]) or 'nobody'};"
                f" allowed: {', '.join(allowed)} (--client-name)",
            )
        if self._keys is None:
            return
        said = metadata.get(AUTHORIZATION, "")
        if not said.lower().startswith(BEARER):
            raise Refused(
                CallerReason.TOKEN_MISSING, "the call brings no token (authorization: Bearer)"
            )
        token = said[len(BEARER) :].strip()
        await tokens.check(token, self._rules, self._keys, self._clock.wall())

    def _guarded(self, handler: Any) -> Any:
        """The same handler behind the question. Knows the two kinds of calls that the service has."""
        coding = {
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        if handler.unary_unary is not None:

            async def one(request: Any, context: Context) -> Any:
                await self._let_in(context)
                return await handler.unary_unary(request, context)

            return grpc.unary_unary_rpc_method_handler(one, **coding)
        if handler.unary_stream is not None:

            async def many(request: Any, context: Context) -> AsyncIterator[Any]:
                await self._let_in(context)
                async for each in handler.unary_stream(request, context):
                    yield each

            return grpc.unary_stream_rpc_method_handler(many, **coding)
        return None  # nobody is asked at calls of another kind, so there are none

    async def _let_in(self, context: Context) -> None:
        said = context.invocation_metadata() or ()
        metadata = {key: value for key, value in said if isinstance(value, str)}
        found = context.auth_context().get(ALTERNATIVE_NAMES, [])
        try:
            await self.admit(metadata, [each.decode(errors="replace") for each in found])
        except Refused as refused:
            log.info("a call from %s was refused: %s", context.peer(), refused)
            await refuse(context, refused, _code(refused))


def _credentials(access: CallerAccess) -> grpc.ServerCredentials | None:
    if not access.authenticates:
        return None
    if access.certificate is None or access.key is None:
        return certificate.own()
    files = ServerFiles(access.certificate, access.key, access.client_ca)
    return RotatingFiles(files).credentials()


def https_of(access: CallerAccess) -> ssl.SSLContext | None:
    """As wr-grpc shows itself; None: without TLS, on loopback alone. Raises FilesUnusable."""
    if not access.authenticates:
        return None
    if access.certificate is None or access.key is None:
        return certificate.own_context()
    files = ServerFiles(access.certificate, access.key, access.client_ca)
    return RotatingContext(files, "TLS of wr-trainer").context()


def _code(refused: Refused) -> grpc.StatusCode:
    if refused.reason == CallerReason.KEYS_UNREACHABLE:
        return grpc.StatusCode.UNAVAILABLE
    if refused.reason in DENIED:
        return grpc.StatusCode.PERMISSION_DENIED
    return grpc.StatusCode.UNAUTHENTICATED
