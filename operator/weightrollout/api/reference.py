"""The reference of the API for readers, made from the same schema as the CRD.

python -m weightrollout.api.reference > docs/api.md
"""

from collections.abc import Iterator
from typing import Any, Final

from weightrollout.api.names import API_VERSION, KIND
from weightrollout.api.rules import RULES
from weightrollout.api.schema import object_schema

HEADER: Final = f"""\
<!-- GENERATED from operator/weightrollout/api by 'make generate'; never edited by hand. -->

# API reference: {KIND}, {API_VERSION}

The smallest one:

```yaml
apiVersion: {API_VERSION}
kind: {KIND}
metadata: {{name: chat}}
spec: {{weights: {{version: "2026-11-29.1", uri: "file:///models/chat/step-1200/"}}}}
```

Short name `wr`. `kubectl explain wr.spec --recursive` shows the same fields. A field is here only when
it works. What the words mean is in [concepts](concepts.md).
"""


def as_markdown() -> str:
    """The content of docs/api.md."""
    schema = object_schema()["properties"]
    parts = [HEADER]
    for part in ("spec", "status"):
        parts += [f"\n## {part}\n\n{schema[part]['description']}\n\n"]
        parts += ["| Field | Type | Meaning |\n| --- | --- | --- |\n"]
        parts += [f"{row}\n" for row in _rows(schema[part], part)]
    parts += ["\n## Refused at once\n\nWhat the API server refuses, and what it says:\n\n"]
    parts += ["| Field | Message |\n| --- | --- |\n"]
    parts += [f"| `{path or 'metadata.name'}` | {_cell(text)} |\n" for path, text in _refusals()]
    return "".join(parts)


def _rows(node: dict[str, Any], path: str) -> Iterator[str]:
    for name, child in node["properties"].items():
        field = f"{path}.{name}"
        must = ", required" if name in node.get("required", ()) else ""
        meaning = _cell(child["description"] + _default(child))
        yield f"| `{field}` | {_type(child, field)}{must} | {meaning} |"
        inner, suffix = (child["items"], "[]") if "items" in child else (child, "")
        if "properties" in inner:
            yield from _rows(inner, field + suffix)


def _default(node: dict[str, Any]) -> str:
    """In the words that `structural` uses for a default that is not stored."""
    default = node.get("default", {})
    if default == {}:
        return ""
    shown = str(default).lower() if isinstance(default, bool) else default
    return f" Default: {shown}."


def _type(node: dict[str, Any], path: str) -> str:
    if "enum" in node:
        return " \\| ".join(f"`{word}`" for word in node["enum"])
    if node.get("x-kubernetes-int-or-string"):
        return (
            "bytes, with or without a unit" if "bytes" in path.lower() else "number or percentage"
        )
    match node["type"]:
        case "integer" if "minimum" in node:
            return f"{node['minimum']} to {node['maximum']}"
        case "array":
            most = f", at most {node['maxItems']}" if "maxItems" in node else ""
            return f"list{most}"
        case "string" if "maxLength" in node:
            return f"string, at most {node['maxLength']}"
        case other:
            return str(other)


def _refusals() -> Iterator[tuple[str, str]]:
    for path, rules in RULES.items():
        for rule in rules:
            yield f"{path}{rule.field}", rule.message.replace("%d", "N")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
