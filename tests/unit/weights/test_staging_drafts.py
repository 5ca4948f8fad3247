"""A draft is staged with its target: found in the same checkpoint, named, refused, or left alone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, with_draft
from stagings import visible
from weightrollout.api.spec import Draft
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import EngineReport, ImageIndex
from weightrollout.weights.build import StageCount
from weightrollout.weights.digest import digest_of
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.preflight import engine_refusal
from weightrollout.weights.staging import Store

HEAD = "model.norm.weight"
FROM_TARGET = Draft.model_validate({"from": "Target"})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "target", seed=1)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A draft's own checkpoint: other tensors than the target's."""
    shapes = {"fc.weight": ("BF16", (32, 64)), "mid.weight": ("F32", (32,))}
    return checkpoints.write_checkpoint(tmp_path / "draft", seed=2, tensors=shapes, files=1)


def own(folder: Path, digest: str | None = None) -> Draft:
    found = digest or digest_of(folder, threads=1)
    return Draft.model_validate({"uri": folder.as_uri() + "/", "digest": found})


def stage(
    store: Store,
    folder: Path,
    reports: Sequence[EngineReport],
    draft: Draft | None = None,
    counts: list[StageCount] | None = None,
    digest: str | None = None,
) -> ImageIndex:
    return store.stage(
        folder.as_uri(),
        digest=digest,
        reports=reports,
        progress=(counts if counts is not None else []).append,
        cancelled=lambda: False,
        draft=draft,
    )


def plan_id(report: EngineReport) -> str:
    assert report.draft is not None
    return report.draft.plan.plan_id()


@pytest.mark.parametrize("draft", [None, FROM_TARGET], ids=["absent", "from target"])
def test_draft_in_the_same_checkpoint_is_staged_in_the_same_pass(
    store: Store, target: Path, draft: Draft | None
) -> None:
    report = with_draft(report_of(target), target, names=(HEAD, "lm_head.weight"))
    counts: list[StageCount] = []
    index = stage(store, target, [report], draft, counts)
    found = store.index(index.digest, plan_id(report))
    assert found is not None
    assert [block.parameter for block in found.ranks[0].blocks] == ["lm_head.weight", HEAD]
    in_target = {block.parameter: block for block in index.ranks[0].blocks}
    assert all(in_target[block.parameter] == block for block in found.ranks[0].blocks)
    size = sum(file.stat().st_size for file in target.iterdir() if "index" not in file.name)
    assert counts[-1].bytes <= counts[-1].total < 1.5 * size, "the checkpoint is read once"


def test_tensors_of_the_draft_alone_are_not_unexpected(store: Store, target: Path) -> None:
    whole = report_of(target)
    checkpoints.add_tensor(target, "mtp.fc.weight")
    report = with_draft(whole, target, names=("mtp.fc.weight",))
    index = stage(store, target, [report])
    assert store.index(index.digest, plan_id(report)) is not None


def test_draft_that_is_not_in_the_checkpoint_is_left_alone(
    store: Store, target: Path, other: Path
) -> None:
    report = with_draft(report_of(target), other)
    index = stage(store, target, [report])
    assert store.staged(report.plan.plan_id()) == {index.digest}
    assert store.staged(plan_id(report)) == frozenset()


def test_draft_of_another_shape_is_not_taken_for_the_one_in_the_checkpoint(
    store: Store, target: Path
) -> None:
    report = with_draft(report_of(target), target, names=(HEAD,))
    assert report.draft is not None
    fact = replace(report.draft.tensors[0], shape=(16,))
    piece = replace(report.draft.plan.blocks[0].pieces[0], bytes=64)
    block = replace(report.draft.plan.blocks[0], bytes=64, pieces=(piece,))
    plan = replace(report.draft.plan, blocks=(block,))
    report = replace(report, draft=replace(report.draft, tensors=(fact,), plan=plan))
    assert engine_refusal([report], report.instance) is None
    stage(store, target, [report])
    assert store.staged(plan_id(report)) == frozenset()


def test_draft_that_is_said_to_be_in_the_checkpoint_and_is_not_is_refused(
    store: Store, target: Path, other: Path
) -> None:
    report = with_draft(report_of(target), other)
    with pytest.raises(WeightsError, match="draft loads fc") as caught:
        stage(store, target, [report], FROM_TARGET)
    assert caught.value.reason is Reason.TENSOR_MISSING
    assert visible(store) == []


def test_draft_of_its_own_checkpoint_is_staged_below_its_own_digest(
    store: Store, target: Path, other: Path
) -> None:
    report = with_draft(report_of(target), other, method="eagle3")
    counts: list[StageCount] = []
    index = stage(store, target, [report], own(other), counts)
    assert store.index(digest_of(other, threads=1), plan_id(report)) is not None
    assert store.index(index.digest, plan_id(report)) is None
    read = [count.bytes for count in counts]
    assert read == sorted(read), "progress never goes back"


def test_new_draft_for_a_target_that_is_staged_already_is_read_alone(
    store: Store, target: Path, other: Path
) -> None:
    report = with_draft(report_of(target), other, method="eagle3")
    digest = stage(store, target, [report]).digest
    checkpoints.truncate(target)  # would be noticed
    stage(store, target, [report], own(other), digest=digest)
    assert store.index(digest_of(other, threads=1), plan_id(report)) is not None


def test_target_is_not_visible_before_its_draft(store: Store, target: Path, other: Path) -> None:
    """Whoever finds the target's image must find the draft's: nobody looks for it later."""
    report = with_draft(report_of(target), other, method="eagle3")
    with pytest.raises(WeightsError, match=r"spec\.weights\.draft: .*has digest") as caught:
        stage(store, target, [report], own(other, "sha256:" + "0" * 64))
    assert caught.value.reason is Reason.DRAFT_DIGEST_MISMATCH
    assert caught.value.failure_class is FailureClass.WEIGHTS
    assert visible(store) == []


def test_draft_that_lies_nowhere_is_the_stores_fault(
    store: Store, target: Path, other: Path, tmp_path: Path
) -> None:
    report = with_draft(report_of(target), other, method="eagle3")
    gone = Draft.model_validate(
        {"uri": f"{tmp_path.as_uri()}/gone/", "digest": "sha256:" + "0" * 64}
    )
    with pytest.raises(WeightsError) as caught:
        stage(store, target, [report], gone)
    assert (caught.value.reason, caught.value.failure_class) == (
        Reason.SOURCE_NOT_FOUND,
        FailureClass.ENVIRONMENT,
    )


def test_named_draft_for_an_engine_without_one_is_refused(
    store: Store, target: Path, other: Path
) -> None:
    with pytest.raises(WeightsError, match="has no draft to load") as caught:
        stage(store, target, [report_of(target)], own(other))
    assert caught.value.reason is Reason.NO_DRAFT
    stage(store, target, [report_of(target)], FROM_TARGET)  # there is nothing to bring


def test_draft_with_a_nan_is_refused(store: Store, target: Path, tmp_path: Path) -> None:
    shapes = {"fc.weight": ("BF16", (32, 64))}
    bad = checkpoints.write_checkpoint(
        tmp_path / "bad", seed=2, tensors=shapes, files=1, nan_in="fc.weight"
    )
    report = with_draft(report_of(target), bad, method="eagle3")
    with pytest.raises(WeightsError) as caught:
        stage(store, target, [report], own(bad))
    assert caught.value.reason is Reason.NOT_FINITE


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("path", "LoadPathUnsupported"),
        ("offset", "LoadPlanUnsound"),
        ("tensors", "LoadPlanUnsound"),
    ],
)
def test_draft_that_cannot_be_loaded_soundly_makes_the_engine_incompatible(
    target: Path, change: str, reason: str
) -> None:
    report = with_draft(report_of(target), target, names=(HEAD, "lm_head.weight"))
    draft = report.draft
    assert draft is not None
    assert engine_refusal([report], report.instance) is None
    first, *rest = draft.plan.blocks
    spoilt = {
        "path": replace(draft, plan=replace(draft.plan, blocks=(replace(first, path="x"), *rest))),
        "offset": replace(
            draft, plan=replace(draft.plan, blocks=(replace(first, offset=7), *rest))
        ),
        "tensors": replace(draft, plan=replace(draft.plan, blocks=tuple(rest))),
    }
    refusal = engine_refusal([replace(report, draft=spoilt[change])], report.instance)
    assert refusal is not None
    assert (refusal.reason, "draft's" in refusal.message) == (reason, True)


def test_ranks_that_disagree_on_the_draft_are_refused(target: Path) -> None:
    first = replace(with_draft(report_of(target), target, names=(HEAD,)), world_size=2)
    second = replace(report_of(target), rank=1, world_size=2)
    refusal = engine_refusal([first, second], first.instance)
    assert refusal is not None
    assert refusal.reason == "ReportsDisagree"


def test_speculation_without_draft_weights_is_let_through(target: Path) -> None:
    report = replace(report_of(target), speculative="ngram")
    assert engine_refusal([report], report.instance) is None
