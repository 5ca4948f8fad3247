"""Do the RL routes of an engine's HTTP port answer whoever asks on the pod's address? The serving API shall.

Asked by calls that vLLM refuses before it does anything, wherever they are let through: no guard, or one that
leaves a route open, is found by what its refusal looks like. Both frontends of vLLM serve these routes in development
mode; without it they are 404.
"""

from dataclasses import dataclass, replace
from typing import Final

from weightrollout.agent.exposure import ASK_S, Finding, is_listening, unknown
from weightrollout.agent.reasons import RefusalReason
from weightrollout.api.addresses import with_port
from weightrollout.api.names import GUARD_MIDDLEWARE
from weightrollout.engine.errors import EngineError, EngineStateUnknown, EngineUnreachable
from weightrollout.engine.http_calls import HttpCalls, Query, Reply
from weightrollout.engine.tls import TlsFiles
from weightrollout.weights.preflight import Refusal

_ACKNOWLEDGED: Final = "or, where a NetworkPolicy closes the port, --acknowledge-exposed-control-port (docs/security.md)"
_CLOSED: Final = (
    "or --host=127.0.0.1 with a proxy in front that hands on the serving API alone, or --ssl-* with"
    f" --ssl-cert-reqs=2, {_ACKNOWLEDGED}"
)
GUARDED: Final = f"either vllm serve --middleware={GUARD_MIDDLEWARE} with a token file, {_CLOSED}"
#: Where the agent goes by vllm.Control, nobody needs them.
NOT_NEEDED: Final = (
    "either take VLLM_SERVER_DEV_MODE out of the engine's environment, which its agent does not need, "
    + _CLOSED
)
ON_LOOPBACK: Final = (
    "either have Dynamo's sidecar listen on loopback only (DYN_SYSTEM_HOST=127.0.0.1), "
    + _ACKNOWLEDGED
)
_NO_JSON: Final = b"nobody"
Probes = tuple[tuple[str, str, Query, bytes | None], ...]
#: Three orders that are none, and a question, which may wait for the engine.
PROBES: Final[Probes] = (
    ("POST", "/pause", (("mode", "nobody"),), None),
    ("POST", "/update_weights", (), _NO_JSON),
    ("POST", "/collective_rpc", (), _NO_JSON),
    ("GET", "/is_paused", (), None),
)
#: The same of Dynamo's sidecar, which refuses them with 200.
SIDECAR: Final[Probes] = (
    ("POST", "/engine/control/pause_generation", (), b'{"mode": "nobody"}'),
    ("POST", "/engine/update/update_weights", (), b"[]"),
)
#: Nobody is let in without a token, or the route is not there.
CLOSED: Final = (401, 403, 404)


@dataclass(frozen=True, slots=True)
class RlRoutes:
    """The HTTP port with vLLM's own RL routes. `ways_out`: what to do where it is open."""

    addresses: tuple[str, ...]
    port: int
    tls: TlsFiles | None  # whom to trust as the engine; None: it has no TLS
    ways_out: str = GUARDED
    probes: Probes = PROBES

    async def ask_at(self, address: str) -> Finding:
        if not await is_listening(address, self.port):
            return None, True
        target = with_port(address, self.port)
        tls = None if self.tls is None else replace(self.tls, certificate=None, key=None)
        calls = HttpCalls(f"{'https' if tls else 'http'}://{target}", tls, fresh=True)
        try:
            for method, path, query, body in self.probes:
                reply = await calls.ask(method, path, deadline_s=ASK_S, query=query, body=body)
                if reply.status not in CLOSED:
                    return self._found(target, path, reply)
        except EngineError as error:
            if tls is not None and not isinstance(error.__cause__, TimeoutError):
                return None, True  # it asks for a client certificate
            if isinstance(error, EngineUnreachable):
                return None, True
            return unknown(f"whether {target} guards its RL routes", error), False
        finally:
            await calls.close()
        return None, True

    def _found(self, target: str, path: str, reply: Reply) -> Finding:
        if (
            300 <= reply.status < 400 or reply.status >= 500
        ):  # a proxy's word, or an engine that dies
            strange = EngineStateUnknown("ServerError", reply.words)
            return unknown(f"whether {target} guards its RL routes", strange), False
        return (
            Refusal(
                RefusalReason.CONTROL_PORT_EXPOSED,
                f"the engine's {path} answers on the pod's address {target} without a token ({reply.status}):"
                f" whoever reaches it can change the weights and run code; {self.ways_out}",
            ),
            True,
        )
