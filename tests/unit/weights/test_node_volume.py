"""What others do in a node's volume while it is looked at: nothing is promised there, and nothing may leak."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from weightrollout.weights.node_volume import NodeVolume

KEY = "a" * 64


class Vanishing:
    """A folder whose files are gone as soon as their names were read."""

    def __init__(self, folder: Path) -> None:
        self._real = _scandir(folder)

    def __iter__(self) -> Iterator["os.DirEntry[str]"]:
        for entry in self._real:
            Path(entry.path).unlink()
            yield entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._real.close()


_scandir = os.scandir


def test_files_that_vanish_while_they_are_counted_leave_no_folder_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One left open is a ResourceWarning, and those are failures here."""
    volume = NodeVolume(tmp_path / "volume")
    volume.prepare()
    part = volume.root / "filling" / f"{KEY}-1"
    part.mkdir()
    for name in ("one", "two"):
        (part / name).write_bytes(b"12345")
    assert volume.came(KEY) == 10
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", lambda at: (Vanishing if at == part else _scandir)(at))
        assert volume.came(KEY) == 0
