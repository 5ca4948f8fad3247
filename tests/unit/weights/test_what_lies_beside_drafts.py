"""Files beside a draft's tensors: kept as beside every image, compared with nothing, never asked."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, with_draft
from stagings import stage as stage_target
from weightrollout.api.spec import FROM_TARGET, Draft, Metadata
from weightrollout.handover import files
from weightrollout.handover.records import EngineReport
from weightrollout.weights.digest import GOLDEN, digest_of
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import MAX_BYTES, Golden, parse
from weightrollout.weights.staging import Store

SOUND = json.dumps({"schema": 1, "prompts": [{"prompt": "2+2=", "tokenIds": [19]}]}).encode()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "target", seed=1)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    shapes = {"fc.weight": ("BF16", (32, 64))}
    return checkpoints.write_checkpoint(tmp_path / "draft", seed=2, tensors=shapes, files=1)


def stage(
    store: Store,
    folder: Path,
    report: EngineReport,
    draft: Draft | None,
    policy: Metadata = Metadata.REQUIRE,
) -> str:
    """Returns the digest."""
    index = store.stage(
        folder.as_uri(),
        digest=None,
        reports=[report],
        policy=policy,
        progress=lambda _: None,
        cancelled=lambda: False,
        draft=draft,
    )
    return index.digest


def own(folder: Path) -> Draft:
    return Draft(uri=folder.as_uri() + "/", digest=digest_of(folder, threads=1))


def golden_of(store: Store, digest: str, report: EngineReport) -> Golden | None:
    return store.golden(digest, report.plan.plan_id())


@pytest.mark.parametrize(
    "golden", [SOUND, b"not JSON", b" " * (MAX_BYTES + 7)], ids=["sound", "broken", "huge"]
)
def test_golden_of_a_draft_of_its_own_checkpoint_is_not_asked(
    store: Store, target: Path, other: Path, golden: bytes
) -> None:
    (other / GOLDEN).write_bytes(golden)
    report = with_draft(report_of(target), other, method="eagle3")
    assert report.draft is not None
    digest = stage(store, target, report, own(other))
    assert golden_of(store, digest, report) is None
    assert store.staged(report.draft.plan.plan_id()) == {digest_of(other, threads=1)}


def test_golden_of_the_target_counts_beside_that_of_its_draft(
    store: Store, target: Path, other: Path
) -> None:
    (target / GOLDEN).write_bytes(SOUND)
    (other / GOLDEN).write_bytes(SOUND.replace(b"19", b"20"))
    report = with_draft(report_of(target), other, method="eagle3")
    digest = stage(store, target, report, own(other))
    assert golden_of(store, digest, report) == parse(SOUND)


def test_golden_is_not_lost_where_target_and_draft_are_one_image(
    store: Store, target: Path
) -> None:
    """The same checkpoint in the same layout: whoever comes first keeps it for both."""
    (target / GOLDEN).write_bytes(SOUND)
    report = with_draft(report_of(target), target, method="draft_model")
    assert report.draft is not None
    assert report.draft.plan.plan_id() == report.plan.plan_id()
    digest = stage(store, target, report, own(target))
    assert golden_of(store, digest, report) == parse(SOUND)


@pytest.mark.parametrize("draft", [None, FROM_TARGET], ids=["absent", "from target"])
def test_golden_is_that_of_the_target_where_the_draft_lies_in_it(
    store: Store, target: Path, draft: Draft | None
) -> None:
    (target / GOLDEN).write_bytes(SOUND)
    report = with_draft(report_of(target), target, names=("lm_head.weight",))
    assert report.draft is not None
    digest = stage(store, target, report, draft)
    assert golden_of(store, digest, report) == parse(SOUND)
    assert store.staged(report.draft.plan.plan_id()) == {digest}


def test_config_of_a_draft_is_compared_with_nothing(
    store: Store, target: Path, other: Path
) -> None:
    (other / "config.json").write_text('{"architectures": ["Other"]}')
    report = with_draft(report_of(target), other, method="eagle3")
    assert report.draft is not None
    stage(store, target, report, own(other))
    assert store.staged(report.draft.plan.plan_id()) == {digest_of(other, threads=1)}


def test_metadata_of_the_target_is_judged_beside_a_draft_as_without_one(
    store: Store, target: Path, other: Path
) -> None:
    report = with_draft(report_of(target), other, method="eagle3")
    (target / "generation_config.json").write_text('{"temperature": 0.1}')
    with pytest.raises(WeightsError) as caught:
        stage(store, target, report, own(other))
    assert caught.value.reason is Reason.METADATA_DIFFERS
    digest = stage(store, target, report, own(other), Metadata.IGNORE)
    assert store.staged(report.plan.plan_id(), [report]) == {digest}


def test_ranks_whose_drafts_take_the_same_bytes_share_them(store: Store, target: Path) -> None:
    first = replace(report_of(target), world_size=2)
    second = replace(first, rank=1, plan=replace(first.plan, rank=1))
    both = [with_draft(each, target, names=("lm_head.weight",)) for each in (first, second)]
    index = stage_target(store, target, both)
    assert both[0].draft is not None
    for plan_id in (index.plan_id, both[0].draft.plan.plan_id()):
        region = store.region(index.digest, plan_id)
        one, other = (files.rank_image(region, rank) for rank in (0, 1))
        assert one.samefile(other)
