"""A reader of a configMap volume sees one consistent set of files."""

from __future__ import annotations

from pathlib import Path

from localcluster.volumes import write_atomically


def shown(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.relative_to(folder).parts[0].startswith("..")
    }


def test_files_are_links_through_one_link(tmp_path: Path) -> None:
    write_atomically(tmp_path, {"a": b"1"})

    assert (tmp_path / "a").readlink() == Path("..data/a")
    assert (tmp_path / "..data").is_symlink()


def test_change_swaps_all_files_and_removes_old_ones(tmp_path: Path) -> None:
    write_atomically(tmp_path, {"a": b"1", "old": b"x"})
    before = (tmp_path / "..data").resolve()

    assert write_atomically(tmp_path, {"a": b"2", "b": b"2"})

    assert shown(tmp_path) == {"a": "2", "b": "2"}
    assert not before.exists()


def test_same_content_is_not_written_again(tmp_path: Path) -> None:
    write_atomically(tmp_path, {"a": b"1"})
    before = (tmp_path / "..data").readlink()

    assert not write_atomically(tmp_path, {"a": b"1"})

    assert (tmp_path / "..data").readlink() == before


def test_source_without_files_still_makes_a_volume(tmp_path: Path) -> None:
    assert write_atomically(tmp_path, {})
    assert shown(tmp_path) == {}
    assert write_atomically(tmp_path, {"a": b"1"})
    assert write_atomically(tmp_path, {})
    assert shown(tmp_path) == {}
