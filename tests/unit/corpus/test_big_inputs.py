"""What is too large is refused before it is read, and what is nested too deep before it hurts."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from corpus import volume_side
from weightrollout.agent import stable
from weightrollout.agent.handover_volume import read_reports
from weightrollout.api.names import STABLE_KEY
from weightrollout.handover import files, records
from weightrollout.swap import journal
from weightrollout.weights import manifest

MIB: Final = 1 << 20


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_journal_of_a_gigabyte_is_kept_aside_unread(tmp_path: Path) -> None:
    sparse(tmp_path / journal.FILE, 1 << 30)
    assert peak_of(lambda: journal.Journal.open(tmp_path)) < 2 * journal.MAX_BYTES
    assert (tmp_path / "journal.corrupt-1").stat().st_size == 1 << 30


def test_report_of_a_gigabyte_is_ignored_unread(tmp_path: Path) -> None:
    sparse(files.report(tmp_path, 0), 1 << 30)
    with pytest.raises(records.HandoverError, match="longer than"):
        records.read(records.EngineReport, files.report(tmp_path, 0))
    assert peak_of(lambda: read_reports(tmp_path)) < MIB


def test_stable_of_a_gigabyte_means_that_nobody_knows(tmp_path: Path) -> None:
    sparse(tmp_path / STABLE_KEY, 1 << 30)
    assert peak_of(lambda: stable.read(tmp_path)) < 8 * MIB
    assert stable.read(tmp_path).content is None


@pytest.mark.parametrize("length", [manifest.MAX_HEADER_BYTES + 1, 1 << 62, (1 << 64) - 1])
def test_header_that_claims_more_than_is_read_costs_nothing(tmp_path: Path, length: int) -> None:
    path = tmp_path / "model.safetensors"
    sparse(path, 1 << 30)
    with path.open("r+b") as file:
        file.write(length.to_bytes(8, "little"))

    def refused() -> None:
        with pytest.raises(manifest.ManifestError):
            manifest.read_file(path)

    assert peak_of(refused) < MIB


@pytest.mark.parametrize("size", [1 << 40, 1 << 62, -1, 0])
def test_report_of_more_ranks_than_there_are_atoms_is_refused_at_once(
    tmp_path: Path, size: int
) -> None:
    said = records.dumps(replace(volume_side.REPORT, world_size=size))
    assert peak_of(lambda: volume_side.report(said, tmp_path)) < MIB
    assert volume_side.report(said, tmp_path) == "RanksMissing"


def test_shape_of_many_thousand_dimensions_is_not_multiplied(tmp_path: Path) -> None:
    deep = replace(volume_side.REPORT.tensors[0], shape=(1 << 62,) * 20_000)
    said = records.dumps(replace(volume_side.REPORT, tensors=(deep,)))
    assert volume_side.report(said, tmp_path) == "LoadPlanUnsound"
