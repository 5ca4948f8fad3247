"""The CRD says what the types say, in the form an API server takes."""

from collections.abc import Iterator
from typing import Any

import pytest

from weightrollout.api.names import ANNOTATION_SCHEMA
from weightrollout.api.profiles import TRAINING_BY_PATH
from weightrollout.api.rules import RULES
from weightrollout.api.schema import (
    custom_resource_definition,
    object_schema,
    schema_hash,
)
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus

NOT_STRUCTURAL = {"$ref", "$defs", "anyOf", "allOf", "oneOf", "title", "additionalProperties"}

Node = dict[str, Any]


def nodes(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Every schema node below and including `node`, with its path as in `rules.RULES`."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}".lstrip("."))
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")


ALL_NODES = dict(nodes(object_schema(), ""))
OURS = {path: node for path, node in ALL_NODES.items() if path.startswith(("spec", "status"))}
SPEC = {path: node for path, node in OURS.items() if path.startswith("spec")}


def defaulted(value: Any, node: Node) -> Any:
    """What an API server makes of `value`: absent fields with a default are filled in, from the top down."""
    if isinstance(value, dict):
        filled = dict(value)
        for name, child in node.get("properties", {}).items():
            if name not in filled and "default" in child:
                filled[name] = child["default"]
            if name in filled:
                filled[name] = defaulted(filled[name], child)
        return filled
    if isinstance(value, list):
        return [defaulted(each, node["items"]) for each in value]
    return value


@pytest.mark.parametrize("path", OURS)
def test_every_field_is_described(path: str) -> None:
    if not path.endswith("[]"):
        assert OURS[path].get("description", "").endswith((".", "/")), f"{path} needs a sentence"


@pytest.mark.parametrize("path", OURS)
def test_schema_is_structural(path: str) -> None:
    node = OURS[path]
    assert not NOT_STRUCTURAL & set(node)
    assert node.get("x-kubernetes-int-or-string") or isinstance(node["type"], str)


@pytest.mark.parametrize("path", SPEC)
def test_everything_a_rule_may_look_at_is_bounded(path: str) -> None:
    bound = {"string": ("maxLength", "enum"), "array": ("maxItems",)}
    kind = SPEC[path].get("type", "string")
    assert kind not in bound or any(key in SPEC[path] for key in bound[kind])


def test_every_rule_has_its_place_and_says_what_to_do() -> None:
    for path, rules in RULES.items():
        assert path in ALL_NODES, f"no field {path}"
        for rule in rules:
            assert rule.message.count("%d") == len(rule.numbers)


def test_no_bare_pattern_reaches_the_user() -> None:
    assert [path for path, node in OURS.items() if "pattern" in node] == []


def test_defaults_in_the_schema_are_the_types_defaults() -> None:
    filled = defaulted({}, ALL_NODES["spec"])
    assert filled["strategy"]["maxFailed"] == "10%"
    assert WeightRolloutSpec.model_validate(filled) == WeightRolloutSpec()


def test_a_default_inside_a_list_item_is_the_types_default() -> None:
    prompts = {"verify": {"prompts": [{"prompt": "2+2=", "expect": {"contains": "4"}}]}}
    filled = defaulted(prompts, ALL_NODES["spec"])
    assert filled["verify"]["prompts"][0]["maxTokens"] == 16
    assert WeightRolloutSpec.model_validate(filled) == WeightRolloutSpec.model_validate(prompts)


def test_every_default_is_stored_or_told() -> None:
    """A profile must be able to tell a default from the user's own word."""
    for path in TRAINING_BY_PATH:
        assert "default" not in SPEC[path]
        assert "Default: " in SPEC[path]["description"]


def test_status_has_no_default_but_that_nobody_has_seen_it() -> None:
    """Filled into what the operator wrote, a default would be its word."""
    filled = [path for path in OURS if path.startswith("status") and "default" in OURS[path]]
    assert filled == ["status"]
    unseen = WeightRolloutStatus.model_validate(OURS["status"]["default"])
    assert unseen == WeightRolloutStatus()


def test_weights_are_replaced_whole() -> None:
    assert SPEC["spec.weights"]["x-kubernetes-map-type"] == "atomic"


def test_lists_are_atomic_except_conditions() -> None:
    lists = {path: node for path, node in OURS.items() if node.get("type") == "array"}
    conditions = lists.pop("status.conditions")
    assert conditions["x-kubernetes-list-type"] == "map"
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert {node["x-kubernetes-list-type"] for node in lists.values()} == {"atomic"}


def test_the_hash_is_on_the_crd_and_ignores_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema_hash()
    assert custom_resource_definition()["metadata"]["annotations"] == {ANNOTATION_SCHEMA: before}
    monkeypatch.setattr("weightrollout.api.schema._DESCRIPTION", "other words")
    assert schema_hash() == before


def test_the_hash_changes_with_what_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    before = schema_hash()
    monkeypatch.setitem(RULES, "spec.weights.uri", ())
    assert schema_hash() != before
