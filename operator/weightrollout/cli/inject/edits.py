"""Change an object in place and write down how to take every change back.

The record holds what was there before, step by step, and not the whole object: what somebody changed elsewhere after the injection
survives taking it back. A path is a list of keys; a key of a mapping is a string, an item of a list is {field: value}.
"""

import copy
import json
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from weightrollout.api import names
from weightrollout.cli.inject.report import Json, Reason, Refused

Key: TypeAlias = str | dict[str, str]

#: Of the record. A release that writes another form raises it.
SCHEMA: Final = 1


class Edits:
    """`root` is changed; it must be the caller's own copy."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self.steps: list[Json] = []

    def get(self, *at: Key) -> Any:
        """What is there; None where nothing is."""
        return _find(self.root, at)

    def put(self, at: tuple[Key, ...], value: Any) -> None:
        """Set the last key of `at` in the mapping that the others lead to, which is made if need be."""
        *above, last = at
        assert isinstance(last, str)
        parent = self._room(tuple(above), {})
        if last in parent and parent[last] == value:
            return
        self.steps.append({"at": list(at), **_was(parent, last)})
        parent[last] = value

    def add(self, at: tuple[Key, ...], field: str, item: Json) -> None:
        """Append an item, which `field` names, to the list at `at`, which is made if need be."""
        self._room(at, []).append(item)
        self.steps.append({"at": [*at, {field: item[field]}]})

    def extend(self, at: tuple[Key, ...], tokens: list[str]) -> None:
        """Append to a list of strings, which is made if need be."""
        if not tokens:
            return
        self._room(at, []).extend(tokens)
        self.steps.append({"at": list(at), "tokens": tokens})

    def seal(self) -> None:
        """Put the record into the object's annotations. No edit after it."""
        annotations = self._room(("metadata", "annotations"), {})
        record = {"schema": SCHEMA, "undo": self.steps}
        annotations[names.ANNOTATION_INJECTED] = json.dumps(record, separators=(",", ":"))

    def _room(self, at: tuple[Key, ...], empty: Json | list[Any]) -> Any:
        found = self.get(*at)
        if found is not None:
            if type(found) is not type(empty):
                raise Refused(Reason.MALFORMED, f"{_text(at)} is not a {_kind(empty)}")
            return found
        *above, last = at
        if not isinstance(last, str):
            raise Refused(Reason.MALFORMED, f"{_text(at)} is not there")
        parent = self._room(tuple(above), {})
        self.steps.append({"at": list(at), "made": True, **_was(parent, last)})
        parent[last] = empty
        return empty


def is_injected(root: Json) -> bool:
    return _find(root, ("metadata", "annotations", names.ANNOTATION_INJECTED)) is not None


def take_back(root: Json) -> tuple[Json, list[str]]:
    """A copy as it was before it was injected, and what of the injection was not found any more.

    What was not injected comes back equal. Raises Refused.
    """
    found = copy.deepcopy(root)
    if not is_injected(root):
        return found, []
    steps = _steps(found["metadata"]["annotations"].pop(names.ANNOTATION_INJECTED))
    try:
        lost = [_text(step["at"]) for step in reversed(steps) if not _undo(found, step)]
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise _unreadable(repr(error)) from error
    return found, lost


def _steps(text: object) -> list[Json]:
    try:
        record = json.loads(str(text))
        schema, steps = record["schema"], record["undo"]
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(repr(error)) from error
    if schema != SCHEMA:
        raise Refused(
            Reason.INJECTED_BY_NEWER,
            f"was injected by another release (record of schema {schema}, this one writes {SCHEMA})",
            "use the kubectl-weightrollout that injected it",
        )
    if not isinstance(steps, list):
        raise _unreadable("no list of steps")
    return steps


def _undo(root: Json, step: Json) -> bool:
    """False where somebody removed since what was put in."""
    at = step["at"]
    parent, last = _find(root, at[:-1]), at[-1]
    if parent is None:
        return False
    if "tokens" in step:
        return _cut(parent.get(last), step["tokens"])
    if isinstance(last, dict):
        item = _find(parent, (last,))
        if item is None:
            return False
        parent.remove(item)
    elif step.get("made") and parent.get(last):
        return True  # somebody put something of their own there since, and it stays
    elif "was" in step:
        parent[last] = step["was"]
    else:
        return parent.pop(last, None) is not None
    return True


def _cut(found: list[str] | None, tokens: list[str]) -> bool:
    """Take out the last run of exactly these."""
    for start in range(len(found or ()) - len(tokens), -1, -1):
        assert found is not None
        if found[start : start + len(tokens)] == tokens:
            del found[start : start + len(tokens)]
            return True
    return False


def _find(node: Any, at: tuple[Key, ...] | list[Key]) -> Any:
    for key in at:
        if isinstance(key, str):
            node = node.get(key) if isinstance(node, dict) else None
        else:
            ((field, value),) = key.items()
            node = _item(node, field, value)
        if node is None:
            return None
    return node


def _item(items: Any, field: str, value: str) -> Any:
    if not isinstance(items, list):
        return None
    return next(
        (each for each in items if isinstance(each, dict) and each.get(field) == value), None
    )


def _was(parent: Json, key: str) -> Json:
    return {"was": copy.deepcopy(parent[key])} if key in parent else {}


def _unreadable(why: str) -> Refused:
    return Refused(
        Reason.RECORD_UNREADABLE,
        f"annotation {names.ANNOTATION_INJECTED} cannot be read: {why}",
        "take the workload from where it was before it was injected",
    )


def _kind(empty: Json | list[Any]) -> str:
    return "mapping" if isinstance(empty, dict) else "list"


def _text(at: Sequence[Key]) -> str:
    return ".".join(each if isinstance(each, str) else next(iter(each.values())) for each in at)
