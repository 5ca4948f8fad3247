"""Bad input is refused with a class and a reason, and nothing of it stays in the volume."""

import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of
from stagings import stage, visible
from weightrollout.api.spec import Metadata
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import EngineReport
from weightrollout.weights.build import Build
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.journal import Journal
from weightrollout.weights.sources.file import Folder
from weightrollout.weights.staging import Store

NORM = "model.norm.weight"
WEIGHTS, ENVIRONMENT = FailureClass.WEIGHTS, FailureClass.ENVIRONMENT


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def _replace_by_a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x")


def _link_out(folder: Path) -> None:
    file = sorted(folder.glob("*.safetensors"))[0]
    shutil.move(file, folder.parent / "outside")
    file.symlink_to(folder.parent / "outside")


@pytest.mark.parametrize(
    ("harm", "reason", "failure_class"),
    [
        (shutil.rmtree, Reason.SOURCE_NOT_FOUND, ENVIRONMENT),
        (_replace_by_a_file, Reason.SOURCE_NOT_FOUND, ENVIRONMENT),
        (_empty, Reason.SOURCE_EMPTY, ENVIRONMENT),
        (checkpoints.truncate, Reason.CHECKPOINT_MALFORMED, WEIGHTS),
        (_link_out, Reason.CHECKPOINT_MALFORMED, WEIGHTS),
        (lambda folder: checkpoints.drop_tensor(folder, NORM), Reason.TENSOR_MISSING, WEIGHTS),
        (lambda folder: checkpoints.add_tensor(folder, "x"), Reason.TENSOR_UNEXPECTED, WEIGHTS),
        (
            lambda folder: checkpoints.reshape_tensor(folder, NORM, (4, 8)),
            Reason.SHAPE_MISMATCH,
            WEIGHTS,
        ),
        (
            lambda folder: (folder / "config.json").write_text("{}"),
            Reason.RESTART_REQUIRED,
            WEIGHTS,
        ),
    ],
)
def test_broken_source_is_refused_and_leaves_nothing(
    store: Store,
    folder: Path,
    harm: Callable[[Path], object],
    reason: Reason,
    failure_class: FailureClass,
) -> None:
    report = report_of(folder)
    harm(folder)
    error = _refusal(store, folder, report)
    assert (error.reason, error.failure_class) == (reason, failure_class)
    assert visible(store) == []


def _refusal(
    store: Store, folder: Path, report: EngineReport, *, digest: str | None = None
) -> WeightsError:
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, [report], digest=digest)
    return caught.value


def test_every_reason_has_a_class() -> None:
    classes = {reason: WeightsError(reason, "").failure_class for reason in Reason}
    assert set(classes.values()) == {WEIGHTS, ENVIRONMENT}


def test_path_that_cannot_be_read_is_the_environments_fault(store: Store, folder: Path) -> None:
    report = report_of(folder)
    error = _refusal(store, folder / ("x" * 300), report)
    assert (error.reason, error.failure_class) == (Reason.SOURCE_UNREADABLE, ENVIRONMENT)


def test_other_digest_is_refused_with_both_digests(store: Store, folder: Path) -> None:
    wrong = "sha256:" + "0" * 64
    error = _refusal(store, folder, report_of(folder), digest=wrong)
    assert (error.reason, error.failure_class) == (Reason.DIGEST_MISMATCH, WEIGHTS)
    assert wrong in error.message
    assert error.message.count("sha256:") == 2
    assert visible(store) == []


@pytest.mark.parametrize(
    "digest", ["", "sha256:../../etc", "sha256:" + "A" * 64, "sha512:" + "0" * 64]
)
def test_text_that_is_no_digest_is_refused_before_reading(
    store: Store, folder: Path, digest: str
) -> None:
    assert "is no digest" in _refusal(store, folder, report_of(folder), digest=digest).message


@pytest.mark.parametrize("name", ["model.norm.weight", "model.layers.1.mlp.up_proj.weight"])
def test_nan_is_refused_with_its_tensor_and_index(store: Store, tmp_path: Path, name: str) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "nan", seed=1, nan_in=name)
    error = _refusal(store, folder, report_of(folder))
    assert (error.reason, error.failure_class) == (Reason.NOT_FINITE, WEIGHTS)
    middle = {"model.norm.weight": "[16]", "model.layers.1.mlp.up_proj.weight": "[32, 0]"}[name]
    assert f"tensor {name} has a NaN or an infinity at index {middle}" in error.message
    assert visible(store) == []


def test_nan_beyond_the_first_chunks_is_found(store: Store, tmp_path: Path) -> None:
    shapes = {"b": ("U8", (3,)), "w": ("F32", (1000, 1000))}
    folder = checkpoints.write_checkpoint(
        tmp_path / "nan", seed=1, tensors=shapes, files=1, nan_in="w"
    )
    assert "tensor w has a NaN or an infinity at index [500, 0]" in str(
        _refusal(store, folder, report_of(folder))
    )


def test_broken_copy_is_told_by_its_digest_not_by_its_nan(store: Store, tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "nan", seed=1, nan_in=NORM)
    error = _refusal(store, folder, report_of(folder), digest="sha256:" + "0" * 64)
    assert error.reason is Reason.DIGEST_MISMATCH


def test_tied_head_that_differs_is_refused(store: Store, folder: Path) -> None:
    report = report_of(folder, aliases={"model.embed_tokens.weight": ("lm_head.weight",)})
    error = _refusal(store, folder, report)
    assert (error.reason, error.failure_class) == (Reason.TIED_HEAD_DIFFERS, WEIGHTS)
    assert visible(store) == []


def test_tied_head_that_is_equal_is_let_through(store: Store, folder: Path) -> None:
    tensors = checkpoints.stored(folder)
    head, embedding = tensors["lm_head.weight"], tensors["model.embed_tokens.weight"]
    with head.file.open("r+b") as file:
        file.seek(head.offset)
        file.write(embedding.data())
    report = report_of(folder, aliases={embedding.name: (head.name,)})
    assert stage(store, folder, [report]).digest


def test_image_larger_than_the_volume_is_refused_with_numbers(store: Store, folder: Path) -> None:
    report = report_of(folder)
    report = replace(report, plan=replace(report.plan, image_bytes=1 << 60))
    error = _refusal(store, folder, report)
    assert (error.reason, error.failure_class) == (Reason.STAGING_SPACE_TOO_SMALL, ENVIRONMENT)
    assert f"{1 << 60} bytes are needed" in error.message
    assert str(store.root) in error.message
    assert visible(store) == []


@contextmanager
def _files_of_at_most(size: int) -> Iterator[None]:
    """The kernel refuses longer ones, as a full volume does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_space_that_cannot_be_reserved_is_refused_before_a_byte_is_read(
    store: Store, folder: Path
) -> None:
    report = report_of(folder)
    with _files_of_at_most(4096), pytest.raises(WeightsError) as caught:
        store.stage(
            folder.as_uri(),
            digest=None,
            reports=[report],
            progress=lambda _: pytest.fail("read before the space was reserved"),
            cancelled=lambda: False,
        )
    assert caught.value.reason is Reason.STAGING_SPACE_TOO_SMALL
    assert visible(store) == []


def test_staging_volume_that_is_gone_is_named(store: Store, folder: Path) -> None:
    shutil.rmtree(store.root)
    error = _refusal(store, folder, report_of(folder))
    assert (error.reason, error.failure_class) == (Reason.STAGING_UNWRITABLE, ENVIRONMENT)


def _append(folder: Path) -> None:
    with (folder / "tokenizer.json").open("a") as file:
        file.write(" ")


def _swap_a_file(folder: Path) -> None:
    file = sorted(folder.glob("*.safetensors"))[0]
    shutil.copy2(file, folder / "copy")
    (folder / "copy").replace(file)


@pytest.mark.parametrize(
    "change",
    [
        _append,
        _swap_a_file,
        lambda folder: (folder / "merges.txt").write_text("x"),
        lambda folder: (folder / "generation_config.json").unlink(),
    ],
    ids=["written", "replaced", "added", "removed"],
)
def test_source_that_changes_while_it_is_read_is_not_staged(
    store: Store, folder: Path, change: Callable[[Path], None]
) -> None:
    with pytest.raises(WeightsError) as caught:
        store.stage(
            folder.as_uri(),
            digest=None,
            reports=[report_of(folder)],
            progress=lambda _: change(folder),
            cancelled=lambda: False,
        )
    assert (caught.value.reason, caught.value.failure_class) == (
        Reason.SOURCE_CHANGED,
        ENVIRONMENT,
    )
    assert visible(store) == []


def test_file_that_is_cut_after_its_header_was_read_is_a_changed_source(
    tmp_path: Path, folder: Path
) -> None:
    build = Build.of(Folder(folder), [report_of(folder)], Metadata.REQUIRE)
    checkpoints.truncate(folder)
    images = tmp_path / "images"
    images.mkdir()
    with pytest.raises(WeightsError, match="changed while it was read") as caught:
        build.run(
            [images],
            want=None,
            threads=2,
            progress=lambda _: None,
            cancelled=lambda: False,
            journal=Journal(None),
        )
    assert caught.value.reason is Reason.SOURCE_CHANGED
