"""The engine's environment: what is set, what is appended to, and what the agent needs to know of it."""

from collections.abc import Sequence
from typing import Final

from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject import frontends
from weightrollout.cli.inject.edits import Edits, Key
from weightrollout.cli.inject.engine import variables
from weightrollout.cli.inject.report import Json, Reason, Refused, Report
from weightrollout.handover import files
from weightrollout.handover.records import BACKEND

PYTHON_PATH: Final = "PYTHONPATH"
#: vLLM's allow list of plugins; absent: all.
PLUGINS: Final = "VLLM_PLUGINS"

WANTED: Final = {
    files.HANDOVER_VARIABLE: names.MOUNT_HANDOVER,
    files.STAGING_VARIABLE: names.MOUNT_STAGING,
}


def edit(edits: Edits, engine: tuple[Key, ...], protocol: EngineProtocol, report: Report) -> None:
    """Raises Refused where a variable is set to something else, or cannot be seen."""
    for name, value in WANTED.items():
        _set(edits, engine, name, value, report)
    for name, value in frontends.environment(protocol).items():
        _set(edits, engine, name, value, report, f" for --engine-protocol={protocol}")
    path = _entry(edits, engine, PYTHON_PATH)
    _append(edits, engine, PYTHON_PATH, names.MOUNT_PLUGIN, ":", report)
    if path is None:
        report.could_not_know(
            Reason.IMAGE_PYTHON_PATH,
            f"the image or envFrom may set {PYTHON_PATH}, too: the container's value replaces it",
            f"if it does, write its value as env {PYTHON_PATH} and inject again: it is appended to",
        )
    if _entry(edits, engine, PLUGINS) is not None:
        _append(edits, engine, PLUGINS, BACKEND, ",", report)


def _set(
    edits: Edits, engine: tuple[Key, ...], name: str, value: str, report: Report, why: str = ""
) -> None:
    entry = _entry(edits, engine, name)
    if entry is None:
        edits.add((*engine, "env"), "name", {"name": name, "value": value})
        report.changed.append(f"env {name}={value}")
    elif entry.get("value") != value:
        raise Refused(
            Reason.ENVIRONMENT_CONFLICT,
            f"env {name} is {entry.get('value', 'taken from elsewhere')!r}, and must be {value!r}{why}",
            "take it out, it is set by inject",
        )


def _append(
    edits: Edits, engine: tuple[Key, ...], name: str, part: str, separator: str, report: Report
) -> None:
    entry = _entry(edits, engine, name)
    if entry is None:
        edits.add((*engine, "env"), "name", {"name": name, "value": part})
        report.changed.append(f"env {name}={part}")
        return
    before = entry.get("value") or ""
    if entry.get("valueFrom") is not None or not isinstance(before, str):
        raise Refused(
            Reason.ENVIRONMENT_CONFLICT,
            f"env {name} is taken from elsewhere, so nothing can be appended to it",
            f"write its value out, or append {separator}{part} where it comes from",
        )
    if part in before.split(separator):
        return
    value = f"{before}{separator}{part}" if before else part
    edits.put((*engine, "env", {"name": name}, "value"), value)
    report.changed.append(f"env {name}={value}")


def _entry(edits: Edits, engine: tuple[Key, ...], name: str) -> Json | None:
    entries = [each for each in edits.get(*engine, "env") or [] if each.get("name") == name]
    if len(entries) > 1:
        raise Refused(Reason.ENVIRONMENT_CONFLICT, f"env {name} is there {len(entries)} times")
    return entries[0] if entries else None


def referred(entries: Sequence[Json], wanted: Sequence[str]) -> tuple[Json, ...]:
    """Those of the engine's entries that `wanted` are, in their order, and what these need.

    Raises Refused where one is not among them: what comes from envFrom or the image cannot be copied.
    """
    known = {str(each.get("name")): each for each in entries}
    needed, queue = set[str](), list(wanted)
    while queue:
        name = queue.pop()
        if name in needed:
            continue
        if name not in known:
            raise Refused(
                Reason.ENVIRONMENT_CONFLICT,
                f"the engine's address or mount is of $({name}), which is no env of its container",
                f"write env {name} out",
            )
        needed.add(name)
        queue += variables(str(known[name].get("value") or ""))
    return tuple(each for each in entries if each.get("name") in needed)
