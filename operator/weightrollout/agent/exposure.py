"""Does the engine's control side answer on the pod's own address? Then whoever reaches the pod owns the engine.

Asked as a neighbour would ask, without a client certificate or token: when an engine appears, and rarely after that.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.reasons import RefusalReason
from weightrollout.agent.state import Board, Exposed
from weightrollout.api.addresses import with_port
from weightrollout.clock import Clock
from weightrollout.engine.errors import EngineError, EngineRefused, EngineUnreachable
from weightrollout.engine.tls import TlsFiles
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.weights.preflight import Refusal

#: A firewall or a proxy may be changed beside a running engine.
AGAIN_S: Final = 60.0
#: What could not be found out is asked again.
UNKNOWN_AGAIN_S: Final = 1.0
ASK_S: Final = 2.0

WAYS_OUT: Final = (
    "either vllm serve --host=127.0.0.1 with a proxy in front of its HTTP port, or --ssl-* with"
    " --ssl-cert-reqs=2 and the agent's --engine-certificate, or, where a NetworkPolicy closes the port,"
    " --acknowledge-exposed-control-port (docs/security.md)"
)

log = logging.getLogger(__name__)


#: Why swaps are refused, None for no reason; and whether that is certain.
Finding = tuple[Refusal | None, bool]


class Door(Protocol):
    """The control side, as others may try it."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of the pod; empty: it is not asked."""

    async def ask_at(self, address: str) -> Finding: ...


@dataclass(frozen=True, slots=True)
class ControlPort:
    """vllm.Control."""

    addresses: tuple[str, ...]
    port: int
    service: str
    tls: TlsFiles | None  # whom to trust as the engine; None: it has no TLS

    async def ask_at(self, address: str) -> Finding:
        if not await is_listening(address, self.port):
            return None, True
        target = with_port(address, self.port)
        for tls in _ways(self.tls):
            engine = VllmGrpc(target, self.service, tls)
            try:
                await engine.info(deadline_s=ASK_S)
            except EngineRefused:
                continue  # it asks for credentials, or is something else
            except EngineError as error:
                late = isinstance(error.__cause__, TimeoutError)
                if isinstance(error, EngineUnreachable) and not late:
                    continue  # not to everybody
                return unknown(f"whether {target} is the control port", error), False
            finally:
                await engine.close()
            return _exposed(target, over_tls=tls is not None), True
        return None, True


@dataclass(frozen=True, slots=True)
class Both:
    """Of two doors to one engine either is enough for a stranger."""

    one: Door
    other: Door

    @property
    def addresses(self) -> tuple[str, ...]:
        return self.one.addresses

    async def ask_at(self, address: str) -> Finding:
        refusal, certain = await self.one.ask_at(address)
        if refusal is not None and certain:
            return refusal, True
        beside, known = await self.other.ask_at(address)
        return beside or refusal, (known if beside is not None else certain and known)


class Exposure:
    """Owns `board.exposed`."""

    def __init__(self, door: Door, board: Board, watch: EngineWatch, clock: Clock) -> None:
        self._door = door
        self._board = board
        self._watch = watch
        self._clock = clock
        self._again_at = 0.0

    async def run(self) -> None:
        """Never ends by itself."""
        while True:
            rung = self._board.bell.next()
            if self._watch.sight.instance and self._is_due():
                await self.ask()
            await _wait(rung, UNKNOWN_AGAIN_S)

    def _is_due(self) -> bool:
        known = self._board.exposed
        other = known is None or known.instance != self._watch.sight.instance
        return other or self._clock.monotonic() >= self._again_at

    async def ask(self) -> None:
        if not self._door.addresses:
            return
        instance = self._watch.sight.instance
        refusal, certain = None, True
        for address in self._door.addresses:
            refusal, certain = await self._door.ask_at(address)
            if refusal is not None:
                break
        known = self._board.exposed
        if not certain and known is not None and known.instance == instance:
            refusal = (
                known.refusal
            )  # what was found out about this engine holds until it is known better
        self._again_at = self._clock.monotonic() + (AGAIN_S if certain else UNKNOWN_AGAIN_S)
        found = Exposed(instance, refusal)
        if found != known:
            if refusal is not None:
                log.warning("%s: %s", refusal.reason, refusal.message)
            self._board.exposed = found
            self._board.bell.ring()


async def is_listening(address: str, port: int) -> bool:
    try:
        async with asyncio.timeout(ASK_S):
            _, writer = await asyncio.open_connection(address, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def unknown(what: str, error: EngineError) -> Refusal:
    why = f"{what} is not known yet: {error.message}"
    return Refusal(RefusalReason.CONTROL_PORT_EXPOSED, why)


def _exposed(target: str, *, over_tls: bool) -> Refusal:
    how = "over TLS without a client certificate" if over_tls else "without TLS"
    return Refusal(
        RefusalReason.CONTROL_PORT_EXPOSED,
        f"the engine's control port answers on the pod's address {target} {how}: whoever reaches it can"
        f" change or end the engine; {WAYS_OUT}",
    )


def _ways(tls: TlsFiles | None) -> Sequence[TlsFiles | None]:
    return (None,) if tls is None else (None, TlsFiles(tls.ca, server_name=tls.server_name))


async def _wait(rung: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await rung.wait()
    except TimeoutError:
        pass
