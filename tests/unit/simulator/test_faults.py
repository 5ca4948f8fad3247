"""A scripted fault hits the call it names, as often as it says."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from simulator.faults import Do, Faults


def taken(faults: Faults, call: str, times: int) -> list[Do | None]:
    return [fault.do if (fault := faults.take(call)) else None for _ in range(times)]


def test_fault_with_at_hits_that_call_only() -> None:
    faults = Faults()
    faults.load([{"call": "IsPaused", "at": 2, "do": "hang"}])
    assert taken(faults, "IsPaused", 3) == [None, Do.HANG, None]
    assert taken(faults, "Sleep", 2) == [None, None]


def test_fault_without_at_hits_every_call() -> None:
    faults = Faults()
    faults.load([{"call": "IsPaused", "do": "refuse"}])
    assert taken(faults, "IsPaused", 2) == [Do.REFUSE, Do.REFUSE]


def test_calls_are_counted_whether_they_fail_or_not() -> None:
    faults = Faults()
    taken(faults, "IsPaused", 3)
    faults.load([{"call": "IsPaused", "at": 1, "do": "refuse"}])
    assert taken(faults, "IsPaused", 1) == [Do.REFUSE]
    assert faults.calls["IsPaused"] == 4


def test_info_is_short_for_get_server_info() -> None:
    faults = Faults()
    faults.load([{"call": "info", "do": "refuse"}])
    assert taken(faults, "GetServerInfo", 1) == [Do.REFUSE]


@pytest.mark.parametrize(
    "entry",
    [
        {"call": "IsPaused"},
        {"call": "IsPaused", "do": "explode"},
        {"call": "Nonsense", "do": "hang"},
        {"call": "IsPaused", "do": "hang", "when": 3},
        "hang",
    ],
)
def test_fault_with_a_mistake_is_refused_and_the_old_ones_stay(entry: Any) -> None:
    faults = Faults()
    faults.load([{"call": "IsPaused", "do": "refuse"}])
    with pytest.raises(ValueError, match=r"fault|not a valid"):
        faults.load([entry])
    assert taken(faults, "IsPaused", 1) == [Do.REFUSE]


def test_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    faults = Faults(file)
    assert taken(faults, "IsPaused", 1) == [None]
    file.write_text(json.dumps([{"call": "IsPaused", "do": "refuse"}]))
    assert taken(faults, "IsPaused", 1) == [Do.REFUSE]
    file.write_text("[]")
    os.utime(file, ns=(1, 1))
    assert taken(faults, "IsPaused", 1) == [None]


def test_file_that_is_half_written_leaves_the_old_faults(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    file.write_text(json.dumps([{"call": "IsPaused", "do": "refuse"}]))
    faults = Faults(file)
    assert taken(faults, "IsPaused", 1) == [Do.REFUSE]
    file.write_text("[{")
    assert taken(faults, "IsPaused", 1) == [Do.REFUSE]
