"""By the real Prometheus: each alert fires on series that show its condition, and on no others."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from debian import NotThere, program
from helm.chart import NAMESPACE, SETS, of_kind, one, rendered
from tiers import unavailable

Json = dict[str, Any]
Series = dict[str, str]  # values a minute apart, as promtool writes them
LONG: Final = "x40"  # minutes; every question is asked within


def of(metric: str, **labels: str) -> str:
    """A series as Prometheus stores it: of the operator's namespace unless another is given."""
    labels = {"namespace": NAMESPACE, **{key.rstrip("_"): each for key, each in labels.items()}}
    inside = ",".join(f'{key}="{each}"' for key, each in labels.items())
    return f"weightrollout_{metric}{{{inside}}}"


#: Two replicas, one of which leads, and a fleet that is well.
WELL: Final[Series] = {
    of("leader", pod="a"): f"1{LONG}",
    of("leader", pod="b"): f"0{LONG}",
    of("api_requests_total", verb="PATCH", code="200"): f"0+5{LONG}",
    of("pods", rollout="chat", class_="updated"): f"3{LONG}",
    of("pods", rollout="chat", class_="failed"): f"0{LONG}",
    of("swaps_total", rollout="chat", outcome="Committed", class_="", reason=""): f"0+1{LONG}",
    of("loop_lag_seconds", pod="a"): f"0.01{LONG}",
    of("agent_alone", pod="chat-0"): f"0{LONG}",
}


@dataclass(frozen=True)
class Case:
    alert: str
    series: Series  # on top of WELL; "" takes one away
    at: str = "30m"
    fires: tuple[Series, ...] = ()  # the labels of each that is active then; empty: it is silent
    value: str = "1"
    chart: str = "everything"


def broken(class_: str, values: str, **fires: str) -> Case:
    series = {of("pods", rollout="chat", class_=class_): values}
    labels = {"namespace": NAMESPACE, "rollout": "chat", "class": class_}
    return Case("PodsBroken", series, fires=(labels,), **fires)


FAILED: Final = of(
    "swaps_total", rollout="chat", outcome="Poisoned", class_="Pod", reason="EngineLost"
)
GAVE_UP: Final = of(
    "swaps_total", rollout="chat", outcome="GaveUp", class_="Environment", reason="RequestsRunning"
)
SWAP: Final = {"rollout": "chat", "class": "Pod", "reason": "EngineLost", "namespace": NAMESPACE}
FORBIDDEN: Final = of("api_requests_total", verb="PATCH", code="403")
PASSES: Final = of("pass_errors_total", reason="ApiServerUnavailable")
REASON: Final = {"reason": "ApiServerUnavailable"}
LATE: Final = of("loop_lag_seconds", pod="a")
ALONE: Final = of("agent_alone", pod="chat-0")
ELSEWHERE: Final = "team-a"

CASES: Final = {
    "nobody leads": Case("NoLeader", {of("leader", pod="a"): f"0{LONG}"}, fires=({},)),
    "no operator is there": Case(
        "NoLeader", {of("leader", pod="a"): "", of("leader", pod="b"): ""}, fires=({},)
    ),
    "a leader elsewhere does not count": Case(
        "NoLeader",
        {of("leader", pod="a"): f"0{LONG}", of("leader", pod="x", namespace="other"): f"1{LONG}"},
        fires=({},),
    ),
    "leadership went over within a minute": Case(
        "NoLeader",
        {of("leader", pod="a"): "1x28 0x12", of("leader", pod="b"): "0x29 1x11"},
    ),
    "two lead": Case("TwoLeaders", {of("leader", pod="b"): f"1{LONG}"}, fires=({},), value="2"),
    "two in two namespaces lead": Case(
        "TwoLeaders", {of("leader", pod="x", namespace="other"): f"1{LONG}"}
    ),
    "first refusal of a kind": Case(
        "Forbidden", {FORBIDDEN: "_x25 1x15"}, fires=({"verb": "PATCH"},)
    ),
    "one more refusal": Case("Forbidden", {FORBIDDEN: "4x25 5x15"}, fires=({"verb": "PATCH"},)),
    "refused long ago": Case("Forbidden", {FORBIDDEN: "0x5 4x35"}),
    "conflicts are no refusals": Case(
        "Forbidden", {of("api_requests_total", verb="PATCH", code="409"): f"0+1{LONG}"}
    ),
    "nothing new is let into a namespace that is deleted": Case(
        "Forbidden", {of("api_requests_total", verb="POST", code="403-ending"): f"0+1{LONG}"}
    ),
    **{
        f"pods are {class_}": broken(class_, f"1{LONG}")
        for class_ in ("failed", "poisoned", "unreachable", "incompatible")
    },
    "pods are failed for a moment": Case(
        "PodsBroken", {of("pods", rollout="chat", class_="failed"): "0x24 1x16"}
    ),
    "pods that are out are not broken": Case(
        "PodsBroken", {of("pods", rollout="chat", class_="out"): f"1{LONG}"}
    ),
    "first swap that fails": Case("SwapsFail", {FAILED: "_x25 1x15"}, fires=(SWAP,)),
    "one more swap that fails": Case("SwapsFail", {FAILED: "7x25 8x15"}, fires=(SWAP,)),
    "a pod that was put back for its requests is no failure": Case(
        "SwapsFail", {GAVE_UP: f"0+1{LONG}"}
    ),
    "a swap failed an hour ago": Case("SwapsFail", {FAILED: f"7{LONG}"}),
    "passes that fail at once": Case("PassesFail", {PASSES: "_x25 9x15"}, fires=(REASON,)),
    "passes that fail again and again": Case("PassesFail", {PASSES: f"0+1{LONG}"}, fires=(REASON,)),
    "a pass that fails now and then": Case("PassesFail", {PASSES: "0x10 1x10 2x20"}),
    "the event loop is late": Case(
        "OperatorLags", {LATE: f"3{LONG}"}, fires=({"pod": "a"},), value="3"
    ),
    "the event loop was late once": Case("OperatorLags", {LATE: "0.01x26 3 0.01x13"}),
    "an agent is alone": Case(
        "AgentsAlone", {ALONE: f"1{LONG}"}, fires=({"namespace": NAMESPACE},)
    ),
    "an agent was alone while the leader changed": Case("AgentsAlone", {ALONE: "0x26 1x2 0x12"}),
    "pods of another namespace are failed, and it is not ours": Case(
        "PodsBroken", {of("pods", namespace=ELSEWHERE, rollout="chat", class_="failed"): f"1{LONG}"}
    ),
    "pods of another namespace are failed, and all are ours": Case(
        "PodsBroken",
        {of("pods", namespace=ELSEWHERE, rollout="chat", class_="failed"): f"1{LONG}"},
        fires=({"namespace": ELSEWHERE, "rollout": "chat", "class": "failed"},),
        chart="everywhere",
    ),
    "agents of another namespace are alone, and all are ours": Case(
        "AgentsAlone",
        {of("agent_alone", namespace=ELSEWHERE, pod="chat-0"): f"1{LONG}"},
        fires=({"namespace": ELSEWHERE},),
        chart="everywhere",
    ),
}


@pytest.fixture(scope="module")
def promtool() -> Path:
    try:
        return program("prometheus", "promtool")
    except NotThere as why:
        unavailable(str(why))


def groups(chart: str) -> list[Json]:
    found: list[Json] = one(rendered(SETS[chart]), "PrometheusRule")["spec"]["groups"]
    return found


def rules(chart: str) -> dict[str, Json]:
    (group,) = groups(chart)
    return {each["alert"].removeprefix("WeightRollout"): each for each in group["rules"]}


def said(text: str, labels: Series, value: str) -> str:
    """What Prometheus makes of an annotation."""
    text = re.sub(r"{{ \$labels\.(\w+) }}", lambda found: labels[found[1]], text)
    return text.replace("{{ $value }}", value)


def test_of(case: Case) -> Json:
    series = {**WELL, **case.series}
    known = rules(case.chart)
    expected = []
    for labels in case.fires:
        texts = known[case.alert]["annotations"].items()
        expected.append(
            {
                "exp_labels": {**labels, **known[case.alert]["labels"]},
                "exp_annotations": {key: said(text, labels, case.value) for key, text in texts},
            }
        )
    return {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in series.items() if values
        ],
        # No other alert is given for the same trouble.
        "alert_rule_test": [
            {
                "eval_time": case.at,
                "alertname": f"WeightRollout{alert}",
                "exp_alerts": expected if alert == case.alert else [],
            }
            for alert in known
        ],
    }


test_of.__test__ = False  # type: ignore[attr-defined]


def asked(promtool: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(promtool), *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("alert", "chart"), sorted({(case.alert, case.chart) for case in CASES.values()})
)
def test_alert_is_given_when_and_only_when(
    promtool: Path, tmp_path: Path, alert: str, chart: str
) -> None:
    cases = [case for case in CASES.values() if (case.alert, case.chart) == (alert, chart)]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups(chart)}))
    questions = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [test_of(case) for case in cases],
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(questions))

    asked(promtool, "test", "rules", str(tmp_path / "test.yaml"))


def test_every_alert_is_seen_to_fire_and_to_be_silent() -> None:
    for alert in rules("everything"):
        outcomes = {bool(case.fires) for case in CASES.values() if case.alert == alert}
        assert outcomes == {True, False}, alert


@pytest.mark.parametrize("chart", ["everything", "everywhere"])
def test_prometheus_takes_the_alerts(promtool: Path, tmp_path: Path, chart: str) -> None:
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups(chart)}))

    asked(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(tmp_path / "rules.yaml"))


def test_prometheus_takes_every_query_of_the_dashboard(promtool: Path, tmp_path: Path) -> None:
    recorded = [
        {"record": f"panel:{number}", "expr": query} for number, query in enumerate(queries())
    ]
    assert len(recorded) > 10
    rules_of_it = {"groups": [{"name": "dashboard", "rules": recorded}]}
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules_of_it))

    asked(promtool, "check", "rules", "--lint=all", "--lint-fatal", str(tmp_path / "rules.yaml"))


def queries() -> list[str]:
    """With the dashboard's variables filled in, as Grafana does."""
    objects = of_kind(rendered(SETS["everything"]), "ConfigMap")
    (text,) = [each["data"]["weightrollout.json"] for each in objects if "data" in each]
    board = json.loads(text)
    names = [each["name"] for each in board["templating"]["list"]]
    filled = []
    for panel in board["panels"]:
        for target in panel["targets"]:
            query = target["expr"]
            for name in names:
                query = query.replace(f"${name}", "serving")
            assert "$" not in query, query
            filled.append(query)
    return filled
