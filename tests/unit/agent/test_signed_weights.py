"""A real agent and a simulated engine: weights that must be signed reach no engine before they were found so."""

from pathlib import Path

import pytest

from onepod import OnePod, Refusal, one_pod
from signers import Signer
from weightrollout.api import names
from weightrollout.wire_draft import wire_signature

pytestmark = pytest.mark.slow


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.made(tmp_path / "signer")


def asked_for(pod: OnePod, name: str, signer: Signer) -> None:
    said = wire_signature(signer.by_key)
    assert said is not None
    pod.signatures[name] = said


async def untouched(pod: OnePod) -> None:
    engine = await pod.engine.state()
    assert "Pause" not in engine["calls"]
    assert (await pod.state()).ready


async def test_weights_of_a_stranger_pause_nothing_and_signed_ones_are_gone_back_to(
    tmp_path: Path, signer: Signer
) -> None:
    stranger = Signer.made(tmp_path / "stranger")
    async with one_pod(tmp_path) as pod:
        stranger.sign(pod.checkpoints["b"])
        asked_for(pod, "b", signer)
        await pod.hello()
        failed = await pod.stage("b")
        assert (failed.failure_class, failed.reason) == ("Weights", "SignatureUntrusted")
        await untouched(pod)

        signer.sign(pod.checkpoints["b"])
        assert (await pod.bring("b", "txn-b")).outcome == "Committed"
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights("b")
        assert list(state.signed) == [signer.by_key.proof(pod.digests["b"])]
        assert names.CAPABILITY_SIGNATURES in state.capabilities

        (pod.checkpoints["b"] / "model.sig").unlink()  # nobody needs it again
        assert not (await pod.stage("c", keep=(pod.digests["b"],))).reason
        await pod.reserve("c", "txn-c")
        assert (await pod.swap("c", "txn-c")).outcome == "Committed"
        assert (await pod.bring("b", "txn-b2")).outcome == "Committed"
        assert await pod.answers_with("b")


async def test_image_that_was_staged_unsigned_is_not_loaded_where_a_signature_is_asked_for(
    tmp_path: Path, signer: Signer
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        assert not (await pod.stage("b")).reason
        asked_for(pod, "b", signer)
        with pytest.raises(Refusal) as refused:
            await pod.reserve("b")
        assert refused.value.reason == "NotStaged"
        assert (await pod.stage("b")).reason == "SignatureMissing"
        await untouched(pod)


async def test_new_pod_without_an_operator_serves_no_stable_weights_of_a_stranger(
    tmp_path: Path, signer: Signer
) -> None:
    flags = ("--alone-after-seconds=0.2",)
    async with one_pod(tmp_path, agent_flags=flags) as pod:
        asked_for(pod, "b", signer)
        pod.publish("b")
        state = await pod.until(lambda it: it.staging.reason == "SignatureMissing")
        assert not state.ready
        signer.sign(pod.checkpoints["b"])
        await pod.until(lambda it: it.ready)
        assert await pod.answers_with("b")
