"""Alerts and dashboard ask for metrics that exist, by labels that they have."""

import json
import re
from typing import Any, Final

import pytest
import yaml

from helm.chart import SETS, of_kind, one, rendered
from weightrollout.api.status import PodCounts
from weightrollout.api.swap import Outcome
from weightrollout.metrics import PREFIX, TABLE, Kind

#: Put on by Prometheus, from the target.
OF_TARGETS: Final = frozenset({"namespace", "pod"})
SELECTOR: Final = re.compile(rf"\b({PREFIX}_\w+)(?:\{{([^}}]*)\}})?")
MATCHER: Final = re.compile(r'(\w+)(?:=~|!~|!=|=)"([^"]*)"')
GROUPED: Final = re.compile(r"\bby \(([\w, ]+)\)")

LABELS: Final = {
    f"{PREFIX}_{row.name}{end}": {*row.labels, *(("le",) if end == "_bucket" else ())}
    for row in TABLE
    for end in (("_bucket", "_sum", "_count") if row.kind is Kind.HISTOGRAM else ("",))
}


@pytest.fixture(scope="module")
def objects() -> list[dict[str, Any]]:
    return rendered(SETS["everything"])


@pytest.fixture(scope="module")
def alerts(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    (group,) = one(objects, "PrometheusRule")["spec"]["groups"]
    found = group["rules"]
    assert isinstance(found, list)
    return found


@pytest.fixture(scope="module")
def board(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = (
        each for each in of_kind(objects, "ConfigMap") if "weightrollout.json" in each["data"]
    )
    read = json.loads(found["data"]["weightrollout.json"])
    assert isinstance(read, dict)
    return read


@pytest.fixture(scope="module")
def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    read = board["panels"]
    assert isinstance(read, list)
    return read


@pytest.fixture(scope="module")
def expressions(alerts: list[dict[str, Any]], panels: list[dict[str, Any]]) -> list[str]:
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    return [*(alert["expr"] for alert in alerts), *asked]


def test_lists_of_the_dashboard_come_from_metrics_that_exist(
    board: dict[str, Any], expressions: list[str]
) -> None:
    lists = [each for each in board["templating"]["list"] if each["type"] == "query"]
    for each in lists:
        (name, matchers), label = *SELECTOR.findall(each["query"]), each["query"].split()[-1][:-1]
        labels = {label, *(found for found, _ in MATCHER.findall(matchers))}
        assert labels <= LABELS[name] | OF_TARGETS, each["query"]
    filled = {each["name"] for each in lists}
    assert filled == {name for text in expressions for name in re.findall(r"\$(\w+)\"", text)}


def test_every_metric_that_is_asked_for_is_exported(expressions: list[str]) -> None:
    asked = {name for text in expressions for name, _ in SELECTOR.findall(text)}

    assert len(asked) > 8
    assert asked <= LABELS.keys()


def test_every_label_that_is_asked_for_is_on_that_metric(expressions: list[str]) -> None:
    for text in expressions:
        found = SELECTOR.findall(text)
        assert found, text
        for name, matchers in found:
            asked = {label for label, _ in MATCHER.findall(matchers)}
            assert asked <= LABELS[name] | OF_TARGETS, text
            for group in GROUPED.findall(text):
                assert {each.strip() for each in group.split(",")} <= LABELS[name] | OF_TARGETS, (
                    text
                )


def test_values_that_are_asked_for_are_ones_that_occur(expressions: list[str]) -> None:
    """A class or an outcome that nobody writes makes an alert that never fires."""
    known = {"class": set(PodCounts.model_fields), "outcome": {each.value for each in Outcome}}
    asked = [
        (label, value)
        for text in expressions
        for name, matchers in SELECTOR.findall(text)
        for label, values in MATCHER.findall(matchers)
        if label in known and name.endswith(("_pods", "_swaps_total"))
        for value in values.split("|")
    ]

    assert {label for label, _ in asked} == known.keys()
    for label, value in asked:
        assert value in known[label], value


def test_every_alert_says_where_and_what_to_do(alerts: list[dict[str, Any]]) -> None:
    assert alerts
    for alert in alerts:
        assert re.search('namespace=~?"serving"', alert["expr"])
        assert not re.search("NAMESPACE|FLEETS", yaml.safe_dump(alert))
        assert alert["labels"]["severity"] in ("warning", "critical")
        assert alert["annotations"]["summary"]
        assert alert["annotations"]["description"]


def test_alert_names_no_label_that_its_expression_has_dropped(
    alerts: list[dict[str, Any]],
) -> None:
    for alert in alerts:
        kept = {each.strip() for g in GROUPED.findall(alert["expr"]) for each in g.split(",")}
        named = set(
            re.findall(r"\$labels\.(\w+)", yaml.safe_dump(alert["annotations"], width=9999))
        )
        assert named <= kept, alert["alert"]
