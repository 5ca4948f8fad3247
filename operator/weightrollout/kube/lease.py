"""Leadership by a Lease: one holder at a time, and a holder that cannot renew stops by a timer.

The rules, each of which the client library's own elector breaks: every attempt has a deadline; a 409 means
"not leader"; a foreign Lease has expired when *we* saw it unchanged for its duration on our own monotonic
clock (timestamps in it are for people); and the fence is a timer, so a hung call cannot delay it.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final, Protocol

from weightrollout.clock import Clock
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import Conflict, KubeError, NotFound

LEASE_NAME: Final = "weightrollout-operator"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """Seconds. lease > renew > retry: a holder stops itself before anybody may take over."""

    lease_s: float = 15.0
    renew_s: float = 10.0
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not self.lease_s > self.renew_s > self.retry_s > 0:
            raise ValueError(
                "leader election needs lease > renew > retry > 0 seconds, got "
                f"{self.lease_s:g}, {self.renew_s:g}, {self.retry_s:g}"
            )


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    holder: str  # "": released
    duration_s: float
    transitions: int
    acquired: str
    renewed: str
    version: str = ""  # resourceVersion; "": not written yet


class LeaseApi(Protocol):
    """Errors are those of kube.errors."""

    async def get(self) -> LeaseRecord | None: ...
    async def create(self, record: LeaseRecord) -> LeaseRecord: ...
    async def replace(self, record: LeaseRecord) -> LeaseRecord: ...


class Step(Enum):
    CREATE = auto()
    TAKE = auto()
    RENEW = auto()
    WAIT = auto()


def next_step(record: LeaseRecord | None, identity: str, unchanged_s: float) -> Step:
    """`unchanged_s`: how long we have seen the record as it is."""
    if record is None:
        return Step.CREATE
    if record.holder == identity:
        return Step.RENEW
    if not record.holder or unchanged_s > record.duration_s:
        return Step.TAKE
    return Step.WAIT


class Elector:
    """Run `run` as a task. `on_lead` and `on_fence` are called in the event loop, always in turn."""

    def __init__(
        self,
        api: LeaseApi,
        identity: str,
        times: LeaseTimes,
        clock: Clock,
        on_lead: Callable[[], None],
        on_fence: Callable[[str], None],
    ) -> None:
        self._api = api
        self._identity = identity
        self._times = times
        self._clock = clock
        self._on_lead = on_lead
        self._on_fence = on_fence
        self._record: LeaseRecord | None = None
        self._seen_at = 0.0  # when the record was first seen as it is
        self._leads = False
        self._until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def leading(self) -> bool:
        """Asked before every write; right also while the event loop is too late for the timer."""
        return self._leads and self._clock.monotonic() < self._until

    async def run(self) -> None:
        """Never returns; cancel it, then `release`."""
        while True:
            await self._attempt()
            await asyncio.sleep(self._times.retry_s)

    async def release(self) -> None:
        """Stop leading and let the next one begin at once instead of after `lease_s`."""
        if not self._leads:
            return
        self.fence("Released")
        try:
            async with asyncio.timeout(self._times.retry_s):
                record = await self._api.get()  # a renewal that was cancelled may have arrived
                if record is not None and record.holder == self._identity:
                    released = replace(record, holder="", duration_s=1, renewed=self._now())
                    await self._api.replace(released)
        except (KubeError, TimeoutError) as lost:
            log.warning("Lease not released, others wait %g s: %s", self._times.lease_s, lost)

    def fence(self, why: str) -> None:
        """Stop leading now, whatever the Lease says; the next attempt may win it again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._leads:
            self._leads = False
            log.warning("leadership ended: %s", why)
            self._on_fence(why)

    async def _attempt(self) -> None:
        begun = self._clock.monotonic()
        try:
            # Half of the renew deadline: a hung attempt leaves time for one more.
            async with asyncio.timeout(self._times.renew_s / 2):
                won = await self._try()
        except Conflict:
            self._record = None  # read again; while we lead, the timer still runs
            return
        except (KubeError, TimeoutError, OSError) as lost:
            log.warning("the Lease could not be reached: %s", lost or repr(lost))
            if self._leads:
                self._record = None  # our write may have arrived: learn its version
            return
        if won:
            self._won(begun)
        else:
            self.fence(f"{self._record.holder if self._record else 'nobody'} holds the Lease")

    async def _try(self) -> bool:
        """True: the Lease is ours as of now."""
        if not self._leads or self._record is None:
            self._see(await self._api.get())
        unchanged_s = self._clock.monotonic() - self._seen_at
        record, now = self._record, self._now()
        match next_step(record, self._identity, unchanged_s):
            case Step.CREATE:
                new = LeaseRecord(self._identity, self._times.lease_s, 0, now, now)
                self._see(await self._api.create(new))
            case Step.TAKE:
                assert record is not None
                taken = replace(
                    record,
                    holder=self._identity,
                    duration_s=self._times.lease_s,
                    acquired=now,
                    renewed=now,
                )
                self._see(
                    await self._api.replace(replace(taken, transitions=record.transitions + 1))
                )
            case Step.RENEW:
                assert record is not None
                self._see(await self._api.replace(replace(record, renewed=now)))
            case Step.WAIT:
                return False
        return True

    def _see(self, record: LeaseRecord | None) -> None:
        if record != self._record:
            # Another duration or holder counts as a change too: the wait begins anew.
            self._record = record
            self._seen_at = self._clock.monotonic()

    def _won(self, begun: float) -> None:
        """The deadline counts from before the request was sent: the server may have seen it then."""
        self._until = begun + self._times.renew_s
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        left_s = self._until - self._clock.monotonic()
        self._timer = loop.call_later(
            left_s, self.fence, f"not renewed within {self._times.renew_s:g} s"
        )
        if not self._leads:
            self._leads = True
            log.info("leading as %s", self._identity)
            self._on_lead()

    def _now(self) -> str:
        return self._clock.wall().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class KubeLease:
    """The Lease object in the operator's namespace."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{client.namespace}/leases"

    async def get(self) -> LeaseRecord | None:
        try:
            return _record(await self._client.get(f"{self._path}/{LEASE_NAME}"))
        except NotFound:
            return None

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        return _record(await self._client.create(self._path, _body(record)))

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        return _record(await self._client.replace(f"{self._path}/{LEASE_NAME}", _body(record)))


def _record(body: Json) -> LeaseRecord:
    spec = body.get("spec") or {}
    return LeaseRecord(
        holder=spec.get("holderIdentity") or "",
        duration_s=float(spec.get("leaseDurationSeconds") or 0),
        transitions=int(spec.get("leaseTransitions") or 0),
        acquired=spec.get("acquireTime") or "",
        renewed=spec.get("renewTime") or "",
        version=body["metadata"]["resourceVersion"],
    )


def _body(record: LeaseRecord) -> Json:
    metadata = {"name": LEASE_NAME}
    if record.version:
        metadata["resourceVersion"] = record.version
    spec = {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": max(1, round(record.duration_s)),  # whole seconds, by the API
        "leaseTransitions": record.transitions,
        "acquireTime": record.acquired or None,
        "renewTime": record.renewed or None,
    }
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": spec,
    }
