"""An image is exactly what the load plan asks of the checkpoint, and is seen only when proven."""

import json
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, sharded_reports
from stagings import block_bytes, source_bytes, stage, visible
from weightrollout.handover import files
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.staging import StageCount, Store

#: Several chunks of the one pass long, and cut by its borders within rows.
LARGE = {
    "odd.bytes": ("U8", (3,)),  # leaves everything behind it unaligned
    "model.embed_tokens.weight": ("BF16", (1500, 1001 * 2)),
    "model.layers.0.mlp.up_proj.weight": ("F32", (640, 900)),
    "model.norm.weight": ("F64", (900,)),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


def test_image_of_one_rank_holds_every_parameter(store: Store, folder: Path) -> None:
    report = report_of(folder)
    index = stage(store, folder, [report])
    region = store.region(index.digest, index.plan_id)
    for block in report.plan.blocks:
        name = block.parameter
        assert block_bytes(region, report, name) == checkpoints.stored(folder)[name].data()


@pytest.mark.parametrize("count", [1, 3])
def test_image_of_each_rank_holds_its_columns(store: Store, tmp_path: Path, count: int) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "l", seed=2, tensors=LARGE, files=count)
    reports = sharded_reports(folder)
    index = stage(store, folder, reports)
    region = store.region(index.digest, index.plan_id)
    for report in reports:
        for block in report.plan.blocks:
            want = source_bytes(folder, report, block.parameter)
            assert block_bytes(region, report, block.parameter) == want


def test_ranks_that_take_the_same_bytes_share_them(store: Store, folder: Path) -> None:
    first = replace(report_of(folder), world_size=2)
    second = replace(first, rank=1, plan=replace(first.plan, rank=1))
    index = stage(store, folder, [first, second])
    region = store.region(index.digest, index.plan_id)
    one, other = (files.rank_image(region, rank) for rank in (0, 1))
    assert one.samefile(other)
    assert index.ranks[0].blocks == index.ranks[1].blocks


def test_checksums_are_those_of_the_bytes_in_the_image(store: Store, folder: Path) -> None:
    reports = sharded_reports(folder)
    index = stage(store, folder, reports)
    region = store.region(index.digest, index.plan_id)
    for report, image in zip(reports, index.ranks, strict=True):
        for block in image.blocks:
            data = block_bytes(region, report, block.parameter)
            assert (block.bytes, block.crc32) == (len(data), zlib.crc32(data))


def test_digest_is_that_of_the_folder(store: Store, folder: Path) -> None:
    index = stage(store, folder, [report_of(folder)])
    assert index.digest == digest.digest_of(folder, threads=1)


def test_order_of_the_reports_does_not_matter(store: Store, folder: Path) -> None:
    first, second = sharded_reports(folder)
    assert stage(store, folder, [second, first]) == stage(store, folder, [first, second])


def test_tied_head_that_is_left_out_fills_its_parameter(store: Store, folder: Path) -> None:
    alias, name = "lm_head.weight", "model.embed_tokens.weight"
    report = report_of(folder, aliases={name: (alias,)})
    checkpoints.drop_tensor(folder, name)
    index = stage(store, folder, [report])
    region = store.region(index.digest, index.plan_id)
    assert block_bytes(region, report, name) == checkpoints.stored(folder)[alias].data()


def test_progress_counts_up_to_the_whole_folder(store: Store, folder: Path) -> None:
    counts: list[StageCount] = []
    store.stage(
        folder.as_uri(),
        digest=None,
        reports=[report_of(folder)],
        progress=counts.append,
        cancelled=lambda: False,
    )
    total = sum((folder / name).stat().st_size for name in digest.matching_files(folder))
    assert counts[-1] == StageCount(total, total)


def test_nothing_is_visible_before_it_is_proven(store: Store, folder: Path) -> None:
    report = report_of(folder)
    seen: list[frozenset[str]] = []
    store.stage(
        folder.as_uri(),
        digest=None,
        reports=[report],
        progress=lambda _: seen.append(store.staged(report.plan.plan_id())),
        cancelled=lambda: False,
    )
    assert set(seen) == {frozenset()}
    assert store.staged(report.plan.plan_id()) == {digest.digest_of(folder, threads=1)}


def test_cancelled_staging_leaves_nothing_behind(store: Store, folder: Path) -> None:
    with pytest.raises(WeightsError) as caught:
        store.stage(
            folder.as_uri(),
            digest=None,
            reports=[report_of(folder)],
            progress=lambda _: None,
            cancelled=lambda: True,
        )
    assert caught.value.reason is Reason.STAGING_CANCELLED
    assert visible(store) == []


def test_same_weights_staged_twice_at_once_give_one_image(store: Store, folder: Path) -> None:
    report = report_of(folder)
    threads = [threading.Thread(target=stage, args=(store, folder, [report])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(visible(store)) == 1
    assert len(store.staged(report.plan.plan_id())) == 1


def test_image_that_is_there_is_reused_without_its_source(store: Store, folder: Path) -> None:
    report = report_of(folder)
    index = stage(store, folder, [report])
    gone = folder.with_name("gone")
    assert stage(store, gone, [report], digest=index.digest) == index


def test_image_of_other_ranks_is_not_reused(store: Store, folder: Path) -> None:
    first, second = sharded_reports(folder)
    index = stage(store, folder, [first])
    both = stage(store, folder, [first, second], digest=index.digest)
    assert [image.rank for image in both.ranks] == [0, 1]


@pytest.mark.parametrize("harm", ["image cut", "image gone", "index newer", "index gone"])
def test_image_that_is_not_whole_is_staged_again(store: Store, folder: Path, harm: str) -> None:
    report = report_of(folder)
    index = stage(store, folder, [report])
    region = store.region(index.digest, index.plan_id)
    match harm:
        case "image cut":
            with files.rank_image(region, 0).open("r+b") as image:
                image.truncate(100)
        case "image gone":
            files.rank_image(region, 0).unlink()
        case "index newer":
            body = json.loads((region / files.INDEX).read_bytes())
            (region / files.INDEX).write_text(json.dumps(body | {"schema": 99}))
        case "index gone":
            (region / files.INDEX).unlink()
    assert store.index(index.digest, index.plan_id) is None
    assert stage(store, folder, [report], digest=index.digest) == index
    assert store.index(index.digest, index.plan_id) == index
