"""Which stagings may go on where an earlier process was."""

from pathlib import Path

import checkpoints
from reports import report_of
from weightrollout.api.spec import Metadata
from weightrollout.weights.build import Build
from weightrollout.weights.sources.file import Folder


def build_of(folder: Path) -> Build:
    return Build.of(Folder(folder), [report_of(folder)], Metadata.REQUIRE)


def test_same_source_is_gone_on_with_and_one_that_was_written_is_not(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "m", seed=1)
    key = build_of(folder).key()
    assert key is not None
    assert build_of(folder).key() == key
    checkpoints.write_checkpoint(folder, seed=2)
    assert build_of(folder).key() != key


def test_what_a_neighbour_may_exchange_meanwhile_is_written_anew(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "m", seed=1)
    assert build_of(folder).reading_from(Folder(folder)).key() is None
