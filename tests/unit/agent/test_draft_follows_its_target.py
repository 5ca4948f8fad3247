"""A real agent and a simulated engine that speculates: the draft is that of the weights served.

Acceptance is what shows it: the engine accepts speculated tokens only where target and draft come
from the same checkpoint. Whatever goes wrong with a draft, answers are right and the pod serves.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from acceptance import acceptance
from checkpoints import mtp_fingerprint, mtp_shapes
from misbehaving import fault
from onepod import OnePod, Refusal, one_pod
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = pytest.mark.slow

MTP: dict[str, Any] = {"tensors": mtp_shapes(), "speculative": "mtp"}
FROM_TARGET = pb.Draft(from_target=True)


async def degraded(pod: OnePod) -> str:
    return str((await pod.state()).degraded_reason)


async def is_served_with_its_draft(pod: OnePod, name: str) -> None:
    state = await pod.until(lambda it: it.ready)
    assert state.serving == pod.weights(name)
    assert state.degraded_reason == ""
    assert await pod.answers_with(name)
    assert await acceptance(pod.engine.http_url) == 1.0
    assert (await pod.engine.state())["session"] == ""


@pytest.mark.parametrize("draft", [None, FROM_TARGET], ids=["nothing said", "from target"])
async def test_mtp_head_of_the_new_weights_is_loaded_with_them(
    tmp_path: Path, draft: pb.Draft | None
) -> None:
    async with one_pod(tmp_path, **MTP) as pod:
        if draft is not None:
            pod.drafts["b"] = draft
        await pod.hello()
        assert await acceptance(pod.engine.http_url) == 1.0
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        await is_served_with_its_draft(pod, "b")
        engine = await pod.engine.state()
        assert engine["draftFingerprint"] == mtp_fingerprint(pod.checkpoints["b"])
        assert engine["calls"]["StartDraftWeightUpdate"] == 1
        assert engine["version"] == "v-b"


async def test_mtp_head_is_sharded_as_its_target_is(tmp_path: Path) -> None:
    async with one_pod(tmp_path, ranks=2, **MTP) as pod:
        await pod.hello()
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        await is_served_with_its_draft(pod, "b")


async def test_draft_model_of_its_own_checkpoint_is_loaded_where_it_is_named(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path, own_drafts=True) as pod:
        pod.drafts["b"] = pod.own_draft("b")
        await pod.hello()
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        await is_served_with_its_draft(pod, "b")


async def test_draft_model_that_nobody_named_is_left_alone_and_called_stale(tmp_path: Path) -> None:
    async with one_pod(tmp_path, own_drafts=True) as pod:
        await pod.hello()
        ended = await pod.bring("b", "txn-b")
        assert (ended.outcome, ended.reason) == ("Committed", "")
        state = await pod.until(lambda it: it.ready)
        assert state.degraded_reason == "DraftStale"
        assert "spec.weights.draft" in state.degraded_message
        assert await pod.answers_with("b")
        assert await acceptance(pod.engine.http_url) == 0.0
        assert "StartDraftWeightUpdate" not in (await pod.engine.state())["calls"]
        assert 'class="Pod",outcome="Committed",reason="DraftStale"' in await pod.metrics()


async def test_engine_without_a_draft_is_asked_for_nothing_more(tmp_path: Path) -> None:
    async with one_pod(tmp_path, speculative="ngram") as pod:
        await pod.hello()
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        calls = (await pod.engine.state())["calls"]
        assert "StartDraftWeightUpdate" not in calls
        assert (calls["UpdateWeights"], calls["FinishWeightUpdate"]) == (1, 1)
        assert await degraded(pod) == ""


FAULTS = {
    "start is refused": fault("StartDraftWeightUpdate", "refuse"),
    "start is executed and the answer lost": fault("StartDraftWeightUpdate", "error_after"),
    "start did nothing": fault("StartDraftWeightUpdate", "ok_nothing"),
    "update stops halfway": fault("UpdateWeights/draft", "error"),
    "update did nothing": fault("UpdateWeights/draft", "ok_nothing"),
    "a receipt lies": fault("UpdateWeights/draft", "lie_receipt"),
    "a receipt is torn": fault("UpdateWeights/draft", "receipt_torn"),
    "a receipt is of another process": fault("UpdateWeights/draft", "receipt_of_other_instance"),
    "a receipt is missing": fault("UpdateWeights/draft", "receipt_of_rank_missing"),
    "finish is refused": fault("FinishWeightUpdate/draft", "refuse", at=1),
    "finish is executed and the answer lost": fault("FinishWeightUpdate/draft", "error_after"),
    "finish resumes the engine": fault("FinishWeightUpdate/draft", "resumes", at=1),
}


async def test_failed_draft_costs_neither_the_weights_nor_the_pod(tmp_path: Path) -> None:
    """One engine for all: what one failed draft left behind must not spoil the next swap."""
    async with one_pod(tmp_path, **MTP) as pod:
        await pod.hello()
        names = ("b", "c")
        for number, (what, trouble) in enumerate(FAULTS.items()):
            name = names[number % 2]
            await pod.engine.set_faults(trouble)
            ended = await pod.bring(name, f"txn-{number}")
            assert (ended.outcome, ended.reason) == ("Committed", ""), (what, ended)
            state = await pod.until(lambda it: it.ready)
            assert state.serving == pod.weights(name), what
            expected = "" if what == "finish resumes the engine" else "DraftFailed"
            assert state.degraded_reason == expected, (what, state.degraded_message)
            assert await pod.answers_with(name), what
            await pod.engine.set_faults()
        assert (await pod.bring("c" if names[number % 2] == "b" else "b", "last")).reason == ""
        assert await degraded(pod) == ""
        assert await acceptance(pod.engine.http_url) == 1.0
        assert (await pod.engine.state())["unguardedUpdates"] == 0


async def test_engine_that_dies_in_the_drafts_session_is_swapped_again(tmp_path: Path) -> None:
    async with one_pod(tmp_path, **MTP) as pod:
        await pod.hello()
        await pod.engine.set_faults(fault("UpdateWeights/draft", "die_midway"))
        await pod.stage("b")
        await pod.reserve("b", "txn-1")
        request = pod.swap("b", "txn-1", deadline_s=8.0)
        ended = await _restarted_under(pod, request)
        assert ended.outcome == "Restarted"
        assert (await pod.bring("b", "txn-2")).outcome == "Committed"
        await is_served_with_its_draft(pod, "b")


async def _restarted_under(pod: OnePod, swap: Any) -> pb.Transaction:
    running = asyncio.create_task(swap)
    await pod.engine.exit_code()
    await pod.engine.restart()
    ended: pb.Transaction = await running
    return ended


async def test_weights_that_fail_their_prompts_are_undone_with_their_draft(tmp_path: Path) -> None:
    async with one_pod(tmp_path, **MTP) as pod:
        await pod.hello()
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        ended = await pod.bring("wrong", "txn-wrong")
        assert (ended.outcome, ended.reason) == ("Undone", "VerifyFailed")
        await is_served_with_its_draft(pod, "b")


async def test_new_draft_for_weights_that_are_staged_is_asked_for(tmp_path: Path) -> None:
    async with one_pod(tmp_path, own_drafts=True) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        pod.drafts["b"] = pod.own_draft("b")
        with pytest.raises(Refusal, match="no image for this engine's draft"):
            await pod.reserve("b", "txn-2")
        assert (await pod.bring("b", "txn-2")).outcome == "Committed"
        await is_served_with_its_draft(pod, "b")


async def test_draft_outlives_an_agent_that_is_restarted(tmp_path: Path) -> None:
    async with one_pod(tmp_path, killable=True, own_drafts=True) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.agent.end()
        await pod.agent.start()
        state = await pod.until(lambda it: it.ready)
        assert (state.serving, state.degraded_reason) == (pod.weights("b"), "DraftStale")


async def test_agent_alone_brings_a_new_engine_its_draft_too(tmp_path: Path) -> None:
    flags = ("--alone-after-seconds=0.2",)
    async with one_pod(tmp_path, agent_flags=flags, own_drafts=True) as pod:
        pod.drafts["b"] = pod.own_draft("b")
        pod.publish("b")
        await pod.agent.end()
        await pod.agent.start()
        await is_served_with_its_draft(pod, "b")
