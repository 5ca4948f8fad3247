"""docs/reference/rl-http.md says what the routes do: its fields, answers, refusals and codes."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from toytrainer import NOBODYS
from weightrollout.agent import rl
from weightrollout.agent.rl.failed import CODES
from weightrollout.agent.rl.reference import ANSWERS, FIELDS, OURS, Field, refused
from weightrollout.agent.rl.routes import ROUTES, Call
from weightrollout.agent.rl.wishes import Checkpoint, Invalid, Wish, naming, wish_of
from weightrollout.api.guard import Guard

SOURCE = Path(rl.__file__).parent
EACH_FIELD = [(call, it) for call, fields in FIELDS.items() for it in fields]
GOOD = {
    **{"init_info": {}, "update_info": {}, "new_version": "7", "weight_version": "7"},
    **{"reset_running_requests": True, "reset_external": False},
    **{"mode": "keep", "clear_cache": True, "level": 2, "tags": ["weights"]},
}


@pytest.mark.parametrize(("call", "it"), EACH_FIELD)
def test_field_is_read_and_refused_where_it_is_wrong(call: Call, it: Field) -> None:
    good = {each.name: GOOD[each.name] for each in FIELDS[call]}
    wish_of(call, good)
    with pytest.raises(Invalid):
        wish_of(call, {**good, it.name: it.wrong})
    for absent in ({**good, it.name: None}, {k: v for k, v in good.items() if k != it.name}):
        if it.absent:
            wish_of(call, absent)
        else:
            with pytest.raises(Invalid, match=it.name):
                wish_of(call, absent)


@pytest.mark.parametrize("call", [Call.INIT, Call.UPDATE])
def test_checkpoint_is_read_and_refused_where_it_is_wrong(call: Call) -> None:
    good = {"uri": "file:///b/", "digest": NOBODYS}

    def read(info: dict[str, Any]) -> Wish:
        [field] = FIELDS[call]
        return naming(wish_of(call, {field.name: info}))

    assert read(good).checkpoint == Checkpoint("file:///b/", NOBODYS)
    for it in OURS:
        with pytest.raises(Invalid):
            read({**good, it.name: it.wrong})
        absent = {k: v for k, v in good.items() if k != it.name}
        if it.absent:
            read(absent)
        else:
            with pytest.raises(Invalid, match=it.name):
                read(absent)
    with pytest.raises(Invalid, match="names"):
        read({**good, "names": []})


def test_call_without_fields_reads_none() -> None:
    for call in set(Call) - set(FIELDS):
        assert wish_of(call, {name: object() for name in GOOD}) == wish_of(call, {})


def test_every_route_has_an_answer() -> None:
    assert set(ANSWERS) == {each.call for each in ROUTES} == set(Call)


def codes_in(file: Path) -> Iterator[str]:
    """What Failed, Conflict and _error are given as code, where it is written out."""
    for node in ast.walk(ast.parse(file.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        at = {"Failed": 1, "_error": 1, "Conflict": 0}.get(node.func.id)
        if at is not None and isinstance(code := node.args[at], ast.Constant):
            yield str(code.value)


def test_codes_of_the_page_are_those_of_the_code() -> None:
    written = {code for file in SOURCE.glob("*.py") for code in codes_in(file)}
    mapped = {"not_found", "method_not_allowed", "JournalUnwritable"}  # said by a variable
    assert written | mapped == set(CODES)


def test_statuses_of_the_page_are_those_of_the_code() -> None:
    text = "\n".join(file.read_text() for file in SOURCE.glob("*.py"))
    said = re.findall(r'(?:Failed|_error)\(\s*(\d{3}),\s*"(\w+)"', text)
    assert len(said) > 8
    assert {code: int(status) for status, code in said}.items() <= {
        code: it.status for code, it in CODES.items()
    }.items()


def test_each_refusal_of_a_guard_is_a_409_of_the_page() -> None:
    for call, guard in product([each.call for each in ROUTES if not each.reads], Guard):
        assert all(CODES[code].status == 409 for code in refused(call, guard))
    assert "not_paused" in refused(Call.START, Guard.STRICT)
    assert "not_paused" not in refused(Call.START, Guard.OFF)
