"""One pod of the modelled world: agent, engine, kubelet, and requests that look at every answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from modelled.agent import Disk, ModelAgent, Surroundings
from modelled.clockwork import StoryClock
from modelled.engine import BASE, ModelEngine
from modelled.strikes import Boundaries
from weightrollout.agent.stable import Stable
from weightrollout.api.spec import TakeOut
from weightrollout.swap.book import Reservation
from weightrollout.swap.records import Content

AGENT_RESTART_S = 0.5
PROBE_S = 1.0
PROBE_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Ground:
    """What the pods of one story share."""

    boundaries: Boundaries
    clock: StoryClock
    broke: Callable[[str], None]
    stable: Callable[[], Stable]
    settle_s: float
    bad: frozenset[str]
    reserved: Callable[["ModelPod"], None] = lambda pod: None
    drafts: bool = False  # the engines speculate with a draft


class ModelPod:
    def __init__(self, name: str, ground: Ground, agent_restart_s: float) -> None:
        self.name = name
        self.ground = ground
        self.disk = Disk()
        self.engine = ModelEngine(name, ground.boundaries, ground.broke, drafts=ground.drafts)
        self.engine.died = self._engine_died
        self.engine.may_change = self._why_untouchable
        self.ready = False  # as the API server shows it
        self.unready_since = 0.0
        self.label = ""
        self.put_in_txn = ""
        self._failures = 0
        self._agent_restart_s = agent_restart_s
        self.agent = self.new_agent()

    # -- processes ------------------------------------------------------------------------

    def new_agent(self) -> ModelAgent:
        ground = self.ground
        return ModelAgent(
            Surroundings(
                self.name,
                self.disk,
                self.engine,
                ground.boundaries,
                ground.clock,
                ground.stable,
                ground.bad,
                self._reserved,
            )
        )

    def _reserved(self, wish: Reservation) -> None:
        self.ground.reserved(self)

    def start(self) -> None:
        self.agent.start()

    def kill_agent(self) -> None:
        if not self.agent.alive:
            return
        self.agent.kill()
        asyncio.get_running_loop().call_later(self._agent_restart_s, self._agent_is_back)

    def _agent_is_back(self) -> None:
        self.ground.boundaries.say(f"{self.name} agent is back")
        self.agent = self.new_agent()
        self.agent.start()

    def _engine_died(self) -> None:
        self._unready()  # the kubelet itself sees a container that ended

    # -- kubelet --------------------------------------------------------------------------

    async def kubelet(self) -> None:
        while True:
            self.probe()
            await asyncio.sleep(PROBE_S)

    def probe(self) -> None:
        if self.agent.alive and self.agent.ready:
            self._failures, self.ready = 0, True
            self.request()
            return
        self._failures += 1
        if self._failures >= PROBE_FAILURES or not self.engine.up:
            self._unready()

    def _unready(self) -> None:
        if self.ready:
            self.unready_since = self.ground.clock.monotonic()
            self.ready = False

    # -- what must hold at every moment ---------------------------------------------------

    @property
    def engaged(self) -> bool:
        """By its journal."""
        return self.disk.book.running is not None or self.disk.book.reservation is not None

    def request(self) -> None:
        """Somebody asks. 5: what answers is whole, and the journal can name it."""
        self._claims_are_true()
        if not self.ready:
            return
        answered = self.engine.answer()
        if answered is not None and answered not in self._nameable():
            self.ground.broke(f"invariant 5: {self.name} answers with {answered}, unnamed")

    def _claims_are_true(self) -> None:
        """3: what the agent says is loaded, is."""
        agent, engine = self.agent, self.engine
        if not agent.alive or not engine.up or agent.sight.instance != engine.instance:
            return
        claimed = agent.serving
        if claimed is not None and engine.whole != (claimed.digest or BASE):
            self.ground.broke(
                f"invariant 3: {self.name} says {claimed.version}, its engine holds {engine.blocks}"
            )
        proven = agent.book.serving
        if claimed is None or claimed.is_baseline or proven is None or not engine.drafts:
            return
        if proven.degraded is None and engine.draft != claimed.draft_digest:
            self.ground.broke(f"{self.name} says that all is well, its draft is {engine.draft}")

    def _nameable(self) -> set[str]:
        """What the journal on disk says that this engine may hold."""
        book = self.disk.book
        names: set[str] = set()
        if book.serving is not None and book.serving.instance == self.engine.instance:
            names.add(book.serving.content.digest)
        elif book.touched != self.engine.instance:
            names.add(BASE)
        if book.running is not None:
            state = book.running.state
            sources = (state.request.target, state.request.last_good)
            names |= {each.digest for each in sources if each is not None}
        return names

    def _why_untouchable(self) -> str:
        """2: with takeOut Endpoint weights change only after Ready=False, settled."""
        running = self.disk.book.running
        if running is None:
            return "no swap is journaled"
        if running.take_out is TakeOut.NONE:
            return ""
        if self.ready:
            return "the pod is Ready"
        waited = self.ground.clock.monotonic() - self.unready_since
        if waited < self.ground.settle_s - 1e-6:
            return f"it is out for {waited:.2f} s only"
        return ""

    # -- what must hold at the end --------------------------------------------------------

    def unsettled(self, content: Content) -> str:
        """Why this pod does not serve exactly this, proven, with nothing left behind; "" when so."""
        book, engine = self.disk.book, self.engine
        if book.reservation is not None or book.running is not None:
            return "a reservation or a transaction is left"
        if engine.whole != (content.digest or BASE) or engine.version != content.version:
            return f"the engine holds {engine.blocks} as {engine.version}"
        if engine.paused or not engine.up:
            return "the engine is paused or down"
        if self.agent.serving is None or not self.agent.serving.same_weights(content):
            return f"the agent says it serves {self.agent.serving}"
        if not self.ready:
            return "the pod is not Ready"
        return ""
