"""How agents are reached: over TLS, with a token, and without both only on loopback addresses.

An agent's certificate is either checked by files that the operator was given, or kept from first contact on. First contact is
trusted once for each start of the agent's container, and it is the API server that says that a container was started again:
another certificate in the same container is refused. That is encryption, not identity; the token names the pod that it opens.
"""

import asyncio
import contextlib
import hashlib
import logging
import ssl
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import grpc
import grpc.aio

from weightrollout.api.addresses import is_loopback
from weightrollout.api.callers import AGENT_TLS_NAME, TOKEN_S, Callee, CallerReason, NotTrusted
from weightrollout.controller.agent_tokens import Bearer, Tokens
from weightrollout.controller.calls import AgentRefusedCall, AgentUnreachable
from weightrollout.engine.errors import EngineUnreachable
from weightrollout.engine.tls import TlsReader
from weightrollout.kube.errors import KubeError
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import (
        AgentAsyncStub,
    )  # exists for the checker only

CONTACT_S: Final = 2.0
#: TLS handshakes of first contacts under way: each holds 0.6 MB, and a new leader meets all agents at once.
CONTACTS: Final = 32
PLAIN: Final = "plain"

OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),  # pods are reached directly, whatever the environment says
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)
#: gRPC would share connections with channels of other certificates.
OWN_CONNECTIONS: Final = ("grpc.use_local_subchannel_pool", 1)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Opened:
    """A channel, and what it was opened with."""

    how: Hashable
    channel: grpc.aio.Channel
    stub: "AgentAsyncStub"


@dataclass(frozen=True, slots=True)
class Pin:
    container: str  # "": not known
    pem: str


class AgentAccess:
    """Lives as long as the process: pins outlive connections and terms."""

    def __init__(self, tokens: Tokens | None = None, files: TlsReader | None = None) -> None:
        """`tokens` None: callers show a certificate alone. `files` None: certificates are pinned."""
        self._tokens = tokens
        self._files = files
        self._pins: dict[Callee, Pin] = {}
        self._contacts = asyncio.Semaphore(CONTACTS)

    async def open(
        self, target: str, callee: Callee, container: str, before: Opened | None
    ) -> Opened:
        """`before` where it still holds. Raises AgentUnreachable, whose message begins with a reason."""
        if self._files is not None:
            return self.renewed(target, callee, before)
        shown = await certificate_of(target, self._contacts)
        pin = self._pins.get(callee)
        if pin is not None and pin.container == container:
            if shown != pin.pem:
                raise AgentUnreachable(_changed(pin, shown))
        elif shown is not None:
            log.info("agent of pod %s: certificate %s is kept", callee.pod_uid, fingerprint(shown))
            pin = self._pins[callee] = Pin(container, shown)
        elif not is_loopback(target.rpartition(":")[0]):
            raise AgentUnreachable(
                f"{NotTrusted.WITHOUT_TLS}: the agent at {target} speaks without TLS: start it with"
                " --operator-account (inject does), it must know who calls"
            )
        else:
            return self._kept(before, PLAIN) or _opened(
                PLAIN, grpc.aio.insecure_channel(target, options=OPTIONS)
            )
        options = (("grpc.ssl_target_name_override", AGENT_TLS_NAME),)
        credentials = grpc.ssl_channel_credentials(root_certificates=pin.pem.encode())
        return self._kept(before, pin) or self._secured((target, callee), pin, credentials, options)

    async def prepared(self, callee: Callee, opened: Opened) -> None:
        """A token is there: a large fleet waits for its own here, and not in the deadline of its first call.

        Raises AgentUnreachable.
        """
        if self._tokens is None or opened.how == PLAIN:
            return
        try:
            await self._tokens.token(callee)
        except KubeError as error:
            raise AgentUnreachable(f"{NotTrusted.NO_TOKEN}: {error}") from error

    def renewed(self, target: str, callee: Callee, before: Opened | None) -> Opened:
        """`before`, but where the operator's files have changed. Raises AgentUnreachable."""
        if self._files is None:
            if before is None:
                raise AgentUnreachable("the agent was not reached yet")
            return before
        try:
            material = self._files.current()
        except EngineUnreachable as unusable:
            raise AgentUnreachable(f"{NotTrusted.TLS_FAILED}: {unusable}") from unusable
        name = self._files.files.server_name
        options = (("grpc.ssl_target_name_override", name),) if name else ()
        return self._kept(before, material.generation) or self._secured(
            (target, callee), material.generation, material.credentials, options
        )

    def judged(self, callee: Callee, refused: AgentRefusedCall) -> AgentRefusedCall:
        """What an agent's refusal means when our own token is looked at."""
        if self._tokens is None or refused.reason not in set(CallerReason):
            return refused
        age_s = self._tokens.age_s(callee)
        self._tokens.refused(callee)
        if refused.reason == CallerReason.TOKEN_EXPIRED and age_s < TOKEN_S:
            told = (
                f"{refused}; it was made {age_s:.0f} s ago for {TOKEN_S} s: the clock of that node or"
                " of the API server's is wrong"
            )
            return AgentRefusedCall(CallerReason.CLOCK_SKEW, told, refused.epoch)
        return refused

    def forget(self, callee: Callee) -> None:
        """The pod is gone."""
        self._pins.pop(callee, None)
        if self._tokens is not None:
            self._tokens.forget(callee)

    async def close(self) -> None:
        if self._tokens is not None:
            await self._tokens.close()

    def _kept(self, before: Opened | None, how: Hashable) -> Opened | None:
        return before if before is not None and before.how == how else None

    def _secured(
        self,
        whom: tuple[str, Callee],
        how: Hashable,
        credentials: grpc.ChannelCredentials,
        options: tuple[tuple[str, str], ...],
    ) -> Opened:
        target, callee = whom
        if self._tokens is not None:
            bearer = grpc.metadata_call_credentials(Bearer(self._tokens, callee))
            credentials = grpc.composite_channel_credentials(credentials, bearer)
        every = (*OPTIONS, OWN_CONNECTIONS, *options)
        return _opened(how, grpc.aio.secure_channel(target, credentials, options=every))


async def certificate_of(target: str, slots: asyncio.Semaphore | None = None) -> str | None:
    """PEM, unverified: what HOST:PORT shows. None: it speaks, and not TLS. Raises AgentUnreachable.

    Whoever cannot be connected to takes none of the `slots` from the others.
    """
    host, _, port = target.rpartition(":")
    try:
        async with asyncio.timeout(CONTACT_S):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        try:
            async with slots or contextlib.nullcontext(), asyncio.timeout(CONTACT_S):
                await writer.start_tls(_anybody())
                shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        finally:
            writer.transport.abort()
    except ssl.SSLError as error:
        if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return None
        raise AgentUnreachable(
            f"{NotTrusted.TLS_FAILED}: {target}: {error.reason or error}"
        ) from error
    except TimeoutError as late:
        raise AgentUnreachable(f"{target} does not answer within {CONTACT_S:g} s") from late
    except OSError as error:
        raise AgentUnreachable(f"{target}: {error.strerror or error}") from error
    if not shown:
        raise AgentUnreachable(f"{NotTrusted.TLS_FAILED}: {target} shows no certificate")
    return ssl.DER_cert_to_PEM_cert(shown)


def _anybody() -> ssl.SSLContext:
    """Whose certificate is not checked."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])  # gRPC's side insists on it
    return context


def fingerprint(pem: str) -> str:
    return f"sha256:{hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()[:16]}"


def _changed(pin: Pin, shown: str | None) -> str:
    now = fingerprint(shown) if shown is not None else "none"
    return (
        f"{NotTrusted.CERTIFICATE_CHANGED}: it was {fingerprint(pin.pem)} and is {now}, though the agent's"
        " container did not start again: this may be somebody else"
    )


def _opened(how: Hashable, channel: grpc.aio.Channel) -> Opened:
    stub: AgentAsyncStub = AgentStub(channel)
    return Opened(how, channel, stub)
