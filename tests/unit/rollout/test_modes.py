"""What spec.mode allows, row by row as docs/canary.md says it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from planning.stories import Story
from planning.worlds import POISONED, digest, new_pod, ref_of, world_of
from weightrollout.api.spec import Mode, Repair
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.rollout.fleet import Doing, Verdict
from weightrollout.rollout.simulate import ToyWorld

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "canary.md"
LONG_S: Final = 200.0
Happens = Callable[[Mode], bool]


def _after(world: ToyWorld, mode: Mode) -> ToyWorld:
    world.change_spec(mode=mode)
    Story(world).for_seconds(LONG_S)
    return world


def _until(world: ToyWorld, doing: Callable[[], bool]) -> ToyWorld:
    Story(world).until(lambda _: doing())
    return world


def serving_pod_is_swapped(mode: Mode) -> bool:
    world = _after(world_of("b", 2, on="a"), mode)
    return any(pod.transaction is not None for pod in world.pods)


def serving_pod_goes_back(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    _until(world, lambda: world.pod("chat-0").loaded == ref_of("b"))
    for pod in world.pods:
        pod.fates = []
    assert world.status.target is not None
    world.action = f"abort:{world.status.target.revision}@1"
    world = _after(world, mode)
    return all(pod.loaded == ref_of("a") for pod in world.pods)


def pod_with_nothing_to_serve_loads_stable(mode: Mode) -> bool:
    world = world_of("a", 2, on="a")
    world.pods.append(new_pod(2, staged={digest("a")}))
    return _after(world, mode).pod("chat-2").transaction is not None


def poisoned_engine_is_restarted(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    world.pod("chat-0").fates = [POISONED]
    _until(world, lambda: world.pod("chat-0").poisoned)
    world.work = {each for each in world.work if each.doing is not Doing.RESTART_ENGINE}
    world.events = [each for each in world.events if each.what != Doing.RESTART_ENGINE]
    before = world.pod("chat-0").instance
    return _after(world, mode).pod("chat-0").instance > before


def pod_beyond_repair_is_evicted(mode: Mode) -> bool:
    world = world_of("b", 3, on="a", repair=Repair(retries=0, allow_delete=True))
    _until(world, lambda: world.pod("chat-0").loaded == ref_of("b"))
    world.pod("chat-1").fates, world.refused = [POISONED], {Doing.EVICT}
    _until(world, lambda: world.pod("chat-1").poisoned)
    _until(world, lambda: not world.work)
    world.refused = set()
    return _after(world, mode).pod("chat-1").uid != "pod-1"


def pods_read_the_new_version(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    return any(digest("b") in pod.staged for pod in _after(world, mode).pods)


def swap_that_runs_ends_and_is_put_in(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    _until(world, lambda: world.pod("chat-0").swapping)
    pod = _after(world, mode).pod("chat-0")
    return pod.ready and pod.version_label == "b"


def promise_that_is_not_used_yet_is_used(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    _until(world, lambda: world.pod("chat-0").reserved_txn is not None)
    pod = _after(world, mode).pod("chat-0")
    assert pod.ready
    return pod.loaded == ref_of("b")


def gate_of_a_pod_is_answered(mode: Mode) -> bool:
    world = world_of("a", 2, on="a", gated=True)
    world.pod("chat-1").gate_open = None
    return _after(world, mode).pod("chat-1").gate_open is True


def abort_and_retry_are_written_to_the_history(mode: Mode) -> bool:
    world = world_of("b", 2, on="a")
    _until(world, lambda: world.pod("chat-0").loaded == ref_of("b"))
    assert world.status.target is not None
    world.action = f"abort:{world.status.target.revision}@1"
    return any(each.verdict is Verdict.REJECTED for each in _after(world, mode).revisions)


def stable_is_published_for_pods_that_start(mode: Mode) -> bool:
    world = world_of("a", 2, on="a")
    world.published, world.status = None, WeightRolloutStatus()
    return _after(world, mode).published == ref_of("a")


ROWS: Final[dict[str, Happens]] = {
    "a serving pod is swapped": serving_pod_is_swapped,
    "a serving pod goes back in a rollback or an abort": serving_pod_goes_back,
    "a pod with nothing that it could serve loads stable": pod_with_nothing_to_serve_loads_stable,
    "a poisoned engine is restarted": poisoned_engine_is_restarted,
    "a pod beyond repair is evicted (`repair.allowDelete`)": pod_beyond_repair_is_evicted,
    "pods read the new version": pods_read_the_new_version,
    "a swap that runs ends, and the pod is put in": swap_that_runs_ends_and_is_put_in,
    "a pod that is promised to a swap begins it": promise_that_is_not_used_yet_is_used,
    "readiness gates are answered": gate_of_a_pod_is_answered,
    "abort and retry are written to the history": abort_and_retry_are_written_to_the_history,
    "stable is published for pods that start": stable_is_published_for_pods_that_start,
}


def documented() -> dict[str, dict[str, bool]]:
    """By row and mode, whether the page says that it happens."""
    lines = PAGE.read_text().splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith("| spec.mode |"))
    cells = [[each.strip() for each in line.strip("|").split("|")] for line in lines[begin:]]
    head, rows = cells[0][1:], cells[2 : 2 + len(ROWS)]
    return {
        row[0]: {mode: says == "yes" for mode, says in zip(head, row[1:], strict=True)}
        for row in rows
    }


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("row", ROWS)
def test_mode_allows_what_the_page_says(row: str, mode: Mode) -> None:
    assert ROWS[row](mode) is documented()[row][mode]


def test_page_has_no_other_row() -> None:
    assert set(documented()) == set(ROWS)
