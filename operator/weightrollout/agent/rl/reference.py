"""docs/reference/rl-http.md: the routes, what each takes and answers, and what each guard refuses, by asking it.

python -m weightrollout.agent.rl.reference --write | --check
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from weightrollout import generated
from weightrollout.agent.rl.door import QUERIES
from weightrollout.agent.rl.failed import CODES, ENGINES_OWN, OF_CHECKPOINTS
from weightrollout.agent.rl.guard import Scene, conflict
from weightrollout.agent.rl.routes import ROUTES, Call, Needs, Route, methods
from weightrollout.agent.rl.wishes import DIGEST, RESETS, TAGS, URI, Wish
from weightrollout.api.guard import Guard
from weightrollout.handover.records import BACKEND
from weightrollout.swap.hold import DRAFT, TARGET, Hold


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    takes: str
    absent: str  # what it is then; "" where it must be there
    wrong: Any  # an example that is refused


_MODE: Final = Field("mode", "`abort`, `wait`, `keep`", "`abort`", "sometimes")

FIELDS: Final[dict[Call, tuple[Field, ...]]] = {
    Call.PAUSE: (
        _MODE,
        Field("clear_cache", "boolean", "as the engine does, which clears", "yes"),
    ),
    Call.SLEEP: (Field("level", "0, 1, 2", "1", 3), _MODE),
    Call.WAKE_UP: (Field("tags", f"list of {', '.join(f'`{t}`' for t in TAGS)}", "all", ["x"]),),
    Call.INIT: (Field("init_info", "object, for the engine's backend", "", [1]),),
    Call.UPDATE: (Field("update_info", "object, for the engine's backend", "", [{}]),),
    Call.FINISH: (Field("weight_version", "non-empty string", "the label stays", " "),),
    Call.SET_VERSION: (Field("new_version", "non-empty string", "", ""),),
    Call.RESET_CACHE: tuple(Field(name, "boolean", "`false`", "yes") for name in RESETS),
}

#: Of both objects, where the engine was started with our own backend.
OURS: Final = (
    Field(URI, "where a checkpoint lies, as `spec.weights.uri`", "", ""),
    Field(
        DIGEST, "`sha256:` and 64 hex digits", "whatever lies there, read anew each time", "md5:1"
    ),
)

ANSWERS: Final[dict[Call, tuple[dict[str, Any], ...]]] = {
    Call.PAUSE: ({"status": "paused"},),
    Call.RESUME: ({"status": "resumed"},),
    Call.IS_PAUSED: ({"is_paused": True},),
    Call.IS_SLEEPING: ({"is_sleeping": True},),
    Call.GET_VERSION: ({"weight_version": "7"},),
    Call.SLEEP: ({"status": "sleeping"},),
    Call.WAKE_UP: ({"status": "awake"}, {"status": "partially_awake", "is_sleeping": True}),
    Call.INIT: ({"message": "Weight transfer initialized"},),
    Call.START: ({"message": "Weight update started"},),
    Call.START_DRAFT: ({"message": "Draft weight update started"},),
    Call.UPDATE: ({"message": "Weights updated"},),
    Call.FINISH: ({"message": "Weight update finished"},),
    Call.SET_VERSION: ({"success": True, "new_version": "7"},),
    Call.WORLD_SIZE: ({"world_size": 8},),
    Call.RESET_CACHE: ({"success": True},),
}

NEEDS: Final = {
    Needs.RL: "RL calls",
    Needs.SLEEP: "sleep mode",
    Needs.TRANSFER: "weight transfer",
    Needs.DRAFT: "a draft that takes updates",
    Needs.RESET_CACHE: "a cache to reset, which vLLM's Python frontend alone has a call for",
}

HEADER: Final = """\
<!-- GENERATED from weightrollout/agent/rl by 'make generate'; never edited by hand. -->
# RL routes of the agent

On the trainers' port (9612), to whoever brings the token: [rl.md](../rl.md). `/health` alone is for everybody. Bodies are
JSON objects, whatever the content type says, of at most 32 MiB; an empty body is `{}`, `null` is as good as absent, and keys that
are not named here are ignored. Each answer is `application/json` with a Content-Length.
"""

ROUTES_HEADER: Final = """
## Routes

*Needs* is what every core of the engine must report, else 404. Below `/engine/` any method will do, as in Dynamo; vLLM's own names
of calls that change something take POST. Fields of a mere query: `/pause`, `/sleep`, `/wake_up`, `/reset_prefix_cache` without a body.

| Below `/engine/` | vLLM's own | Method of that | Needs | Answer |
| --- | --- | --- | --- | --- |
"""

FIELDS_HEADER: Final = """
## Fields

What is wrong with one is 400, `invalid`, before anything is touched.

| Call | Field | Takes | Absent |
| --- | --- | --- | --- |
"""

OURS_HEADER: Final = f"""
## With backend `{BACKEND}`

`init_info` and `update_info` name a checkpoint, which the agent stages, checks and hands to the engine; other keys are refused. An empty
`init_info` names none. What `init_weight_transfer_engine` named is ready when it answers: an update with the same digest then only
copies. The engine's own start comes with the update; with guard `auto-pause` so does the pause, when the weights are ready.

| Field | Takes | Absent |
| --- | --- | --- |
"""

REFUSALS_HEADER: Final = """
## Refusals: 409

What can be in the way of a call, by guard. A trainer's own pause, or none, is assumed beside it. What the guards do not differ in
is said once. An operator's swap (`swap_running`), an engine that a swap left half-loaded (`poisoned`) and a pod that is about to end
(`leaving`) are in the way of all of them.

| Call | Whatever the guard | Besides |
| --- | --- | --- |
"""

CODES_HEADER: Final = """
## Errors

`{"status": "error", "error": CODE, "message": TEXT}`. What may pass is never 404, and what a guard says never 5xx, which clients
repeat.

| Status | `error` | Meaning |
| --- | --- | --- |
"""

_ALWAYS: Final = ("swap_running", "poisoned", "leaving")


def as_markdown() -> str:
    return "".join(
        (
            HEADER,
            ROUTES_HEADER,
            *(_row(*_route(each)) for each in ROUTES),
            FIELDS_HEADER,
            *(
                _row(f"`{call}`", f"`{it.name}`", it.takes, it.absent or "**refused**")
                for call, fields in FIELDS.items()
                for it in fields
            ),
            OURS_HEADER,
            *(_row(f"`{it.name}`", it.takes, it.absent or "**refused**") for it in OURS),
            REFUSALS_HEADER,
            *(_row(*_refusals(each.call)) for each in ROUTES if not each.reads),
            CODES_HEADER,
            *(_row(str(it.status), f"`{code}`", it.meaning) for code, it in _sorted_codes()),
            *(_row(str(status), "*of the engine*", said) for status, said in ENGINES_OWN.items()),
            *(_row(str(it), "*of a checkpoint*", said) for it, said in OF_CHECKPOINTS.items()),
        )
    )


def _route(route: Route) -> Iterator[str]:
    yield f"`{route.name}`" if route.name else ""
    yield f"`{route.alias}`" + (", also by query" if route.call in QUERIES else "")
    yield "any" if methods(route) == ("*",) else ", ".join(methods(route))
    yield NEEDS[route.needs]
    yield " or ".join(f"`{json.dumps(each)}`" for each in ANSWERS[route.call])


def _refusals(call: Call) -> Iterator[str]:
    by_guard = {guard: refused(call, guard) for guard in Guard}
    common = frozenset.intersection(*by_guard.values())
    yield f"`{call}`"
    yield _codes(common - frozenset(_ALWAYS))
    yield "; ".join(
        f"{guard}: {_codes(codes - common)}" for guard, codes in by_guard.items() if codes - common
    )


def refused(call: Call, guard: Guard) -> frozenset[str]:
    """Codes of all that can be in the way of it."""
    wishes = [Wish(call, version="1"), Wish(call, version="1", tags=("weights",))]
    return frozenset(
        against.code
        for wish, scene in product(wishes, scenes())
        if (against := conflict(wish, scene, guard)) is not None
    )


def scenes() -> Iterator[Scene]:
    """Every state that an engine can be in beside a trainer's call."""
    holds = product(
        (False, True),
        ((), ("kv_cache",), ("kv_cache", "weights")),
        ("", TARGET, DRAFT),
        ((), (TARGET,), (DRAFT, TARGET)),
        (False, True),
    )
    flags = list(product((False, True), repeat=3))
    around = list(product((None, Call.UPDATE, Call.INIT), ("", "txn-1"), flags))
    for (paused, asleep, session, incomplete, draining), rest in product(holds, around):
        running, swap, (poisoned, leaving, operator_drives) = rest
        yield Scene(
            hold=Hold(
                "i",
                paused=paused,
                asleep=asleep,
                session=session,
                incomplete=incomplete,
                draining=draining,
            ),
            paused=paused or bool(asleep),
            running=running,
            swap=swap,
            poisoned=poisoned,
            leaving=leaving,
            operator_drives=operator_drives,
        )


def _sorted_codes() -> list[tuple[str, Any]]:
    return sorted(CODES.items(), key=lambda each: (each[1].status, each[0]))


def _codes(codes: frozenset[str]) -> str:
    return ", ".join(f"`{each}`" for each in sorted(codes))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def made() -> dict[Path, str]:
    return {generated.DOCS / "reference" / "rl-http.md": as_markdown()}


if __name__ == "__main__":
    raise SystemExit(generated.main(made, sys.argv[1:]))
