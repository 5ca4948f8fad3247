"""Collecting frees space and never takes bytes from under a reader."""

import mmap
from pathlib import Path

import pytest

import checkpoints
from reports import report_of
from stagings import stage, visible
from weightrollout.handover import files
from weightrollout.handover.records import EngineReport
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2)


def _weights(tmp_path: Path, seed: int) -> Path:
    return checkpoints.write_checkpoint(tmp_path / f"model-{seed}", seed=seed)


def _report(tmp_path: Path) -> EngineReport:
    return report_of(_weights(tmp_path, 1))


def test_only_digests_that_are_kept_stay(store: Store, tmp_path: Path) -> None:
    report = _report(tmp_path)
    one, two, three = (
        stage(store, _weights(tmp_path, seed), [report]).digest for seed in (1, 2, 3)
    )
    assert sorted(store.collect(keep=[two])) == sorted([one, three])
    assert store.staged(report.plan.plan_id()) == {two}
    assert visible(store) == [two.removeprefix("sha256:")]


def test_reader_keeps_the_bytes_of_an_image_that_is_collected(store: Store, tmp_path: Path) -> None:
    report = _report(tmp_path)
    index = stage(store, _weights(tmp_path, 1), [report])
    path = files.rank_image(store.region(index.digest, index.plan_id), 0)
    before = path.read_bytes()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as reader:
        store.collect(keep=[])
        stage(store, _weights(tmp_path, 1), [report])
        assert reader[:] == before


def test_collecting_spares_a_staging_that_runs(store: Store, tmp_path: Path) -> None:
    report = _report(tmp_path)
    collected: list[str] = []
    index = store.stage(
        _weights(tmp_path, 1).as_uri(),
        digest=None,
        reports=[report],
        progress=lambda _: collected.extend(store.collect(keep=[])),
        cancelled=lambda: False,
    )
    assert collected == []
    assert store.index(index.digest, index.plan_id) == index


def test_what_a_killed_agent_left_unfinished_is_removed_at_the_next_start(tmp_path: Path) -> None:
    store = Store(tmp_path / "staging", threads=2)
    report = _report(tmp_path)
    index = stage(store, _weights(tmp_path, 1), [report])
    leftover = store.root / files.IMAGES / ".tmp-killed"
    leftover.mkdir()
    (leftover / "rank0.image").write_bytes(b"half")
    again = Store(store.root, threads=2)
    assert visible(again) == [index.digest.removeprefix("sha256:")]
    assert again.staged(index.plan_id) == {index.digest}


def test_folders_that_are_no_images_are_left_alone(store: Store) -> None:
    (store.root / files.IMAGES / "lost+found").mkdir()
    assert store.collect(keep=[]) == []
    assert store.staged("0" * 16) == frozenset()
    assert visible(store) == ["lost+found"]


@pytest.mark.parametrize("digest", ["sha256:../..", "x", "sha256:" + "0" * 63])
def test_text_that_is_no_digest_never_becomes_a_path(store: Store, digest: str) -> None:
    with pytest.raises(ValueError, match="no digest and plan id"):
        store.region(digest, "0" * 16)
    assert store.index(digest, "0" * 16) is None
