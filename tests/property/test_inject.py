"""Whatever else is in a pod: injecting twice is injecting once, and taking back is exact."""

import copy
import json
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from injecting import OPTIONS, Json, injected, options, taken_back, workloads
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Refused
from weightrollout.cli.inject.workloads import inject_all, take_back_all

#: Objects with many parts are drawn slowly on a busy machine; there is nothing that waits.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def text(workload: Json) -> str:
    """With the order of keys."""
    return json.dumps(workload)


@patient
@given(workloads, options)
def test_taking_back_gives_what_was_there_in_the_same_order(before: Json, how: Options) -> None:
    assert text(taken_back(injected(before, how))) == text(before)


@patient
@given(workloads, options)
def test_injecting_twice_is_injecting_once(before: Json, how: Options) -> None:
    once = injected(before, how)
    assert text(injected(once, how)) == text(once)


@patient
@given(workloads, options, options)
def test_the_last_injection_is_the_one_that_counts(
    before: Json, first: Options, second: Options
) -> None:
    named = Options(**{**_fields(second), "name": second.name or "chat"})
    assert text(injected(injected(before, first), named)) == text(injected(before, named))


@patient
@given(workloads, options)
def test_what_was_given_is_not_changed(before: Json, how: Options) -> None:
    kept = copy.deepcopy(before)
    after = injected(before, how)
    assert before == kept
    injected(after, how)
    assert after == injected(before, how)


@patient
@given(workloads, options)
def test_what_is_written_is_read_as_the_same_objects(before: Json, how: Options) -> None:
    after = injected(before, how)
    assert documents.read(documents.write([before, after])) == [before, after]


def _paths(node: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """To everything below."""
    if isinstance(node, dict):
        keys: list[Any] = list(node)
    else:
        keys = list(range(len(node))) if isinstance(node, list) else []
    below = [path for key in keys for path in _paths(node[key], (*above, key))]
    return [*([above] if above else []), *below]


def _broken(workload: Json, path: tuple[Any, ...], junk: Any) -> Json:
    found: Any = copy.deepcopy(workload)
    node = found
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = junk
    return dict(found)


junk: st.SearchStrategy[Any] = st.sampled_from(
    [None, 7, "x", "", [], {}, [7], [None], ["x"], {"x": None}, {"name": []}, True]
)


@patient
@given(workloads, st.data(), junk)
def test_whatever_is_not_as_it_should_be_is_refused_or_left(
    before: Json, data: st.DataObject, wrong: Any
) -> None:
    broken = _broken(before, data.draw(st.sampled_from(_paths(before))), wrong)
    try:
        after = inject_all([broken], OPTIONS).objects
    except Refused:
        return
    assert take_back_all(after).objects == [broken]


@patient
@given(workloads, st.data(), junk)
def test_a_damaged_injection_is_refused_or_taken_back(
    before: Json, data: st.DataObject, wrong: Any
) -> None:
    after = injected(before)
    broken = _broken(after, data.draw(st.sampled_from(_paths(after))), wrong)
    with suppress(Refused):
        take_back_all([broken])


def _fields(how: Options) -> Json:
    return {name: getattr(how, name) for name in Options.__dataclass_fields__}
