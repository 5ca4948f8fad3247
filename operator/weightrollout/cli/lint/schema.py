"""One object against the CRD's own schema: types, bounds, fields that would be dropped, and the CEL rules.

As the API server does it: defaults first, then the schema, and the rules of a place only where its schema holds.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weightrollout.cli.lint.cel import Failed, evaluate
from weightrollout.cli.lint.places import Place

Schema = Mapping[str, Any]

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "boolean": bool,
    "number": (int, float),
}


@dataclass(frozen=True, slots=True)
class Wrong:
    place: Place
    message: str


def check(body: Any, schema: Schema) -> list[Wrong]:
    """`body` is not changed."""
    return list(_check(with_defaults(without_nulls(body), schema), schema, ()))


def without_nulls(value: Any) -> Any:
    """A copy: an API server takes a null for an absent field."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def with_defaults(body: Any, schema: Schema) -> Any:
    """Filled in place, as the API server stores it."""
    if isinstance(body, dict):
        for name, child in schema.get("properties", {}).items():
            if name not in body and "default" in child:
                body[name] = copy.deepcopy(child["default"])
            if name in body:
                body[name] = with_defaults(body[name], child)
    elif isinstance(body, list) and "items" in schema:
        body[:] = [with_defaults(each, schema["items"]) for each in body]
    return body


def _check(value: Any, schema: Schema, place: Place) -> Iterator[Wrong]:
    found = list(_shape(value, schema, place))
    yield from found
    if found:
        return
    inside = list(_inside(value, schema, place))
    yield from inside
    if not inside:
        yield from _rules(value, schema, place)


def _shape(value: Any, schema: Schema, place: Place) -> Iterator[Wrong]:
    if schema.get("x-kubernetes-int-or-string"):
        if isinstance(value, bool) or not isinstance(value, int | str):
            yield Wrong(place, f"must be a whole number or a text, got {_kind(value)}")
            return
    elif "type" in schema:
        wanted = schema["type"]
        right = isinstance(value, _TYPES[wanted]) and (
            wanted == "boolean" or not isinstance(value, bool)
        )
        if not right:
            yield Wrong(place, f"must be {_article(wanted)}, got {_kind(value)}")
            return
    if "enum" in schema and value not in schema["enum"]:
        yield Wrong(place, f"must be one of {', '.join(map(str, schema['enum']))}, got {value}")
    yield from _bounds(value, schema, place)


def _bounds(value: Any, schema: Schema, place: Place) -> Iterator[Wrong]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            yield Wrong(place, f"must be at least {schema['minimum']}, got {value}")
        if value > schema.get("maximum", value):
            yield Wrong(place, f"must be at most {schema['maximum']}, got {value}")
    for kind, least, most, unit in (
        (str, "minLength", "maxLength", "characters"),
        (list, "minItems", "maxItems", "items"),
    ):
        if isinstance(value, kind):
            count = len(value)
            if count < schema.get(least, count):
                yield Wrong(place, f"must have at least {schema[least]} {unit}, has {count}")
            if count > schema.get(most, count):
                yield Wrong(place, f"may have at most {schema[most]} {unit}, has {count}")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield Wrong(place, f"must match {schema['pattern']}, got {value!r}")


def _inside(value: Any, schema: Schema, place: Place) -> Iterator[Wrong]:
    if isinstance(value, list) and "items" in schema:
        for number, each in enumerate(value):
            yield from _check(each, schema["items"], (*place, number))
    properties = schema.get("properties")
    if not isinstance(value, dict) or properties is None:
        return
    for name in schema.get("required", ()):
        if name not in value:
            yield Wrong((*place, name), f"is missing: {_path((*place, name))} is required")
    for name, each in value.items():
        if name not in properties:
            yield Wrong((*place, name), _unknown(name, properties))
        else:
            yield from _check(each, properties[name], (*place, name))


def _unknown(name: str, properties: Mapping[str, Any]) -> str:
    alike = next((each for each in properties if each.lower() == str(name).lower()), None)
    hint = f"write {alike}" if alike else f"there is {', '.join(properties)}"
    return f"unknown field, which an API server drops without a word: {hint}"


def _rules(value: Any, schema: Schema, place: Place) -> Iterator[Wrong]:
    for rule in schema.get("x-kubernetes-validations", ()):
        try:
            holds = evaluate(rule["rule"], value)
        except Failed:
            holds = False
        if not holds:
            below = tuple(part for part in rule.get("fieldPath", "").split(".") if part)
            yield Wrong((*place, *below), _message(rule, value))


def _message(rule: Mapping[str, str], value: Any) -> str:
    if "message" in rule:
        return rule["message"]
    text, _, numbers = rule["messageExpression"].rpartition(".format(")
    said: str = evaluate(text, value)
    return said % tuple(evaluate(numbers.rstrip(")"), value))


def _path(place: Place) -> str:
    return ".".join(map(str, place))


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _kind(value: Any) -> str:
    for name, types in (("boolean", bool), *_TYPES.items()):
        if isinstance(value, types):
            return _article(name)
    return "nothing" if value is None else str(value)
