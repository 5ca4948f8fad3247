"""Answers of the plugin prove one cycle in one process, and nothing else."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from weightrollout.api.swap import FailureClass
from weightrollout.clock import SystemClock
from weightrollout.handover import files, records
from weightrollout.handover.records import (
    DRAFT,
    Block,
    BlockSum,
    DraftReport,
    EngineReport,
    ImageIndex,
    InitInfo,
    LoadPlan,
    Piece,
    Prepared,
    RankImage,
    Receipt,
    UpdateInfo,
)
from weightrollout.swap.backends.protocol import BackendError, Transfer
from weightrollout.swap.backends.shared_memory import SharedMemory, forget_others
from weightrollout.swap.records import Answer, Content
from weightrollout.weights.golden import Golden

V2 = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
TRANSFER = Transfer("cr/rev-2/pod/1", V2, "e-1")
PLAN = LoadPlan(0, 4096, (Block("w", 0, 8, "direct", (Piece("w", 0, 0, 8),)),))
REPORT = EngineReport(
    0, 1, "e-1", "n", "0.33.0", "0.1.0", "m", {}, "", False, "", "", None, 0, 1, (), PLAN
)
SUMS = (BlockSum("w", 8, 7),)
INDEX = ImageIndex(V2.digest, PLAN.plan_id(), (RankImage(0, 4096, SUMS),))
PREPARED = Prepared(TRANSFER.id, 0, "e-1", V2.digest, ok=True)
RECEIPT = Receipt(
    TRANSFER.id, 0, "e-1", V2.digest, PLAN.plan_id(), ("w",), SUMS, True, "direct", 1.0
)


class OneImage:
    def index(self, digest: str, plan_id: str) -> ImageIndex | None:
        return INDEX if (digest, plan_id) == (INDEX.digest, INDEX.plan_id) else None

    def golden(self, digest: str, plan_id: str) -> Golden | None:
        return None


def backend(folder: Path, *reports: EngineReport) -> SharedMemory:
    return SharedMemory(OneImage(), folder, reports or (REPORT,), SystemClock())


def write_prepared(folder: Path, record: Prepared) -> None:
    records.write(files.prepared(folder, TRANSFER.id, 0), record)


def write_receipt(folder: Path, record: Receipt) -> None:
    records.write(files.receipt(folder, TRANSFER.id, 0), record)


def test_plugin_is_told_where_the_image_lies(tmp_path: Path) -> None:
    info = records.loads(InitInfo, backend(tmp_path).init_info(TRANSFER))
    assert info == InitInfo(TRANSFER.id, V2.digest, files.region(V2.digest, PLAN.plan_id()))


DRAFT_PLAN = LoadPlan(0, 4096, (Block("fc", 0, 8, "direct", (Piece("fc", 0, 0, 8),)),))
DRAFT_DIGEST = "sha256:" + "d" * 64
DRAFTING = replace(REPORT, speculative="eagle3", draft=DraftReport("eagle3", "d", (), DRAFT_PLAN))
WITH_DRAFT = replace(TRANSFER, draft=DRAFT_DIGEST)
DRAFT_RECEIPT = replace(
    RECEIPT,
    digest=DRAFT_DIGEST,
    plan_id=DRAFT_PLAN.plan_id(),
    names=("fc",),
    blocks=(BlockSum("fc", 8, 9),),
    session=DRAFT,
)


class TwoImages(OneImage):
    def index(self, digest: str, plan_id: str) -> ImageIndex | None:
        if (digest, plan_id) != (DRAFT_DIGEST, DRAFT_PLAN.plan_id()):
            return super().index(digest, plan_id)
        return ImageIndex(digest, plan_id, (RankImage(0, 4096, (BlockSum("fc", 8, 9),)),))


def drafting(folder: Path) -> SharedMemory:
    return SharedMemory(TwoImages(), folder, (DRAFTING,), SystemClock())


def test_plugin_is_told_where_the_draft_lies_and_which_session_it_is(tmp_path: Path) -> None:
    info = records.loads(InitInfo, drafting(tmp_path).init_info(WITH_DRAFT))
    assert info.draft_digest == DRAFT_DIGEST
    assert info.draft_region == files.region(DRAFT_DIGEST, DRAFT_PLAN.plan_id())
    update = records.loads(UpdateInfo, drafting(tmp_path).update_info(WITH_DRAFT, session=DRAFT))
    assert update == UpdateInfo(TRANSFER.id, DRAFT_DIGEST, DRAFT)
    without = records.loads(InitInfo, drafting(tmp_path).init_info(TRANSFER))
    assert (without.draft_digest, without.draft_region) == ("", "")


def test_draft_without_an_image_is_refused_before_the_engine_is_asked(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="NotStaged"):
        drafting(tmp_path).init_info(replace(WITH_DRAFT, draft="sha256:" + "e" * 64))


def test_draft_is_proven_by_the_receipts_of_its_own_session(tmp_path: Path) -> None:
    draft_path = files.receipt(tmp_path, TRANSFER.id, 0, session=DRAFT)
    write_receipt(tmp_path, RECEIPT)
    with pytest.raises(BackendError, match="wrote no receipt"):
        drafting(tmp_path).prove(WITH_DRAFT, session=DRAFT)
    records.write(draft_path, replace(DRAFT_RECEIPT, session="target"))
    with pytest.raises(BackendError, match="of the target's session"):
        drafting(tmp_path).prove(WITH_DRAFT, session=DRAFT)
    records.write(draft_path, DRAFT_RECEIPT)
    drafting(tmp_path).prove(WITH_DRAFT, session=DRAFT)
    drafting(tmp_path).prove(WITH_DRAFT)


def test_weights_without_an_image_are_refused_before_the_engine_is_asked(tmp_path: Path) -> None:
    other = replace(TRANSFER, content=replace(V2, digest="sha256:" + "3" * 64))
    with pytest.raises(BackendError, match="NotStaged") as error:
        backend(tmp_path).init_info(other)
    assert error.value.answer is Answer.REFUSED
    with pytest.raises(BackendError, match="NotStaged"):
        SharedMemory(OneImage(), tmp_path, (), SystemClock()).init_info(TRANSFER)


async def test_prepared_is_seen_when_it_comes(tmp_path: Path) -> None:
    waiting = asyncio.create_task(backend(tmp_path).prepared(TRANSFER, deadline_s=10))
    await asyncio.sleep(0)
    assert not waiting.done()
    write_prepared(tmp_path, PREPARED)
    await waiting


async def test_prepared_of_another_process_is_not_taken(tmp_path: Path) -> None:
    write_prepared(tmp_path, replace(PREPARED, instance="e-0"))
    with pytest.raises(BackendError, match="PrepareTimedOut") as error:
        await backend(tmp_path).prepared(TRANSFER, deadline_s=0.02)
    assert error.value.answer is Answer.UNKNOWN


async def test_plugin_that_cannot_prepare_says_why(tmp_path: Path) -> None:
    refused = replace(PREPARED, ok=False, reason="ImageTruncated", message="rank0.image: 12 bytes")
    write_prepared(tmp_path, refused)
    with pytest.raises(BackendError, match=r"rank 0: ImageTruncated: rank0.image") as error:
        await backend(tmp_path).prepared(TRANSFER, deadline_s=10)
    assert error.value.failure.failure_class is FailureClass.POD


async def test_every_rank_must_be_prepared(tmp_path: Path) -> None:
    second = replace(REPORT, rank=1, plan=replace(PLAN, rank=1))
    write_prepared(tmp_path, PREPARED)
    with pytest.raises(BackendError, match="rank 1 was not prepared"):
        await backend(tmp_path, REPORT, second).prepared(TRANSFER, deadline_s=0.02)


def test_right_receipts_prove_the_weights(tmp_path: Path) -> None:
    write_receipt(tmp_path, RECEIPT)
    backend(tmp_path).prove(TRANSFER)


@pytest.mark.parametrize(
    "receipt",
    [
        replace(RECEIPT, instance="e-0"),
        replace(RECEIPT, txn="cr/rev-2/pod/0"),
        replace(RECEIPT, digest="sha256:" + "3" * 64),
        replace(RECEIPT, pointers_ok=False),
        replace(RECEIPT, blocks=(BlockSum("w", 8, 8),)),
        replace(RECEIPT, names=()),
    ],
)
def test_receipt_of_anything_else_proves_nothing(tmp_path: Path, receipt: Receipt) -> None:
    write_receipt(tmp_path, receipt)
    with pytest.raises(BackendError, match="ReceiptsDiffer") as error:
        backend(tmp_path).prove(TRANSFER)
    assert error.value.answer is Answer.WRONG


def test_receipt_of_the_first_cycle_does_not_prove_the_second(tmp_path: Path) -> None:
    write_receipt(tmp_path, RECEIPT)
    with pytest.raises(BackendError, match="wrote no receipt"):
        backend(tmp_path).prove(replace(TRANSFER, id=f"{TRANSFER.id}~2"))


def test_torn_answer_is_not_believed(tmp_path: Path) -> None:
    files.receipt(tmp_path, TRANSFER.id, 0).write_bytes(b'{"schema": 1')
    with pytest.raises(BackendError, match="HandoverUnreadable"):
        backend(tmp_path).prove(TRANSFER)


def test_answers_of_the_newest_transaction_are_kept_as_evidence(tmp_path: Path) -> None:
    write_receipt(tmp_path, RECEIPT)
    records.write(files.receipt(tmp_path, "cr/rev-1/pod/1", 0), RECEIPT)
    records.write(files.report(tmp_path, 0), REPORT)
    records.write(files.prepared(tmp_path, f"{TRANSFER.id}0", 0), RECEIPT)  # attempt 1 is not 10
    records.write(files.receipt(tmp_path, f"{TRANSFER.id}0", 0, session=DRAFT), RECEIPT)
    second = files.receipt(tmp_path, f"{TRANSFER.id}~2", 0, session=DRAFT)
    records.write(second, RECEIPT)  # its second cycle
    forget_others(tmp_path, TRANSFER.id)
    assert {path.name for path in tmp_path.iterdir()} == {
        second.name,
        files.receipt(tmp_path, TRANSFER.id, 0).name,
        files.report(tmp_path, 0).name,
    }
