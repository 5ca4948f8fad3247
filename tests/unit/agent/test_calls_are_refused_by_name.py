"""Who may do what, and when: refusals over the wire, with reasons that an operator can match."""

from pathlib import Path
from typing import Any

import pytest

from onepod import Refusal, one_pod

pytestmark = pytest.mark.slow


async def test_only_the_newest_leader_of_one_owner_is_obeyed(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        with pytest.raises(Refusal, match="NoOwner"):
            await pod.release()
        pod.epoch = 3
        await pod.hello()
        pod.epoch = 2
        with pytest.raises(Refusal, match="StaleEpoch") as stale:
            await pod.hello()
        assert stale.value.epoch == 3
        with pytest.raises(Refusal, match="StaleEpoch"):
            await pod.stage("b")
        pod.epoch = 4
        await pod.release()  # a mutating call raises the epoch as well
        assert (await pod.state()).fence.epoch == 4
        with pytest.raises(Refusal, match="ForeignOwner"):
            await pod.hello(owner="other-uid")


async def test_new_owner_must_wait_until_a_reservation_is_settled(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1")
        with pytest.raises(Refusal, match="ForeignOwner"):
            await pod.hello(owner="other-uid", takeover=True)
        await pod.release("txn-1")
        state = await pod.hello(owner="other-uid", takeover=True)
        assert state.fence.owner_uid == "other-uid"


async def test_engine_is_promised_to_one_transaction_at_a_time(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        pod.digests["b"] = "sha256:" + "0" * 64
        with pytest.raises(Refusal, match="NotStaged"):
            await pod.reserve("b", "txn-1")
        del pod.digests["b"]
        await pod.stage("b")
        with pytest.raises(Refusal, match="NotReserved"):
            await pod.swap("b", "txn-1")
        await pod.reserve("b", "txn-1")
        await pod.reserve("b", "txn-1")  # renews
        with pytest.raises(Refusal, match=r"Busy.*txn-1"):
            await pod.reserve("b", "txn-2")
        with pytest.raises(Refusal, match=r"Busy.*txn-1"):
            await pod.swap("b", "txn-2")
        assert (await pod.swap("b", "txn-1")).outcome == "Committed"
        with pytest.raises(Refusal, match="TransactionEnded"):
            await pod.reserve("b", "txn-1")


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ({"vllm": "0.27"}, "EngineTooOld"),
        ({"backend": ""}, "NoTransferBackend"),
        ({"backend": "nccl"}, "NoTransferBackend"),
        ({"eplb": True}, "EplbEnabled"),
    ],
)
async def test_engine_that_cannot_be_swapped_serves_and_says_why(
    tmp_path: Path, flags: dict[str, Any], reason: str
) -> None:
    async with one_pod(tmp_path, **flags) as pod:
        await pod.hello()
        state = await pod.until(lambda it: it.engine.reachable and it.ready)
        assert state.incompatible_reason == reason
        with pytest.raises(Refusal, match=reason):
            await pod.stage("b")


async def test_bad_checkpoint_is_refused_while_the_engine_serves(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        file = next(pod.checkpoints["b"].glob("*.safetensors"))
        file.write_bytes(file.read_bytes()[:-1])
        last = await pod.stage("b")
        assert (last.done, last.failure_class, last.reason) == (
            True,
            "Weights",
            "CheckpointMalformed",
        )
        state = await pod.state()
        assert state.ready
        assert state.staging == last
        assert (await pod.stage("c")).reason == ""
        assert not (await pod.state()).HasField("staging")


async def test_agent_of_another_pod_is_not_reached_beyond_loopback(tmp_path: Path) -> None:
    from weightrollout.agent.settings import BadFlag, check, parse

    flags = [f"--staging={tmp_path}", f"--handover={tmp_path}", "--grpc-bind=0.0.0.0:9610"]
    with pytest.raises(BadFlag, match="listens on loopback only"):
        check(parse(flags))
    check(parse([*flags[:2], "--grpc-bind=127.8.0.1:9610"]))
