"""Figures of large fleets: what is counted, and that a missed target is shown as missed."""

from typing import Any

from bench.scale.gauges import counted
from bench.scale.rendering import rendered, verdicts

Json = dict[str, Any]

METRICS = """# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 300
apiserver_request_total{code="409",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="PATCH",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="status",verb="APPLY",version="v1"} 600
apiserver_request_total{code="200",component="apiserver",dry_run="",group="weightrollout.dev",resource="weightrollouts",scope="resource",subresource="status",verb="PATCH",version="v1alpha1"} 1.2e+01
apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="serviceaccounts",scope="resource",subresource="token",verb="POST",version="v1"} 40
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="PATCH",version="v1"} 1
"""


def test_only_the_operators_writes_are_counted_and_refused_ones_too() -> None:
    writes = counted(METRICS)
    assert (writes["pods"], writes["status"], writes["tokens"], writes["stable"]) == (
        302,
        12,
        40,
        1,
    )


def test_each_target_that_is_missed_is_shown_as_missed() -> None:
    good = figures()
    assert [each.reached for each in verdicts(good)] == [True] * 6
    assert "**no**" not in rendered(good)
    spoilt: tuple[Json, ...] = (
        {"first_pause_s": 0.6},
        {"complete_s": 6.1},
        {"endpoint": 901},
        {"none": 301},
        {"peak_mb": 301.0},
        {"pass_ms": 400.0},
    )
    for number, spoil in enumerate(spoilt):
        found = [each.reached for each in verdicts(figures(**spoil))]
        assert found == [index != number for index in range(6)]


def test_times_of_a_busy_machine_are_not_to_be_trusted() -> None:
    assert "busy" not in rendered(figures())
    assert "The machine was busy" in rendered({**figures(), "load": 4.0})


def figures(
    *,
    first_pause_s: float = 0.2,
    complete_s: float = 5.0,
    endpoint: int = 600,
    none: int = 300,
    peak_mb: float = 150.0,
    pass_ms: float = 140.0,
) -> Json:
    def rollout(pods: int) -> Json:
        writes = dict.fromkeys(("status", "revisions", "stable", "events", "tokens"), 3)
        return {
            **{"title": "a rollout", "seconds": 6.0, "cpu_s": 2.0, "passes": 40, "pass_ms": 9.0},
            **{"complete_s": complete_s, "first_pause_s": first_pause_s, "peak_mb": peak_mb},
            "writes": {**writes, "pods": pods},
        }

    return {
        "date": "2026-11-30",
        "load": 0.1,
        "machine": {
            **{"cores": 2, "cpu": "a CPU", "memory_gib": 8.0},
            **{"python": "3.11.7", "libc": "glibc 2.36"},
        },
        "settings": {"pods": 300, "training_pods": 100, "staging_s": 2.0, "swap_s": 1.0},
        "training": rollout(100),
        "large": {
            "first": rollout(600),
            "rest": rollout(0),
            "serving": rollout(endpoint),
            "training": [rollout(none), rollout(none)],
        },
        "passes": {"at rest": {"100": 2.8, "5000": pass_ms}},
    }
