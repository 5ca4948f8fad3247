"""The second session: what an engine with a speculative draft accepts, refuses, and tells of it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from acceptance import acceptance
from contract.oracle import ComputedOracle
from contract.subjects import Can, Pair, needs
from contract.under_test import CALL_S, EngineUnderTest, simulated
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.handover import files, proof, records
from weightrollout.handover.records import (
    DRAFT,
    ImageIndex,
    InitInfo,
    LoadPlan,
    Receipt,
    UpdateInfo,
)

PROMPT = "tell me a story"


@pytest.fixture(scope="module")
def mtp_pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Two checkpoints with an MTP head in each."""
    folder, shapes = tmp_path_factory.mktemp("mtp"), checkpoints.mtp_shapes()
    a = checkpoints.write_checkpoint(folder / "a", seed=1, tensors=shapes)
    b = checkpoints.write_checkpoint(folder / "b", seed=2, tensors=shapes)
    return Pair(a, b, ComputedOracle({"a": a, "b": b}))


@pytest.fixture
async def drafting(tmp_path: Path, mtp_pair: Pair) -> AsyncIterator[EngineUnderTest]:
    async with simulated(tmp_path, mtp_pair.a, speculative="mtp") as engine:
        yield engine


def draft_plans(engine: EngineUnderTest) -> list[LoadPlan]:
    return [report.draft.plan for report in engine.reports() if report.draft is not None]


def staged(engine: EngineUnderTest, checkpoint: Path) -> InitInfo:
    """Both images of one checkpoint."""
    return engine.staged(checkpoint, draft=checkpoint)


async def bring_target(engine: EngineUnderTest, info: InitInfo) -> None:
    await engine.pause()
    prepared = await engine.prepare(info)
    assert prepared.ok, prepared.message
    await engine.control.start_update(deadline_s=CALL_S)
    await engine.update(info)
    await engine.control.finish_update("b", deadline_s=CALL_S)


async def update_draft(engine: EngineUnderTest, info: InitInfo) -> None:
    payload = records.dumps(UpdateInfo(info.txn, info.draft_digest, DRAFT))
    await engine.control.update(payload, deadline_s=CALL_S)


async def bring_draft(engine: EngineUnderTest, info: InitInfo) -> None:
    await engine.control.start_draft_update(deadline_s=CALL_S)
    await update_draft(engine, info)
    await engine.control.finish_update(None, deadline_s=CALL_S)


async def test_report_tells_the_draft_and_its_own_plan(drafting: EngineUnderTest) -> None:
    [report] = drafting.reports()
    draft = report.draft
    assert draft is not None
    assert (report.speculative, draft.method, draft.model) == ("mtp", "mtp", report.model)
    names = {fact.name for fact in draft.tensors}
    assert names == draft.plan.consumed()
    assert "model.embed_tokens.weight" in names & report.plan.consumed()


@needs(Can.SPEAK_GRPC)
async def test_engine_without_a_draft_refuses_the_session(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineRefused, match="configured speculative draft model"):
        await engine.control.start_draft_update(deadline_s=CALL_S)


@needs(Can.WRITE_FILES)
async def test_engine_without_a_draft_reports_none(engine: EngineUnderTest) -> None:
    assert engine.reports()[0].draft is None


async def test_stale_draft_costs_speed_and_never_an_answer(
    drafting: EngineUnderTest, mtp_pair: Pair, tmp_path: Path
) -> None:
    url = drafting.process.http_url
    assert await acceptance(url) == 1.0
    info = staged(drafting, mtp_pair.b)
    await bring_target(drafting, info)
    await drafting.resume()
    assert await acceptance(url) == 0.0
    stale = await drafting.complete(PROMPT)
    await drafting.pause()
    await bring_draft(drafting, info)
    await drafting.resume()
    assert await acceptance(url) == 1.0
    async with simulated(tmp_path / "fresh", mtp_pair.b, speculative="mtp") as fresh:
        assert stale == await drafting.complete(PROMPT) == await fresh.complete(PROMPT)


async def test_finish_of_the_draft_keeps_the_label_of_the_target(
    drafting: EngineUnderTest, mtp_pair: Pair
) -> None:
    info = staged(drafting, mtp_pair.b)
    await bring_target(drafting, info)
    await bring_draft(drafting, info)
    assert await drafting.control.version(deadline_s=CALL_S) == "b"


async def test_receipts_of_the_draft_prove_its_image(
    drafting: EngineUnderTest, mtp_pair: Pair
) -> None:
    info = staged(drafting, mtp_pair.b)
    await bring_target(drafting, info)
    await bring_draft(drafting, info)
    path = files.receipt(drafting.handover, info.txn, 0, session=DRAFT)
    receipt = records.read(Receipt, path)
    index = records.read(ImageIndex, drafting.staging / info.draft_region / files.INDEX)
    assert receipt is not None
    assert index is not None
    wanted = {"txn": info.txn, "instance": receipt.instance, "session": DRAFT}
    assert proof.disproof([receipt], index, draft_plans(drafting), **wanted) is None


@pytest.mark.parametrize("first", ["target", "draft"])
@pytest.mark.parametrize("second", ["target", "draft"])
async def test_one_session_at_a_time(
    drafting: EngineUnderTest, mtp_pair: Pair, first: str, second: str
) -> None:
    assert (await drafting.prepare(staged(drafting, mtp_pair.b))).ok
    start = {
        "target": drafting.control.start_update,
        "draft": drafting.control.start_draft_update,
    }
    await start[first](deadline_s=CALL_S)
    with pytest.raises(EngineStateUnknown, match="already active"):
        await start[second](deadline_s=CALL_S)


async def test_update_of_the_draft_in_a_session_of_the_target_is_internal(
    drafting: EngineUnderTest, mtp_pair: Pair
) -> None:
    info = staged(drafting, mtp_pair.b)
    await drafting.pause()
    assert (await drafting.prepare(info)).ok
    await drafting.control.start_update(deadline_s=CALL_S)
    with pytest.raises(EngineStateUnknown, match="session of the target"):
        await update_draft(drafting, info)


async def test_failed_update_of_the_draft_closes_its_session_and_hurts_nobody(
    drafting: EngineUnderTest, mtp_pair: Pair
) -> None:
    info = staged(drafting, mtp_pair.b)
    await bring_target(drafting, info)
    await drafting.control.start_draft_update(deadline_s=CALL_S)
    with pytest.raises(EngineStateUnknown, match="Internal"):
        await update_draft(drafting, replace(info, txn="never prepared"))
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await drafting.control.finish_update(None, deadline_s=CALL_S)
    await drafting.resume()
    assert await drafting.complete(PROMPT)


async def test_prepared_covers_the_drafts_image(drafting: EngineUnderTest, mtp_pair: Pair) -> None:
    info = staged(drafting, mtp_pair.b)
    lost = replace(info, draft_region="images/0/0")
    prepared = await drafting.prepare(lost)
    assert (prepared.ok, prepared.reason) == (False, "ImageMissing")


async def test_draft_model_has_a_checkpoint_of_its_own(tmp_path: Path, pair: Pair) -> None:
    own = checkpoints.write_draft(tmp_path / "own", of=pair.a, seed=7)
    folder = tmp_path / "engine"
    async with simulated(folder, pair.a, speculative="eagle3", draft=own) as engine:
        [report] = engine.reports()
        assert report.draft is not None
        assert report.draft.model == str(own)
        assert await acceptance(engine.process.http_url) == 1.0


async def test_lookup_without_a_draft_model_is_told_and_has_nothing_to_load(
    tmp_path: Path, pair: Pair
) -> None:
    async with simulated(tmp_path, pair.a, speculative="ngram") as engine:
        [report] = engine.reports()
        assert (report.speculative, report.draft) == ("ngram", None)
        with pytest.raises(EngineRefused, match="speculative draft model"):
            await engine.control.start_draft_update(deadline_s=CALL_S)
