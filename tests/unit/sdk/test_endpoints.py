"""A pod counts by its label, and where the fleet has nothing older without waiting for one."""

from typing import Any

import pytest

from weightrollout.kube.pods import trim_pod
from weightrollout.sdk.endpoints import Endpoint, serving
from weightrollout.sdk.state import FleetState, state_of

LABEL = "weightrollout.dev/version"


def pod(name: str, version: str, *, ready: bool = True) -> Any:
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    return trim_pod(
        {
            "metadata": {
                **{"name": name, "namespace": "ml", "uid": name, "resourceVersion": "1"},
                "labels": {"weightrollout.dev/name": "chat", LABEL: version},
            },
            "spec": {"containers": [{"name": "engine"}]},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [condition]},
        }
    )


def fleet(*loaded: tuple[str, int], of: int) -> FleetState:
    return state_of(
        {
            "metadata": {"name": "chat", "namespace": "ml", "generation": 9},
            "spec": {"weights": {"version": "exp.13"}},
            "status": {
                "observedGeneration": 8,
                "phase": "Progressing",
                "versions": [{"version": each, "pods": pods} for each, pods in loaded],
                "pods": {"selected": of},
            },
        }
    )


def names(state: FleetState, *pods: Any, min_step: int | None = 12) -> list[str]:
    return [each.pod for each in serving(pods, state, "exp", min_step, 8000)]


PODS = (pod("b", "exp.11"), pod("a", "exp.12"))


def test_late_label_hides_no_pod_of_a_fleet_that_has_nothing_older() -> None:
    assert names(fleet(("exp.12", 2), of=2), *PODS) == ["a", "b"]
    assert names(fleet(("exp.13", 1), ("exp.12", 1), of=2), *PODS) == ["a", "b"]
    assert names(fleet(("exp.12", 2), of=2), *PODS, min_step=13) == []


@pytest.mark.parametrize("other", [("exp.11", 1), ("default", 1), ("theirs.99", 1), ("other", 1)])
def test_only_labels_count_while_one_pod_has_something_older_or_foreign(
    other: tuple[str, int],
) -> None:
    assert names(fleet(("exp.12", 1), other, of=2), *PODS) == ["a"]


def test_pod_that_nobody_speaks_for_is_not_believed() -> None:
    assert names(fleet(("exp.12", 1), of=2), *PODS) == ["a"]
    assert names(fleet(of=2), *PODS) == ["a"]


def test_pod_that_is_not_ready_is_no_endpoint() -> None:
    state = fleet(("exp.12", 1), of=1)
    assert names(state, pod("a", "exp.12", ready=False)) == []
    assert names(state, pod("a", "exp.12", ready=False), min_step=None) == []


def test_address_of_ipv6_is_a_url() -> None:
    assert Endpoint("a", "fd00::1", 8000, "exp.1").url == "http://[fd00::1]:8000"
