"""A WeightRollout in each state that a tool can meet, with the status that the planner gives it.

No status is written by hand: worlds are played until they are there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planning.stories import Story
from planning.worlds import PROMPT_FAILED, UNDONE, digest, new_pod, uri, weights, world_of
from weightrollout.api.names import API_VERSION, KIND
from weightrollout.api.schema import UNSEEN
from weightrollout.api.spec import Mode, OnFailure, Step, Strategy
from weightrollout.api.status import MeasurementOutcome, Phase, WeightRolloutStatus
from weightrollout.controller.refused import refused_status
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault
from weightrollout.rollout.simulate import Answer, Checkpoint, ToyWorld

Json = dict[str, Any]
Reached = Callable[[Plan], bool]


@dataclass(frozen=True, slots=True)
class Recorded:
    name: str  # what is the case with it
    body: Json
    phase: Phase | None  # None: no operator has seen it

    @property
    def is_done(self) -> bool:
        """The one truth: the operator has seen this spec, and all that it asks for is proven."""
        seen = self.body["metadata"]["generation"] == self.body["status"]["observedGeneration"]
        return seen and self.phase is Phase.COMPLETE


def recorded() -> list[Recorded]:
    """All of them; the order is that of a life."""
    done = world_of("b", 2, on="a")
    _play(done, _phase(Phase.COMPLETE))
    older = done.status
    done.change_spec(weights=weights("c"))
    return [
        Recorded("just applied", _body(done, UNSEEN["default"]), None),
        *(_reached(name, world(), reached) for name, (world, reached) in WORLDS.items()),
        _recorded(
            "a spec that nobody can read", done, refused_status(older, 2, 1, "spec.x", "t=9")
        ),
        _recorded("a newer spec, not seen yet", done, older),
        _deleted(done, older),
    ]


def _phase(phase: Phase) -> Reached:
    return lambda planned: planned.status.phase is phase


def _held(reason: str) -> Reached:
    return lambda planned: planned.status.hold is not None and planned.status.hold.reason == reason


def _canary(step: Json) -> ToyWorld:
    steps = (Step.model_validate({"updated": 1}), Step.model_validate(step))
    return world_of("b", 3, on="a", strategy=Strategy(max_unavailable=1, steps=steps))


def _bad(world: ToyWorld) -> ToyWorld:
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    return world


def _starting() -> ToyWorld:
    world = world_of("a", 0)
    world.pods.append(new_pod(0, running=False, fault=AgentFault.STARTING))
    return world


def _scaled_to_zero() -> ToyWorld:
    world = world_of("a", 2, on="a")
    _play(world, _phase(Phase.COMPLETE))
    world.pods.clear()
    return world


def _unmeasured() -> ToyWorld:
    analysis = {"prometheus": {"query": "x", "max": 1}, "count": 1, "inconclusiveLimit": 0}
    world = _canary({"analysis": analysis})
    world.answers = [Answer(said=MeasurementOutcome.INCONCLUSIVE, reason="NoData")]
    return world


def _not_brought_back() -> ToyWorld:
    world = world_of("b", 3, on="a", strategy=Strategy(max_unavailable=1, max_failed=0))
    world.pod("chat-2").fates = [UNDONE] * 3
    _play(world, _phase(Phase.ROLLING_BACK))
    world.pod("chat-0").fates = [UNDONE] * 3
    return world


def _reused() -> ToyWorld:
    world = world_of("b", 2, on="a")
    _play(world, _phase(Phase.COMPLETE))
    world.change_spec(weights=weights("b", digest("d")))
    return world


WORLDS: dict[str, tuple[Callable[[], ToyWorld], Reached]] = {
    "no pods": (lambda: world_of("a", 0), _held("NoPods")),
    "pods that start": (_starting, _phase(Phase.PENDING)),
    "pods that move": (lambda: world_of("b", 2, on="a"), _phase(Phase.PROGRESSING)),
    "a person's pause": (lambda: world_of("b", 2, on="a", mode=Mode.PAUSED), _phase(Phase.PAUSED)),
    "a step that waits for a person": (lambda: _canary({"pause": {}}), _held("StepPaused")),
    "a step that waits for time": (
        lambda: _canary({"pause": {"durationSeconds": 60}}),
        _held("StepTimed"),
    ),
    "an analysis that nobody answers": (_unmeasured, _held("AnalysisInconclusive")),
    "suspended": (
        lambda: world_of("b", 2, on="a", mode=Mode.SUSPENDED),
        _phase(Phase.SUSPENDED),
    ),
    "complete": (lambda: world_of("b", 2, on="a"), _phase(Phase.COMPLETE)),
    "scaled to zero": (_scaled_to_zero, _phase(Phase.COMPLETE)),
    "on its way back": (lambda: _bad(world_of("b", 2, on="a")), _phase(Phase.ROLLING_BACK)),
    "rolled back": (lambda: _bad(world_of("b", 2, on="a")), _phase(Phase.ROLLED_BACK)),
    "held after a failure": (
        lambda: _bad(world_of("b", 2, on="a", on_failure=OnFailure.HOLD)),
        _phase(Phase.FAILED),
    ),
    "a way back that failed": (_not_brought_back, _phase(Phase.FAILED)),
    "a version with another digest": (_reused, _held("VersionReused")),
}


def _play(world: ToyWorld, reached: Reached) -> None:
    Story(world).until(reached)


def _reached(name: str, world: ToyWorld, reached: Reached) -> Recorded:
    _play(world, reached)
    return _recorded(name, world, world.status)


def _recorded(name: str, world: ToyWorld, status: WeightRolloutStatus) -> Recorded:
    wire = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Recorded(name, _body(world, wire), status.phase)


def _deleted(world: ToyWorld, status: WeightRolloutStatus) -> Recorded:
    found = _recorded("being deleted", world, status)
    found.body["metadata"]["deletionTimestamp"] = "2026-11-29T12:00:00Z"
    return found


def _body(world: ToyWorld, status: Json) -> Json:
    spec = world.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    metadata = {"name": world.name, "namespace": "default", "generation": world.generation}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }
