"""lint says what an API server would say, with the line, without one; the cluster tier compares the two."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner

from weightrollout.api.rules import RULES
from weightrollout.api.schema import object_schema
from weightrollout.cli.lint.cel import Failed, Unknown, evaluate
from weightrollout.cli.lint.check import Finding, findings_of
from weightrollout.cli.main import app

HEAD = """\
apiVersion: weightrollout.dev/v1alpha1
kind: WeightRollout
metadata:
  name: chat
spec:
"""
GOOD = HEAD + (
    "  weights:\n    version: v8\n    uri: file:///models/chat/v8/\n"
    f"    digest: sha256:{'0' * 64}\n"
)


def found(text: str) -> list[tuple[int, str, str, str]]:
    """Line, severity, field, reason."""
    return [
        (each.line, each.severity, each.field, each.reason) for each in findings_of("f.yaml", text)
    ]


def spec(text: str) -> str:
    return HEAD + "".join(f"  {line}\n" for line in dedent(text).strip().splitlines())


def test_nothing_is_said_about_a_good_one() -> None:
    assert found(GOOD) == []


def test_every_mistake_is_named_at_its_line() -> None:
    text = spec(
        """
        weights:
          version: default
          uri: ftp://models/
        strategy:
          maxunavailable: 1
          maxUnavailable: 0
          steps:
          - updated: 2
          - updated: 1
          - {}
        swap: {drainSeconds: many}
        """
    )
    assert [(line, field) for line, _, field, _ in found(text)] == [
        (7, "spec.weights.version"),
        (8, "spec.weights.uri"),
        (10, "spec.strategy.maxunavailable"),
        (11, "spec.strategy.maxUnavailable"),
        (15, "spec.strategy.steps[2]"),
        (16, "spec.swap.drainSeconds"),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "Malformed"),
        ("kind: Deployment\n", "NothingToCheck"),
        ("", "NothingToCheck"),
        (GOOD.replace("v1alpha1", "v9"), "Refused"),
        (GOOD + "    version: v9\n", "KeyTwice"),
        (GOOD.replace("  name: chat\n", "  labels: {}\n"), "Refused"),
    ],
)
def test_a_file_that_is_not_what_was_meant_is_an_error(text: str, reason: str) -> None:
    assert reason in [each[3] for each in found(text) if each[1] == "error"]


def workload(replicas: int) -> str:
    return dedent(
        f"""
        ---
        apiVersion: apps/v1
        kind: Deployment
        spec:
          replicas: {replicas}
          template: {{metadata: {{labels: {{weightrollout.dev/name: chat}}}}}}
        """
    )


def test_a_fleet_of_one_is_warned_about_where_the_file_tells_that_it_is_one() -> None:
    assert [each[3] for each in found(GOOD + workload(1))] == ["FleetOfOne"]
    assert found(GOOD + workload(4)) == []
    kept = GOOD + "  swap: {takeOut: None}\n"
    assert found(kept.replace("None", '"None"') + workload(1)) == []


def test_warnings_are_about_what_the_profile_chooses() -> None:
    trained = GOOD + "  profile: Training\n"
    assert found(trained + workload(1)) == []
    leaves = trained + "  swap: {takeOut: Endpoint}\n"
    assert [each[3] for each in found(leaves + workload(1))] == ["FleetOfOne"]
    assert [each[3] for each in found(leaves + workload(4))] == ["AllPodsOut"]


def test_a_deadline_is_held_against_the_drain_that_the_profile_chooses() -> None:
    short = GOOD + "  podDeadlineSeconds: 30\n"
    assert [each[3] for each in found(short)] == ["Refused"]
    assert found(short + "  profile: Training\n") == []
    assert found(short + "  profile: Training\n  swap: {drainSeconds: 40}\n") != []


@pytest.mark.parametrize(
    ("addition", "reason"),
    [
        ("  swap: {clearCache: false}\n", "CacheKept"),
        ("  swap: {pauseMode: GiveUp, takeOut: None}\n", "NeverIdle"),
        ("  strategy: {proveFirst: false}\n", "NotProvenFirst"),
        ("  staging: {keepLastGood: false}\n", "NoInstantUndo"),
        ("  mode: Paused\n", "NotRunning"),
    ],
)
def test_what_is_unwise_is_a_warning(addition: str, reason: str) -> None:
    assert [(each[1], each[3]) for each in found(GOOD + addition)] == [("warning", reason)]


def test_a_missing_digest_is_a_warning() -> None:
    (each,) = found(GOOD.replace(f"    digest: sha256:{'0' * 64}\n", ""))
    assert (each[1], each[3]) == ("warning", "DigestMissing")


@pytest.mark.parametrize(
    ("addition", "arguments", "code"),
    [
        ("", [], 0),
        ("  mode: Paused\n", [], 0),
        ("  mode: Paused\n", ["--strict"], 1),
        ("  mode: x\n", [], 1),
    ],
)
def test_the_exit_code_is_what_a_pipeline_needs(
    tmp_path: Path, addition: str, arguments: list[str], code: int
) -> None:
    file = tmp_path / "chat.yaml"
    file.write_text(GOOD + addition)
    assert CliRunner().invoke(app, ["lint", *arguments, str(file)]).exit_code == code


def test_a_file_that_is_not_there_is_wrong_usage() -> None:
    assert CliRunner().invoke(app, ["lint", "nowhere.yaml"]).exit_code == 2


def test_stdin_is_read_for_a_dash() -> None:
    result = CliRunner().invoke(app, ["lint", "-"], input=GOOD + "  mode: x\n")
    assert result.exit_code == 1
    assert result.stdout.startswith("stdin:10: error: spec.mode: must be one of Run, Paused")


def _rules(schema: Any) -> list[dict[str, str]]:
    own = list(schema.get("x-kubernetes-validations", ()))
    children = [
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]
    return own + [rule for child in children for rule in _rules(child)]


def test_every_rule_of_the_api_is_understood() -> None:
    """A rule in CEL that is not known here would be passed over by lint."""
    rules = _rules(object_schema())
    assert len(rules) == sum(map(len, RULES.values()))
    for rule in rules:
        try:
            evaluate(rule["rule"], {})
        except (Failed, TypeError, AttributeError):
            pass  # about an object of another form; only Unknown matters here


@pytest.mark.parametrize("text", ["self.foldl(a, b)", "self ^ 2", "1 +", "unknown", "(1"])
def test_cel_that_is_not_known_is_never_taken_for_true(text: str) -> None:
    with pytest.raises(Unknown):
        evaluate(text, {})


def test_a_finding_is_one_line_that_editors_understand() -> None:
    each = findings_of("f.yaml", GOOD + "  mode: x\n")[0]
    assert isinstance(each, Finding)
    assert (each.file, each.line, each.field) == ("f.yaml", 10, "spec.mode")
