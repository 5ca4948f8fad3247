"""What is true about one rollout, ready to be shown.

In: the WeightRollout as the API server has it, and its pods. Out: one `View`; text and JSON are both
made from it. Numbers stay numbers. Fields and words that a newer operator writes are passed over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from weightrollout.api.conditions import ConditionType
from weightrollout.api.reasons import DegradedReason
from weightrollout.api.status import Phase
from weightrollout.cli.words import natural
from weightrollout.kube.pods import Pod

Json = Mapping[str, Any]

#: Nothing more comes by itself.
OVER: Final = (Phase.COMPLETE, Phase.ROLLED_BACK, Phase.FAILED)
#: Shown for a fleet that nobody has looked at.
NO_STATUS: Final = "no status yet: does an operator run for this namespace?"
NOT_SEEN: Final = "the operator has not seen the newest change of the spec yet"


class Outcome(StrEnum):
    COMPLETE = "Complete"  # every pod serves what is desired
    STALLED = "Stalled"  # it does not go on without a person
    UNDER_WAY = "UnderWay"  # it moves, or waits for something that is named


class PodState(StrEnum):
    """From its version and conditions; the operator knows more and says it in status."""

    UPDATED = (
        "Updated"  # Ready, and serves the target; or with what a trainer gave it, where one drives
    )
    SERVING = "Serving"  # Ready, with something else
    OUT = "Out"  # runs and is not Ready: it swaps, restarts, or is broken
    STARTING = "Starting"
    ENDING = "Ending"


@dataclass(frozen=True, slots=True)
class WeightsName:
    version: str
    digest: str | None
    revision: str


@dataclass(frozen=True, slots=True)
class HoldView:
    gate: str
    reason: str
    message: str
    since: str  # RFC 3339
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PausesView:
    last: int
    p50: int
    p99: int
    max: int


@dataclass(frozen=True, slots=True)
class StagingView:
    bytes: int
    total: int
    pods: int
    bytes_per_second: int


@dataclass(frozen=True, slots=True)
class AnalysisView:
    step: int  # from 1
    outcome: str
    dry_run: bool
    message: str


@dataclass(frozen=True, slots=True)
class StepView:
    index: int  # steps that are passed
    of: int
    hash: str  # of revision and steps
    since: str  # RFC 3339


@dataclass(frozen=True, slots=True)
class ActionView:
    """The answer to the newest verb of a person."""

    id: str  # the annotation it answers
    verb: str
    outcome: str
    message: str
    time: str  # RFC 3339


@dataclass(frozen=True, slots=True)
class TrainerView:
    drives: bool
    serving: int  # pods with weights that a trainer sent
    held: int
    guard: str  # "": nobody says


@dataclass(frozen=True, slots=True)
class PodLine:
    name: str
    state: PodState
    reason: str  # CamelCase; "" when there is nothing to explain
    message: str


@dataclass(frozen=True, slots=True)
class VersionGroup:
    """Pods by the version they serve, as far as anybody says; "" is: never put in by the operator."""

    version: str
    digest: str | None
    roles: tuple[str, ...]  # of "target", "stable", "desired"
    pods: tuple[PodLine, ...]


@dataclass(frozen=True, slots=True)
class View:
    name: str
    namespace: str
    outcome: Outcome
    phase: str
    message: str
    desired: WeightsName | None
    target: WeightsName | None
    stable: WeightsName | None
    updated: int
    selected: int
    swapping: int
    hold: HoldView | None
    pause_millis: PausesView | None
    staging: StagingView | None
    analysis: tuple[AnalysisView, ...]  # newest first
    step: StepView | None
    last_action: ActionView | None
    trainer: TrainerView | None
    versions: tuple[VersionGroup, ...]

    @property
    def driven(self) -> bool:
        """By a trainer."""
        return self.trainer is not None and self.trainer.drives


def view_of(rollout: Json, pods: Iterable[Pod]) -> View:
    status: Json = rollout.get("status") or {}
    metadata: Json = rollout["metadata"]
    counts: Json = status.get("pods") or {}
    seen = status.get("observedGeneration") == metadata.get("generation")
    fleet = [pod for pod in pods if pod.counts]
    return View(
        name=metadata["name"],
        namespace=metadata["namespace"],
        outcome=_outcome(status, metadata.get("generation")),
        phase=status.get("phase", "Pending"),
        message=_message(status, seen=seen),
        desired=_weights(status.get("desired")),
        target=_weights(status.get("target")),
        stable=_weights(status.get("stable")),
        updated=counts.get("updated", 0),
        selected=counts.get("selected", len(fleet)),
        swapping=counts.get("swapping", 0),
        hold=_hold(status.get("hold")),
        pause_millis=_pauses(status.get("pauseMillis")),
        staging=_staging(status.get("staging")),
        analysis=tuple(_analysis(each) for each in status.get("analysis") or ()),
        step=_step(status.get("step")),
        last_action=_action(status.get("lastAction")),
        trainer=_trainer(status.get("trainer")),
        versions=_groups(status, fleet),
    )


def _outcome(status: Json, generation: int | None) -> Outcome:
    """A condition about an older spec says nothing about this one."""
    told = {
        each.get("type"): each.get("status")
        for each in status.get("conditions") or ()
        if each.get("observedGeneration") == generation
    }
    if told.get(ConditionType.STALLED) == "True":
        return Outcome.STALLED
    if told.get(ConditionType.READY) == "True":
        return Outcome.COMPLETE
    return Outcome.UNDER_WAY


def _message(status: Json, *, seen: bool) -> str:
    if not status.get("observedGeneration"):
        return NO_STATUS
    if not seen:
        return NOT_SEEN
    message: str = status.get("message", "")
    return message


def _weights(said: Json | None) -> WeightsName | None:
    if not said:
        return None
    return WeightsName(said.get("version", ""), said.get("digest"), said.get("revision", ""))


def _hold(said: Json | None) -> HoldView | None:
    if not said:
        return None
    return HoldView(
        gate=said.get("gate", ""),
        reason=said.get("reason", ""),
        message=said.get("message", ""),
        since=said.get("since", ""),
        pods=tuple(said.get("pods") or ()),
    )


def _pauses(said: Json | None) -> PausesView | None:
    if not said:
        return None
    return PausesView(said["last"], said["p50"], said["p99"], said["max"])


def _staging(said: Json | None) -> StagingView | None:
    if not said:
        return None
    rate = said.get("bytesPerSecond", 0)  # an older operator says none
    return StagingView(said["bytes"], said["total"], said["pods"], rate)


def _analysis(said: Json) -> AnalysisView:
    return AnalysisView(
        step=said.get("index", 0) + 1,
        outcome=said.get("outcome", ""),
        dry_run=said.get("dryRun", False),
        message=said.get("message", ""),
    )


def _step(said: Json | None) -> StepView | None:
    if not said or "index" not in said or "of" not in said:
        return None
    return StepView(said["index"], said["of"], said.get("hash", ""), said.get("since", ""))


def _action(said: Json | None) -> ActionView | None:
    if not said:
        return None
    return ActionView(
        *(said.get(each, "") for each in ("id", "verb", "outcome", "message", "time"))
    )


def _trainer(said: Json | None) -> TrainerView | None:
    if not said:
        return None
    return TrainerView(
        bool(said.get("drives")), said.get("serving", 0), said.get("held", 0), said.get("guard", "")
    )


def _groups(status: Json, pods: list[Pod]) -> tuple[VersionGroup, ...]:
    """Where the fleet goes first, then where undo leads, then the rest by name."""
    named = {role: _weights(status.get(role)) for role in ("target", "stable", "desired")}
    digests = {
        each["version"]: each.get("digest")
        for each in (*(status.get("versions") or ()), *filter(None, map(status.get, named)))
    }
    target = named["target"].version if named["target"] else None

    def roles(version: str) -> tuple[str, ...]:
        return tuple(role for role, said in named.items() if said and said.version == version)

    def place(version: str) -> tuple[int, str]:
        order = {"target": 0, "stable": 1, "desired": 2}
        return min((order[role] for role in roles(version)), default=3), version

    lines, serving = _PodLines(status, target), _serving(status, pods)
    return tuple(
        VersionGroup(
            version=version,
            digest=digests.get(version),
            roles=roles(version),
            pods=tuple(
                lines.line(pod, version)
                for pod in sorted(pods, key=lambda pod: natural(pod.name))
                if serving[pod.name] == version
            ),
        )
        for version in sorted(set(serving.values()), key=place)
    )


def _serving(status: Json, pods: list[Pod]) -> dict[str, str]:
    """Pod -> version. Labels say which pod serves what, and may be late with takeOut None; where the agents of
    all pods report one version, it is that one."""
    loaded: list[Json] = status.get("versions") or []
    there = [pod for pod in pods if not pod.terminating]
    found = {pod.name: pod.version_label for pod in pods}
    if len(loaded) == 1 and loaded[0].get("pods") == len(there):
        # One without a label has come since: another pod of that name was counted.
        found |= {pod.name: loaded[0]["version"] for pod in there if pod.version_label}
    return found


class _PodLines:
    """Joins what a pod shows with what status says about it."""

    def __init__(self, status: Json, target: str | None) -> None:
        self._target = target
        self._driven = bool((status.get("trainer") or {}).get("drives"))
        self._hold = _hold(status.get("hold"))
        # Newest first in status, so the first one of a pod stands.
        self._failures: dict[str, Json] = {}
        for failure in status.get("failures") or ():
            self._failures.setdefault(failure["pod"], failure)

    def line(self, pod: Pod, version: str) -> PodLine:
        state = self._state(pod, version)
        failure = self._failures.get(pod.name)
        degraded = failure is not None and failure.get("reason") == DegradedReason.DRAFT_FAILED
        if state is PodState.UPDATED and not degraded:
            return PodLine(pod.name, state, "", "")
        if failure is not None:
            return PodLine(pod.name, state, failure.get("reason", ""), failure.get("message", ""))
        if self._hold is not None and pod.name in self._hold.pods:
            return PodLine(pod.name, state, self._hold.reason, "")
        return PodLine(pod.name, state, "", "")

    def _state(self, pod: Pod, version: str) -> PodState:
        if pod.terminating:
            return PodState.ENDING
        if not pod.running:
            return PodState.STARTING
        if not pod.ready:
            return PodState.OUT
        right = self._driven or version == self._target
        return PodState.UPDATED if right else PodState.SERVING
