"""pydantic types -> the structural schema that a CustomResourceDefinition wants.

In: a type of this room. Out: plain dicts without $ref, anyOf, null and title. A field that may be
None is one that may be absent. What an API server keeps is exactly what is listed here: the rest
is pruned, so "extra fields are refused" needs no keyword.
"""

from collections.abc import Mapping
from typing import Any, Final

from weightrollout.api.model import ApiModel
from weightrollout.api.profiles import TRAINING_BY_PATH
from weightrollout.api.rules import RULES

#: What Kubernetes adds to JSON schema. A list is atomic where nothing else is said.
EXTENSIONS: Final[Mapping[str, dict[str, Any]]] = {
    # Merged by field, an apply of {version, uri} would keep another manager's old digest.
    "spec.weights": {"x-kubernetes-map-type": "atomic"},
    # By key, so that conditions of others survive our apply.
    "status.conditions": {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    },
}

_KEPT: Final = (
    "type",
    "format",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
    "x-kubernetes-int-or-string",
)
#: Longest int-or-string that can be right ("2147483647"); without it CEL's cost is unbounded.
_INT_OR_STRING_LENGTH: Final = 10


def structural(kind: type[ApiModel], path: str, *, defaults: bool) -> dict[str, Any]:
    """Schema of `kind`, which lies at `path` of the object.

    `defaults`: whether the API server shall fill in what the user left out. Not in a status: there
    an absent field means that it was not written.
    """
    root = kind.model_json_schema(by_alias=True, mode="validation")
    return _Walk(root.get("$defs", {}), defaults).node(root, path)


class _Walk:
    def __init__(self, definitions: Mapping[str, Any], defaults: bool) -> None:
        self._definitions = definitions
        self._defaults = defaults

    def node(self, source: Mapping[str, Any], path: str) -> dict[str, Any]:
        source = self._inlined(source)
        node: dict[str, Any] = {}
        if description := self._description(source, path):
            node["description"] = description
        node |= {key: source[key] for key in _KEPT if key in source}
        if node.get("type") == "integer":
            node["format"] = "int64"
        if node.get("x-kubernetes-int-or-string"):
            node["maxLength"] = _INT_OR_STRING_LENGTH
        if "items" in source:
            node["items"] = self.node(source["items"], f"{path}[]")
            node["x-kubernetes-list-type"] = "atomic"
        if "properties" in source:
            node |= self._object(source, path)
        if self._defaults and path not in TRAINING_BY_PATH:
            node |= _default(source, node)
        if rules := RULES.get(path):
            node.pop("pattern", None)
            node["x-kubernetes-validations"] = [rule.as_schema() for rule in rules]
        return node | EXTENSIONS.get(path, {})

    def _object(self, source: Mapping[str, Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if "required" in source:
            found["required"] = source["required"]
        found["properties"] = {
            name: self.node(child, f"{path}.{name}") for name, child in source["properties"].items()
        }
        return found

    def _inlined(self, source: Mapping[str, Any]) -> Mapping[str, Any]:
        """Without $ref and without the null arm; what stands at the place wins."""
        if "$ref" in source:
            target = self._definitions[source["$ref"].rpartition("/")[2]]
            return {**self._inlined(target), **source}
        if "anyOf" in source:
            (arm,) = (each for each in source["anyOf"] if each.get("type") != "null")
            return {**self._inlined(arm), **source}
        return source

    def _description(self, source: Mapping[str, Any], path: str) -> str:
        description: str = source.get("description", "")
        if path in TRAINING_BY_PATH:  # applied by the planner, so it is said here only
            training = TRAINING_BY_PATH[path]
            description = (
                f"{description} Default: {source['default']}; with profile Training {training}."
            )
        return description


def _default(source: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """The default to write, if any: {} opens an object so that its fields' defaults apply."""
    if "properties" in node:
        opens = "default" in source and source["default"] is not None
        filled = any("default" in child for child in node["properties"].values())
        return {"default": {}} if opens and filled else {}
    default = source.get("default")
    return {} if default in (None, []) else {"default": default}
