"""The answers of a real (simulated) engine with new weights: expected, or the last good ones return."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from checkpoints import fingerprint
from onepod import OnePod, Refusal, one_pod
from simulator import answers, tokens
from weightrollout.wire.agent import agent_pb2 as pb

PROMPT = "tell me a story"


def ids(pod: OnePod, name: str, count: int) -> list[int]:
    return tokens.ids(fingerprint(pod.checkpoints[name]), PROMPT, count)


def golden(pod: OnePod, name: str, like: str, **changes: Any) -> None:
    """Give checkpoint `name` a golden.json of what weights `like` answer."""
    known = tokens.golden(fingerprint(pod.checkpoints[like]), PROMPT, 5) | changes
    text = json.dumps({"schema": 1, "prompts": [known]})
    (pod.checkpoints[name] / "golden.json").write_text(text)


async def swapped(pod: OnePod, name: str, txn: str, *prompts: pb.Prompt) -> pb.Transaction:
    progress = await pod.stage(name)
    assert not progress.reason, progress
    await pod.reserve(name, txn)
    return await pod.swap(name, txn, prompts=prompts)


async def test_pattern_and_token_ids_are_checked_against_what_the_engine_says(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        word = answers.token(fingerprint(pod.checkpoints["b"]), PROMPT, 0)
        end = await swapped(
            pod,
            "b",
            "txn-1",
            pb.Prompt(prompt=PROMPT, max_tokens=3, regex=f"^{word} [a-z]+"),
            pb.Prompt(prompt=PROMPT, max_tokens=5, token_ids=ids(pod, "b", 3)),
        )
        assert end.outcome == "Committed", end
        wrong = pb.Prompt(prompt=PROMPT, max_tokens=5, token_ids=ids(pod, "b", 3))
        end = await swapped(pod, "c", "txn-2", wrong)
        assert (end.outcome, end.failure_class, end.reason) == ("Undone", "Weights", "VerifyFailed")
        assert repr(PROMPT) in end.message
        assert str(ids(pod, "b", 3)) in end.message
        assert str(ids(pod, "c", 3)) in end.message
        assert await pod.answers_with("b")
        end = await swapped(pod, "c", "txn-3", pb.Prompt(prompt="2+2=", max_tokens=3, regex="^5"))
        assert "that matches '^5', got '4" in end.message


@pytest.mark.parametrize(
    "prompt",
    [
        pb.Prompt(prompt="a", max_tokens=1),
        pb.Prompt(prompt="a", max_tokens=1, contains="x", regex="x"),
        pb.Prompt(prompt="a", max_tokens=1, regex="(?=x)"),
        pb.Prompt(prompt="a", max_tokens=1, token_ids=[1, 2]),
        pb.Prompt(prompt="a", max_tokens=1, token_ids=[-1]),
    ],
)
async def test_expectation_that_cannot_be_checked_is_refused_before_anything_happens(
    tmp_path: Path, prompt: pb.Prompt
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b")
        with pytest.raises(Refusal, match="BadRequest: prompts: "):
            await pod.swap("b", prompts=[prompt])
        assert (await pod.engine.state())["calls"].get("PauseGeneration", 0) == 0


async def test_weights_that_answer_as_their_golden_says_are_committed(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        golden(pod, "b", like="b")
        await pod.hello()
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"
        assert await pod.answers_with("b")


async def test_weights_that_answer_other_than_their_golden_says_never_stay(tmp_path: Path) -> None:
    """Loaded as staged, and yet not what was trained: the engine computes something else with them."""
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        golden(pod, "c", like="b")
        end = await pod.bring("c", "txn-2")
        assert (end.outcome, end.failure_class, end.reason) == ("Undone", "Weights", "VerifyFailed")
        expected, got = ids(pod, "b", 1)[0], ids(pod, "c", 1)[0]
        assert f"golden.json prompt 0 {PROMPT!r}: token 0: expected id {expected}" in end.message
        assert f"got {got}" in end.message
        assert await pod.answers_with("b")
        assert await pod.readyz() == (200, "")


async def test_same_tokens_with_other_probabilities_are_a_mismatch_with_the_numbers(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        tops = tokens.golden(fingerprint(pod.checkpoints["b"]), PROMPT, 5)["topLogprobs"]
        least = min(tops[3], key=lambda each: tops[3][each])
        said = tops[3][least]
        tops[3][least] = said - 0.5
        golden(pod, "b", like="b", topLogprobs=tops)
        await pod.hello()
        await pod.bring("c", "txn-1")
        end = await pod.bring("b", "txn-2")
        assert (end.outcome, end.reason) == ("Undone", "VerifyFailed")
        assert f"token 3: logprob of id {least}: expected {said - 0.5:.4f}, got" in end.message
        assert end.message.endswith("tolerance 0.01")


async def test_golden_is_asked_from_the_image_when_the_source_is_gone(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        golden(pod, "c", like="b")
        await pod.stage("c")
        for path in pod.checkpoints["c"].glob("*.json"):
            path.unlink()
        await pod.reserve("c", "txn-2")
        assert (await pod.swap("c", "txn-2")).reason == "VerifyFailed"


async def test_volume_that_fails_after_the_pause_does_not_undo_good_weights(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        golden(pod, "b", like="b")
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b")
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "slow", "seconds": 1.0})
        swap = asyncio.create_task(pod.swap("b"))
        await pod.until(lambda state: state.transaction.phase == "Transferring")
        (kept,) = pod.staging.glob("images/*/*/golden.json")
        kept.unlink()
        assert (await swap).outcome == "Committed"


async def test_broken_golden_is_refused_while_the_engine_serves(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        golden(pod, "b", like="b", tokenIds=[])
        progress = await pod.stage("b")
        assert (progress.reason, progress.failure_class) == ("GoldenMalformed", "Weights")
        assert "prompts[0].tokenIds" in progress.message
        assert (await pod.engine.state())["calls"].get("InitWeightTransferEngine", 0) == 0


async def test_image_is_not_offered_any_more_when_the_engine_comes_back_with_another_tokenizer(
    tmp_path: Path,
) -> None:
    """Same layout, so the image would fit; what it answers would be read with other tokens."""
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.until(lambda state: pod.digests["b"] in state.staged)
        (pod.checkpoints["a"] / "tokenizer.json").write_text('{"version": "2.0"}')
        await pod.restart_engine()
        await pod.engine.exit_code()
        await pod.engine.restart()
        await pod.until(lambda state: pod.digests["b"] not in state.staged)
        progress = await pod.stage("b")
        assert progress.reason == "RestartRequired"
        assert "tokenizer.json differs" in progress.message


async def test_other_sampling_is_refused_by_field_and_swapped_in_under_ignore(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        file = pod.checkpoints["b"] / "generation_config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"temperature": 1.5}))
        progress = await pod.stage("b")
        assert (progress.reason, progress.failure_class) == ("MetadataDiffers", "Weights")
        assert "temperature is 1.5 here, 0.6 in the engine" in progress.message
        weights = pod.weights("b")
        weights.metadata = pb.METADATA_IGNORE
        request = pb.StageRequest(fence=pod.fence(), weights=weights, keep_last_good=True)
        *_, last = [each async for each in pod.stub.Stage(request, timeout=30)]
        assert not last.reason
        pod.digests["b"] = last.digest
        with pytest.raises(Refusal, match=r"MetadataDiffers: .*temperature is 1\.5"):
            await pod.reserve("b")
        weights.digest = last.digest
        reserve = pb.ReserveRequest(
            fence=pod.fence(), txn="t", take_out=pb.TAKE_OUT_NONE, ttl_seconds=30, weights=weights
        )
        await pod.stub.Reserve(reserve, timeout=30)
        swap = pod.swap_request("b", "t")
        swap.weights.CopyFrom(weights)
        *_, ended = [each async for each in pod.stub.Swap(swap, timeout=30)]
        assert ended.transaction.outcome == "Committed"
        state = await pod.state()
        assert state.serving == weights
