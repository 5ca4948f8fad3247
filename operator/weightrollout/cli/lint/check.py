"""A file with WeightRollouts, and perhaps the workloads beside them -> findings with lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from weightrollout.api.names import API_VERSION, GROUP, KIND, LABEL_NAME
from weightrollout.api.schema import object_schema
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.cli.lint.places import Document, NotYaml, Place, read
from weightrollout.cli.lint.schema import check, without_nulls
from weightrollout.cli.lint.warnings import warnings_of
from weightrollout.rollout.profile import resolved

ERROR: Final = "error"
WARNING: Final = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    file: str
    line: int  # from 1; 0: about the whole file
    severity: str  # error or warning
    field: str  # such as spec.weights.digest; "" for the whole object
    reason: str  # stable word for scripts
    message: str


@dataclass(frozen=True, slots=True)
class _Object:
    """One in a document, or in a List of it."""

    document: Document
    root: Place
    body: Mapping[str, Any]


def findings_of(file: str, text: str) -> list[Finding]:
    """By line. A file without a WeightRollout is an error: it is not the one that was meant."""
    try:
        documents = read(text)
    except NotYaml as wrong:
        return [Finding(file, wrong.line, ERROR, "", "Malformed", str(wrong))]
    found = [
        Finding(file, line, ERROR, "", "KeyTwice", f"the key {key} is there twice, and one is lost")
        for document in documents
        for line, key in document.twice
    ]
    objects = [each for document in documents for each in _objects(document)]
    ours = [each for each in objects if each.body.get("kind") == KIND]
    if not ours:
        message = f"no {KIND} in it: kind and apiVersion must be {KIND} and {API_VERSION}"
        found.append(Finding(file, 0, ERROR, "", "NothingToCheck", message))
    for each in ours:
        found += _findings(file, each, _pods_of(str(_metadata(each.body).get("name")), objects))
    return sorted(found, key=lambda each: (each.line, each.severity))


def rollouts_in(text: str) -> list[Mapping[str, Any]]:
    """As they are written. Raises NotYaml."""
    objects = [each for document in read(text) for each in _objects(document)]
    return [each.body for each in objects if each.body.get("kind") == KIND]


def _objects(document: Document) -> Iterator[_Object]:
    body = document.body
    if isinstance(body, dict) and body.get("kind") == "List":
        for number, item in enumerate(body.get("items") or ()):
            if isinstance(item, dict):
                yield _Object(document, ("items", number), item)
    elif isinstance(body, dict):
        yield _Object(document, (), body)


def _findings(file: str, each: _Object, pods: int | None) -> Iterator[Finding]:
    def finding(place: Place, severity: str, reason: str, message: str) -> Finding:
        line = each.document.line((*each.root, *place))
        return Finding(file, line, severity, _field(place), reason, message)

    version = each.body.get("apiVersion")
    if version != API_VERSION:
        message = f"must be {API_VERSION}, got {version}"
        yield finding(("apiVersion",), ERROR, "Refused", message)
        if not str(version).startswith(f"{GROUP}/"):
            return
    meta = _metadata(each.body)
    if not meta.get("name"):
        yield finding(("metadata",), ERROR, "Refused", "metadata.name is missing")
    body = {**each.body, "metadata": {**meta, "name": str(meta.get("name") or "")}}
    body.pop("status", None)
    wrong = check(body, object_schema())
    for one in wrong:
        yield finding(one.place, ERROR, "Refused", one.message)
    if wrong:
        return
    try:
        said = WeightRolloutSpec.model_validate(without_nulls(each.body.get("spec") or {}))
    except ValidationError as refused:
        for error in refused.errors():
            yield finding(("spec", *error["loc"]), ERROR, "Refused", error["msg"])
        return
    for warning in warnings_of(resolved(said), pods):
        yield finding(warning.place, WARNING, warning.reason, warning.message)


def _metadata(body: Mapping[str, Any]) -> Mapping[str, Any]:
    found = body.get("metadata")
    return found if isinstance(found, dict) else {}


def _pods_of(name: str, objects: list[_Object]) -> int | None:
    """Of the workloads in the same file that join; None where there is none, or one counts nodes."""
    counts = []
    for each in objects:
        spec = each.body.get("spec")
        if not isinstance(spec, dict) or not isinstance(spec.get("template"), dict):
            continue
        labels = _metadata(spec["template"]).get("labels")
        if isinstance(labels, dict) and labels.get(LABEL_NAME) == name:
            if each.body.get("kind") == "DaemonSet":
                return None
            replicas = spec.get("replicas", 1)
            counts.append(replicas if isinstance(replicas, int) else 1)
    return sum(counts) if counts else None


def _field(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
