"""A pod of the toy world: engine, agent and kubelet as far as the planner can see them.

It keeps the agent's promises and none of its work: weights are a name, a swap is one assignment.
"""

from dataclasses import dataclass, field

from weightrollout.api.names import TRAINER_REVISION
from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import TakeOut
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.rollout.fleet import (
    AgentFault,
    AgentView,
    AttemptsView,
    EngineView,
    PodView,
    Ref,
    StagingView,
    TransactionView,
)


@dataclass(frozen=True, slots=True)
class Fate:
    """How one swap ends."""

    outcome: Outcome
    failure_class: FailureClass | None = None
    reason: str = ""
    message: str = ""


COMMITTED = Fate(Outcome.COMMITTED)
NOT_PAUSED = (Outcome.UNTOUCHED, Outcome.GAVE_UP)


@dataclass(frozen=True, slots=True)
class StageFate:
    failure_class: FailureClass
    reason: str
    message: str


@dataclass
class ToyPod:
    name: str
    uid: str
    gated: bool = False
    fault: AgentFault | None = None  # instead of the agent's view
    running: bool = True
    terminating: bool = False
    incompatible_reason: str = ""
    fates: list[Fate] = field(default_factory=list)  # of the next swaps, whatever the weights
    busy_until: float = 0.0  # its requests run on until then
    # engine
    instance: int = 1
    engine_up: bool = True
    loaded: Ref | None = None  # None: base weights
    poisoned: bool = False
    held: str = ""  # by a trainer, in words
    updating: bool = False  # and nobody can say what is loaded
    hangs: bool = False  # it does not end, whoever asks
    # agent
    driven: bool = False  # it was told that a trainer drives
    drivable: bool = False  # a trainer can reach it
    told: Ref | None = None
    last_good: Ref | None = None
    staged: set[str] = field(default_factory=set)
    drafts: set[str] = field(default_factory=set)  # digests of staged drafts
    signed: set[str] = field(default_factory=set)  # `Ref.proofs` of what is staged
    staging: StagingView | None = None
    reserved_txn: str | None = None
    take_out: TakeOut = TakeOut.ENDPOINT
    transaction: TransactionView | None = None
    attempts: dict[str, AttemptsView] = field(default_factory=dict)
    journal: set[str] = field(default_factory=set)  # transactions that have begun
    # Kubernetes
    ready: bool = False
    gate_open: bool | None = None
    version_label: str = ""
    put_in_txn: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    controlled: bool = True

    @property
    def swapping(self) -> bool:
        return self.transaction is not None and self.transaction.running

    def agent_ready(self, published: Ref | None) -> bool:
        """The truth table of the readiness port."""
        if not self.engine_up or self.poisoned or self.held:
            return False
        if self.driven and self.loaded is None:
            return False
        if (self.reserved_txn or self.swapping) and self.take_out is TakeOut.ENDPOINT:
            return False
        return _content(self.loaded) == _content(self.told or self.last_good or published)

    def should_be_ready(self, published: Ref | None) -> bool:
        gate = not self.gated or self.gate_open is True
        alive = self.running and self.fault is not AgentFault.STARTING
        return alive and gate and self.agent_ready(published)

    def view(self, published: Ref | None) -> PodView:
        return PodView(
            name=self.name,
            uid=self.uid,
            agent=self.fault or self._agent(published),
            ready=self.ready,
            running=self.running,
            terminating=self.terminating,
            gated=self.gated,
            gate_open=self.gate_open,
            version_label=self.version_label,
            put_in_txn=self.put_in_txn,
            labels=self.labels,
            controlled=self.controlled,
        )

    def _agent(self, published: Ref | None) -> AgentView:
        return AgentView(
            ready=self.agent_ready(published),
            engine=EngineView(
                reachable=self.engine_up,
                instance=f"{self.uid}-{self.instance}",
                baseline=self.loaded is None
                and self.engine_up
                and not (self.poisoned or self.updating),
            ),
            not_ready_reason=HoldReason.HELD_BY_TRAINER if self.held and self.engine_up else "",
            not_ready_message=f"a trainer holds the engine: {self.held}" if self.held else "",
            drivable=self.drivable,
            guard="Strict" if self.drivable else "",
            serving=self.loaded
            if self.engine_up and not (self.poisoned or self.updating)
            else None,
            told=self.told,
            last_good=self.last_good,
            staged=frozenset(self.staged),
            drafts_staged=frozenset(self.drafts),
            signed=frozenset(self.signed),
            staging=self.staging,
            reserved_txn=self.reserved_txn,
            transaction=self.transaction,
            attempts=dict(self.attempts),
            poisoned=self.poisoned,
            incompatible_reason=self.incompatible_reason,
            incompatible_message=self.incompatible_reason and "as the story says",
        )

    # -- what a trainer does to it --

    def pause(self) -> bool:
        """False: it is refused, as by an agent."""
        if self.reserved_txn or self.swapping or self.poisoned or not self.engine_up:
            return False
        self.held = self.held or "it is paused"
        return True

    def update(self) -> None:
        """From now on until `finish` nobody can say what is loaded."""
        self.held, self.updating = "an update of its target weights is open", True

    def finish(self, version: str) -> None:
        self.held, self.updating = "it is paused", False
        self.loaded = self.told = Ref(TRAINER_REVISION, version)
        self.last_good = None

    def resume(self) -> None:
        self.held = "" if not self.updating else self.held

    # -- what happens to it --

    def begin_swap(self, txn: str, attempt: int, weights: Ref) -> None:
        if txn in self.journal:
            raise AssertionError(f"{txn} was run before: an agent would answer with its outcome")
        self.journal.add(txn)
        self.transaction = TransactionView(txn, attempt, weights, SwapPhase.DRAINING, None)

    def end_swap(self, fate: Fate) -> None:
        """A swap that cannot be undone, because nothing good was loaded before, poisons."""
        running = self.transaction
        if running is None or not running.running:
            return
        outcome = fate.outcome
        if outcome is Outcome.UNDONE and self.loaded is None:
            outcome = Outcome.POISONED
        self.reserved_txn = None
        self.transaction = TransactionView(
            running.txn,
            running.attempt,
            running.weights,
            SwapPhase.DONE,
            outcome,
            fate.failure_class,
            fate.reason,
            fate.message,
            pause_millis=0.0 if outcome in NOT_PAUSED else 100.0,
        )
        self._count(running.weights.digest or "", fate, outcome)
        match outcome:
            case Outcome.COMMITTED:
                self.last_good = self.loaded
                self.loaded = self.told = running.weights
            case Outcome.RESTARTED:
                self.restart()
            case Outcome.POISONED:
                self.poisoned = True
            case Outcome.UNTOUCHED | Outcome.GAVE_UP | Outcome.UNDONE:
                pass

    def lose_engine(self) -> None:
        """Its process has ended, and another one is not there yet. What was promised to it stays promised."""
        self.engine_up = False

    def restart(self) -> None:
        """Another instance of the engine, with its base weights."""
        self.instance += 1
        self.engine_up = True
        self.loaded = None
        self.poisoned = self.updating = False
        self.held = ""
        self.reserved_txn = None
        self.last_good = None

    def _count(self, digest: str, fate: Fate, outcome: Outcome) -> None:
        if outcome in NOT_PAUSED:
            return
        before = self.attempts.get(digest, AttemptsView(0)).attempts
        failed = AttemptsView(before + 1, fate.failure_class, fate.reason, fate.message)
        self.attempts[digest] = AttemptsView(0) if outcome is Outcome.COMMITTED else failed


def _content(ref: Ref | None) -> tuple[str, str]:
    return ("", "default") if ref is None or ref.is_baseline else (ref.digest or "", ref.version)
