"""A new process of an engine finds nothing of an earlier one, and leaves what other ranks and the agent wrote."""

import os
from pathlib import Path

import pytest

from weightrollout.handover import files, records
from weightrollout.handover.answers import remove_old
from weightrollout.handover.records import ExitRequest, Prepared

TXN = "uid/v2/pod/1"


def prepared(rank: int) -> Prepared:
    return Prepared(TXN, rank, "engine-1", "sha256:1", ok=True)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_answers_of_this_rank_are_removed_and_those_of_others_are_not(tmp_path: Path) -> None:
    for rank in (0, 1, 10):
        records.write(files.prepared(tmp_path, TXN, rank), prepared(rank))
        records.write(files.receipt(tmp_path, TXN, rank), prepared(rank))
        records.write(files.report(tmp_path, rank), prepared(rank))
    others = {name for name in names(tmp_path) if not name.endswith("rank1.json")}
    remove_old(tmp_path, 1)
    assert names(tmp_path) == others


def test_what_a_killed_process_had_half_written_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    for path in (files.report(tmp_path, 0), files.prepared(tmp_path, TXN, 0)):
        with pytest.raises(KeyboardInterrupt):
            records.write(path, prepared(0))
    assert len(names(tmp_path)) == 2
    remove_old(tmp_path, 0)
    assert names(tmp_path) == set()


def test_request_to_an_earlier_process_is_removed_by_the_first_rank_alone(tmp_path: Path) -> None:
    records.write(files.exit_request(tmp_path), ExitRequest("engine-1", "Poisoned"))
    remove_old(tmp_path, 1)
    assert names(tmp_path) == {"exit-request.json"}
    remove_old(tmp_path, 0)
    assert names(tmp_path) == set()
