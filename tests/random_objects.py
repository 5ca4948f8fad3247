"""Random valid specs and statuses, made from the pydantic types, so that a new field is tested the day it is added.

In: a type of `weightrollout.api`. Out: hypothesis strategies of its wire form (the JSON an API server sees).
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hypothesis import strategies as st

from weightrollout.api.model import ApiModel
from weightrollout.api.names import BASELINE_VERSION
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import Condition, WeightRolloutStatus

Json = dict[str, Any]

INT64: Final = 2**63 - 1
#: Server-side apply is read as YAML, where JSON's surrogate pairs are an error: `kube` must not
#: send them, and whether it does is a test of `kube`.
TEXT: Final = st.characters(codec="utf-8", max_codepoint=0xFFFF)
LONGEST: Final = 24
#: As wide as the types, but never zero where a rule refuses zero.
GONE: Final = "-gone-"
WILD: Final = st.sampled_from(
    (
        GONE,
        None,
        True,
        -1,
        0,
        1.5,
        INT64,
        "",
        "x",
        "-5%",
        "101%",
        "default",
        "../..",
        "file:///a\tb",
    )
) | st.sampled_from(([], {}, [[1]], {"a": {"b": []}}, "y" * 3000, "\u202e\N{ROCKET}"))
REGEXES: Final = ("^4$", "(?i)four", r"\b[0-9]+\s*$", r"a{2,3}|\pL")
PERCENT_OR_COUNT: Final = st.integers(1, 10_000) | st.integers(1, 100).map(lambda n: f"{n}%")
#: Both are numbers or text to a schema.
RATES: Final = st.integers(65_536, 1 << 40) | st.integers(1, 1024).map(lambda n: f"{n}Mi")


def specs() -> st.SearchStrategy[Json]:
    """Specs that keep the API server's rules."""
    found = wire_of(WeightRolloutSpec).filter(_version_is_free)
    found = found.map(_expecting_one_thing).map(_with_one_form_of_draft).map(_signed_by_one)
    return found.map(_with_steps_of_one_kind).map(_with_room_for_deadlines)


def wild_specs() -> st.SearchStrategy[Json]:
    """Specs of which most break a rule: fields of another type, out of range, unknown or gone."""
    wounds = st.lists(st.tuples(st.integers(0, 99), WILD), min_size=1, max_size=3)
    return st.tuples(wire_of(WeightRolloutSpec), wounds).map(_wounded)


def statuses() -> st.SearchStrategy[Json]:
    """Statuses with at least one condition, as every pass writes, and one per type, as a map list must.

    (An apply that empties a map list removes it: [] would come back as nothing.)
    """
    conditions = st.lists(
        wire_of(Condition), min_size=1, max_size=3, unique_by=lambda condition: condition["type"]
    )
    parts = st.tuples(wire_of(WeightRolloutStatus), conditions)
    return parts.map(lambda both: {**both[0], "conditions": both[1]})


def wire_of(kind: type[ApiModel]) -> st.SearchStrategy[Json]:
    """Any value of `kind` in its wire form; optional fields are sometimes left out."""
    schema = kind.model_json_schema(by_alias=True)
    strategy: st.SearchStrategy[Json] = _of(schema, schema.get("$defs", {}))
    return strategy


def _of(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in node:
        return _of(definitions[node["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in node:
        (arm,) = (each for each in node["anyOf"] if each.get("type") != "null")
        return _of(arm, definitions)
    if node.get("x-kubernetes-int-or-string"):
        return PERCENT_OR_COUNT
    if "enum" in node:
        return st.sampled_from(node["enum"])
    match node["type"]:
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(node.get("minimum", -INT64), node.get("maximum", INT64))
        case "number":
            return st.floats(-1e9, 1e9).map(lambda number: round(number, 3))
        case "string":
            return _text(node)
        case "array":
            items = _of(node["items"], definitions)
            return st.lists(items, min_size=node.get("minItems", 0), max_size=3)
        case "object":
            return _object(node, definitions)
        case other:
            raise AssertionError(f"no strategy for JSON type {other}: add one")


def _text(node: Mapping[str, Any]) -> st.SearchStrategy[str]:
    if "-----" in node.get("pattern", ""):
        kind = "PUBLIC KEY" if "PUBLIC KEY" in node["pattern"] else "CERTIFICATE"
        body = st.from_regex("[A-Za-z0-9+/]{1,64}=?", fullmatch=True)
        return body.map(lambda text: f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
    if "pattern" in node:
        found = st.from_regex(node["pattern"], fullmatch=True, alphabet=TEXT)
        return found.filter(lambda text: len(text) <= node["maxLength"])
    return st.text(TEXT, min_size=node.get("minLength", 0), max_size=LONGEST)


def _object(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> st.SearchStrategy[Json]:
    required = set(node.get("required", ()))
    fields = {
        name: RATES if name == "maxBytesPerSecond" else _of(child, definitions)
        for name, child in node["properties"].items()
    }
    return st.fixed_dictionaries(
        {name: field for name, field in fields.items() if name in required},
        optional={name: field for name, field in fields.items() if name not in required},
    )


def _wounded(parts: tuple[Json, list[tuple[int, Any]]]) -> Json:
    spec, wounds = copy.deepcopy(parts[0]), parts[1]
    for number, value in wounds:
        places = [(spec, "warpSpeed"), *_places(spec)]
        parent, key = places[number % len(places)]
        if value != GONE:
            parent[key] = copy.deepcopy(value)
        elif not isinstance(parent, list):
            parent.pop(key, None)
    return spec


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field and item, as what holds it and its key there."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def _version_is_free(spec: Json) -> bool:
    return bool(spec.get("weights", {}).get("version") != BASELINE_VERSION)


def _expecting_one_thing(spec: Json) -> Json:
    """Of each prompt, which has room for it; random text is hardly ever a regular expression."""
    for asked in spec.get("verify", {}).get("prompts", []):
        given = sorted(asked["expect"]) or ["contains"]
        kind = given[len(asked["prompt"]) % len(given)]
        value = asked["expect"].get(kind, "4")
        asked["expect"] = {kind: REGEXES[len(value) % len(REGEXES)] if kind == "regex" else value}
        if kind == "tokenIds":
            asked["maxTokens"] = max(asked.get("maxTokens", 16), len(value))
    return spec


def _with_steps_of_one_kind(spec: Json) -> Json:
    spec = copy.deepcopy(spec)
    for step in spec.get("strategy", {}).get("steps", ()):
        kind = next((each for each in ("updated", "analysis") if each in step), "pause")
        given = step.get(kind, {})
        step.clear()
        step[kind] = _with_one_source(given) if kind == "analysis" else given
    return spec


def _with_one_source(analysis: Json) -> Json:
    """It can fail, and of the bounds only one is left."""
    found = dict(analysis)
    if "prometheus" in found:
        found.pop("webhook", None)
        bound = found["prometheus"].get("max", 0.5)
        asked = {key: each for key, each in found["prometheus"].items() if key == "address"}
        found["prometheus"] = {**asked, "query": 'sum(up{v="$(version)"})', "max": bound}
    else:
        found.setdefault("webhook", {"url": "http://judge/"})
    if found.get("failureLimit", 0) >= found.get("count", 1):
        found["count"] = found["failureLimit"] + 1
    return found


def _with_one_form_of_draft(spec: Json) -> Json:
    """`from`, or both of `uri` and `digest`, or no draft at all."""
    weights = spec.get("weights", {})
    draft = weights.get("draft")
    if draft is None or draft.keys() - {"signature"} in ({"from"}, {"uri", "digest"}):
        return spec
    kept = {"from": draft["from"]} if "from" in draft else None
    others = {key: value for key, value in weights.items() if key != "draft"}
    return {**spec, "weights": {**others, **({"draft": kept} if kept else {})}}


def _signed_by_one(spec: Json) -> Json:
    """One method of each signature; none of its own for a draft of the same checkpoint."""
    weights = dict(spec.get("weights", {}))
    for each in (weights, weights["draft"]) if "draft" in weights else (weights,):
        method = each.get("signature", {})
        given = sorted(method.keys() - {"file"})
        if "signature" in each and (len(given) != 1 or "from" in each):
            del each["signature"]
    return {**spec, "weights": weights} if weights else spec


def _with_room_for_deadlines(spec: Json) -> Json:
    """Deadlines nest; the types' own limits leave room for the longest drain and settling."""
    full = WeightRolloutSpec.model_validate(spec)
    least = full.swap.drain_seconds + full.swap.settle_seconds + 1
    pod = max(full.pod_deadline_seconds, least)
    progress = max(full.progress_deadline_seconds, pod + 1)
    return {**spec, "podDeadlineSeconds": pod, "progressDeadlineSeconds": progress}
