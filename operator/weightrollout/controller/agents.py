"""One living connection to every agent: Hello opens it, Watch keeps it, silence ends it.

What an agent said is shown only while its stream is alive; a cut stream is opened again at once, and
when that fails the agent is unreachable. No call here changes anything in a pod but Hello, which raises
the epoch.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import grpc.aio

from weightrollout import __version__
from weightrollout.api.addresses import with_port
from weightrollout.clock import Clock
from weightrollout.controller.agent_access import CONTACT_S, AgentAccess
from weightrollout.controller.agent_line import Line
from weightrollout.controller.agent_view import NotUnderstood, agent_view
from weightrollout.controller.calls import (
    AgentRefusedCall,
    AgentUnreachable,
    call_error,
    channel_closed,
    wire_fence,
)
from weightrollout.controller.leader import Fence
from weightrollout.kube.pods import Pod
from weightrollout.rollout.fleet import AgentFault, AgentView, StagingView
from weightrollout.wire.agent import agent_pb2 as pb

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import (
        AgentAsyncStub,
    )  # exists for the checker only

HELLO_S: Final = 2.0
HEARTBEAT_S: Final = 2.0
SILENT_S: Final = 6.0  # three heartbeats; a busy loop may be a second late
YOUNG_S: Final = 15.0  # an agent that was never reached is starting for so long
RETRY_S: Final = (0.1, 2.0)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Orders:
    """What a Hello says of trainers, as agent.proto has it; "": nothing."""

    driver: str = ""
    guard: str = ""


NO_ORDERS: Final = Orders()


@dataclass(frozen=True, slots=True)
class Address:
    pod: str
    pod_uid: str
    target: str  # host:port


class AgentLink:
    """One agent. `on_change` is called after every loss, and after every message that says anything new."""

    def __init__(
        self,
        address: Address,
        fence: Fence,
        clock: Clock,
        expected: bool,
        on_change: Callable[[], None],
        line: Line,
        *,
        quiet: bool = False,
        orders: Orders = NO_ORDERS,
    ) -> None:
        """`expected`: it ran before our term, so that no answer means unreachable, not starting.

        `quiet`: we only look, so that it may help itself as it would without an operator.
        """
        self.address = address
        self.stale_epoch = 0  # the epoch it refused us with
        self.heard = False  # it has answered, or failed to, at least once
        self.message = ""
        self.seen: AgentView | AgentFault = AgentFault.STARTING
        self.said: pb.AgentState | None = None  # last, also where it is silent since
        self._staged: StagingView | None = None
        self._fence = fence
        self._quiet = quiet
        self._orders = orders
        self._releases = ("", "")  # of agent and plugin, as they were told last
        self._clock = clock
        self._on_change = on_change
        self._patient_until = 0.0 if expected else clock.monotonic() + YOUNG_S
        self._told = asyncio.Event()  # replaced at every change; for `until`
        self._line = line
        self._task = self._start()

    @property
    def stub(self) -> "AgentAsyncStub":
        """For one call. Raises AgentUnreachable."""
        return self._line.stub

    def staged(self, ended: StagingView) -> None:
        """How a Stage call of ours ended. The agent shows a staging only while it runs, and a scout's
        digest must still be read after that."""
        self._staged = ended
        if isinstance(self.seen, AgentView) and self.seen.staging is None:
            self.seen = replace(self.seen, staging=ended)

    def set_fence(self, fence: Fence) -> None:
        """Another one is said at once."""
        if fence != self._fence:
            self._fence = fence
            self._task.cancel()
            self._task = self._start()

    def set_orders(self, orders: Orders) -> None:
        """Others are said at once."""
        if orders != self._orders:
            self._orders = orders
            self._task.cancel()
            self._task = self._start()

    def set_quiet(self, quiet: bool) -> None:
        """A stream that is open says what we were when it was opened."""
        if quiet != self._quiet:
            self._quiet = quiet
            self._task.cancel()
            self._task = self._start()

    def set_container(self, container: str) -> None:
        """The agent was started again: it speaks at once."""
        if self._line.moved_to(container) and not isinstance(self.seen, AgentView):
            self._task.cancel()
            self._task = self._start()

    def refused(self, refused: AgentRefusedCall) -> None:
        """A call of ours beside this link was."""
        self._line.judged(refused)

    async def until(self, fact: Callable[[AgentView], bool], deadline_s: float) -> bool:
        """Whether the agent's own report shows `fact` within the deadline."""
        try:
            async with asyncio.timeout(deadline_s):
                while not (isinstance(self.seen, AgentView) and fact(self.seen)):
                    await self._told.wait()
        except TimeoutError:
            return False
        return True

    async def heard_again(self) -> None:
        """Ends when the agent has answered a new Hello, or is known not to: what it said before a call
        whose answer was lost does not tell whether it acted."""
        if not isinstance(self.seen, AgentView):
            return
        told = self._told
        self._task.cancel()
        self._task = self._start()
        with contextlib.suppress(TimeoutError):  # the link was closed: nobody asks it any more
            async with asyncio.timeout(HELLO_S + CONTACT_S):
                await told.wait()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._line.close()

    def _start(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._run(), name=f"agent of {self.address.pod}")

    async def _run(self) -> None:
        retry_s = RETRY_S[0]
        while True:
            try:
                await self._line.reach()
                await self._hello()
                retry_s = RETRY_S[0]
                await self._follow()
            except _Cut:
                # It spoke a moment ago: its next Hello tells whether it still does.
                await asyncio.sleep(RETRY_S[0])
                continue
            except AgentRefusedCall as said:
                refused = self._line.judged(said)
                self.stale_epoch = refused.epoch if refused.reason == "StaleEpoch" else 0
                self._lost(AgentFault.REFUSED, f"{refused.reason}: {refused}")
            except AgentUnreachable as lost:
                self._line.doubt()
                young = self._clock.monotonic() < self._patient_until
                self._lost(AgentFault.STARTING if young else AgentFault.UNREACHABLE, str(lost))
            except NotUnderstood as wrong:
                self._lost(AgentFault.UNREACHABLE, f"its answer was not understood: {wrong}")
            except Exception as error:
                # Whatever it is, an old view must not stand for a living agent.
                log.exception("the link to the agent of %s failed", self.address.pod)
                self._lost(AgentFault.UNREACHABLE, f"its answer was not understood: {error!r}")
            await asyncio.sleep(retry_s)
            retry_s = min(retry_s * 2, RETRY_S[1])

    async def _hello(self) -> None:
        request = pb.HelloRequest(
            fence=wire_fence(self._fence),
            takeover=True,
            operator_version=__version__,
            driver=self._orders.driver,
            guard=self._orders.guard,
        )
        try:
            self._say(await self.stub.Hello(request, timeout=HELLO_S))
        except grpc.aio.AioRpcError as error:
            raise call_error("Hello", error) from error
        self.stale_epoch = 0
        self._patient_until = 0.0

    async def _follow(self) -> None:
        """Never returns. Raises _Cut, or AgentUnreachable where it said nothing (more)."""
        fence = None if self._quiet else wire_fence(self._fence)
        request = pb.WatchRequest(heartbeat_seconds=HEARTBEAT_S, fence=fence)
        stream = self.stub.Watch(request)
        spoke = False
        try:
            while True:
                async with asyncio.timeout(SILENT_S):
                    message = await stream.read()
                if not isinstance(message, pb.AgentState):
                    raise _Cut  # the end of the stream, which the agent never means
                spoke = True
                self._say(message)
        except TimeoutError as silent:
            raise AgentUnreachable(f"the agent was silent for {SILENT_S:g} s") from silent
        except asyncio.CancelledError as error:
            if not channel_closed():
                raise
            raise _Cut from error  # its channel was replaced long ago
        except grpc.aio.AioRpcError as error:
            if spoke:
                raise _Cut from error
            raise call_error("Watch", error) from error
        finally:
            stream.cancel()

    def _say(self, state: pb.AgentState) -> None:
        said = agent_view(state)
        self.said = state
        releases = (said.version, said.engine.plugin_version)
        if releases != self._releases:
            self._releases = releases
            if any(each not in ("", __version__) for each in releases):
                log.info("%s: agent of release %s, plugin of %s", self.address.pod, *releases)
        seen = said if said.staging is not None else replace(said, staging=self._staged)
        news = seen != self.seen or self.message != ""
        self.seen, self.message = seen, ""
        self._changed(news=news)

    def _lost(self, fault: AgentFault, message: str) -> None:
        if self.heard and (fault, message) == (self.seen, self.message):
            return
        self.seen, self.message = fault, message
        self._changed(news=True)

    def _changed(self, *, news: bool) -> None:
        """Without news nobody is woken: in a large fleet there is always a heartbeat."""
        self.heard = True
        told, self._told = self._told, asyncio.Event()
        told.set()
        if news:
            self._on_change()


class _Cut(Exception):
    """The stream ended after it had been alive."""


class Agents:
    """The links of one term, by pod uid."""

    def __init__(self, clock: Clock, wake: Callable[[str], None], access: AgentAccess) -> None:
        self._clock = clock
        self._access = access
        self._wake = wake
        self._links: dict[str, dict[str, AgentLink]] = {}  # rollout, pod uid
        self._quiet: set[str] = set()  # rollouts
        self._closing: set[asyncio.Task[None]] = set()

    def sync(
        self,
        rollout: str,
        fence: Fence,
        pods: list[Pod],
        first: bool,
        orders: Orders = NO_ORDERS,
    ) -> None:
        """Links for exactly these pods. `first`: the rollout's first pass in this term."""
        links = self._links.setdefault(rollout, {})
        wanted = {
            address.pod_uid: address for address in map(address_of, pods) if address is not None
        }
        known = {pod.uid: pod for pod in pods}
        for uid in [uid for uid, link in links.items() if wanted.get(uid) != link.address]:
            self._close(links.pop(uid))
        for uid, address in wanted.items():
            if uid in links:
                links[uid].set_container(known[uid].agent_container)
                links[uid].set_fence(fence)
                links[uid].set_orders(orders)
            else:
                pod = known[uid]
                line = Line(self._access, address.target, pod.callee, pod.agent_container)
                links[uid] = AgentLink(
                    *(address, fence, self._clock, first, lambda: self._wake(rollout), line),
                    quiet=rollout in self._quiet,
                    orders=orders,
                )

    def set_quiet(self, rollout: str, quiet: bool) -> None:
        """`quiet`: nothing is started for these pods, so that their agents count as without operator."""
        if quiet is (rollout in self._quiet):
            return
        self._quiet ^= {rollout}
        for link in self._links.get(rollout, {}).values():
            link.set_quiet(quiet)

    @property
    def rollouts(self) -> tuple[str, ...]:
        return tuple(self._links)

    def links(self, rollout: str) -> Mapping[str, AgentLink]:
        """By pod uid, as they are now."""
        return self._links.get(rollout, {})

    def link(self, rollout: str, pod_uid: str) -> AgentLink | None:
        return self._links.get(rollout, {}).get(pod_uid)

    @property
    def idle(self) -> bool:
        """Of no rollout at all, not even of one without pods."""
        return not self._links

    def all_heard(self, rollout: str) -> bool:
        return all(link.heard for link in self._links.get(rollout, {}).values())

    def highest_refused(self, rollout: str) -> int:
        return max((link.stale_epoch for link in self._links.get(rollout, {}).values()), default=0)

    def forget(self, rollout: str) -> None:
        self._quiet.discard(rollout)
        for link in self._links.pop(rollout, {}).values():
            self._close(link)

    async def close(self) -> None:
        for rollout in list(self._links):
            self.forget(rollout)
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _close(self, link: AgentLink) -> None:
        task = asyncio.create_task(link.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def address_of(pod: Pod) -> Address | None:
    """None: nobody to talk to, for now or for ever."""
    if not (pod.running and pod.ip and pod.agent_port):
        return None
    return Address(pod.name, pod.uid, with_port(pod.ip, pod.agent_port))
