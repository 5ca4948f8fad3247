"""vLLM's and TRL's own clients, and prime-rl's two processes, on an agent before a real vLLM on CPU: by our own backend, and by
ones of the tests' that reload as vLLM does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from foreignclients import trlwheel
from foreignclients.theirs import TheyFailed, theirs
from onepod import AgentProcess, Pod, channel_to
from realvllm import families, tiny
from realvllm.client import Answers, Client, difference
from realvllm.control import CALL_S
from realvllm.engine import RealEngine, engine
from toytrainer import NOBODYS, TOKEN, Trainer, named
from twohands import drive
from weightrollout.api.names import DEFAULT_TRAINER_PORT

SETTLES_S = 600.0


async def answers(running: RealEngine) -> Answers:
    client = Client(running.http_url, str(running.launch.model))
    return await client.answers(deadline_s=CALL_S)


@asynccontextmanager
async def agent(
    folder: Path, running: RealEngine, guard: str
) -> AsyncIterator[tuple[Pod, Trainer]]:
    """Beside it, with the trainers' routes."""
    token = folder / "token"
    token.write_text(TOKEN)
    assert running.launch.staging is not None
    flags = (
        *("--engine-grpc", running.grpc_target, "--engine-http", running.http_url),
        f"--staging={running.launch.staging}",
        f"--handover={running.launch.handover}",
        f"--trainer-token-file={token}",
        f"--trainer-guard={guard}",
    )
    process = AgentProcess(flags, folder / "agent.log")
    async with channel_to(process) as stub:
        pod = Pod(process, folder, running.launch.staging, {}, stub, ends_s=SETTLES_S)
        await process.start()
        try:
            await pod.until(lambda state: state.ready)
            yield pod, Trainer(f"http://{process.host}:{DEFAULT_TRAINER_PORT}")
        finally:
            await process.end()


def to(checkpoint: Path) -> dict[str, Any]:
    """Of backend `stock`: vLLM loads that folder between its own start and finish."""
    return {"folder": str(checkpoint)}


async def two_hands(
    trainer: Trainer, folder: Path, steps: dict[str, dict[str, Any]]
) -> dict[str, list[str]]:
    """prime-rl's two processes. `steps`: version to update_info; returned: what each was heard as, by polling."""
    marks = folder / "marks"
    marks.mkdir()
    said = [
        {"version": version, "update_info": info, "checkpoint": None}
        for version, info in steps.items()
    ]
    return await drive(trainer.url, marks, said)


@pytest.fixture(scope="module")
def pair() -> tiny.Pair:
    return tiny.pair(families.FAMILIES["qwen3"])


@pytest.fixture(scope="module")
async def expected(pair: tiny.Pair, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Of a fresh process with weights b."""
    async with engine(tmp_path_factory.mktemp("fresh"), pair.b.launch("")) as fresh:
        return await answers(fresh)


async def test_our_own_backend_brings_the_checkpoints_that_foreign_clients_name(
    pair: tiny.Pair, expected: Answers, tmp_path: Path
) -> None:
    """One engine for both clients, because a start is slow."""
    async with engine(tmp_path / "a", pair.a.launch()) as running:
        first = await answers(running)
        assert difference(first, expected) > 0
        async with (
            agent(tmp_path, running, "auto-pause") as (pod, trainer),
            theirs(tmp_path, "vllm", trainer.url) as client,
        ):
            await client.call("init_weight_transfer_engine", {})
            with pytest.raises(TheyFailed, match="409"):
                await client.call("update_weights", named(pair.b.target))
            await client.call("start_weight_update")
            for wrong in (to(pair.b.target), {**named(pair.b.target), "digest": NOBODYS}):
                with pytest.raises(TheyFailed, match="400"):
                    await client.call("update_weights", wrong)
            assert await pod.readyz() == (200, "")
            assert difference(await answers(running), first) == 0.0
            await client.call("update_weights", named(pair.b.target))
            assert (await pod.readyz())[1] == "HeldByTrainer"
            await client.call("finish_weight_update", "7")
            assert await pod.readyz() == (200, "")
            assert (await pod.state()).serving.version == "7"
        assert difference(await answers(running), expected) == 0.0
        async with agent(tmp_path, running, "strict") as (pod, trainer):
            heard = await two_hands(
                trainer, tmp_path, {"8": named(pair.a.target), "9": named(pair.b.target)}
            )
            assert set(heard["9"]) <= {"8", "9"}
            assert await pod.readyz() == (200, "")
            assert (await pod.state()).serving.version == "9"
        assert difference(await answers(running), expected) == 0.0


async def test_trls_client_sends_tensors_that_a_fresh_process_would_answer_with(
    pair: tiny.Pair, expected: Answers, tmp_path: Path
) -> None:
    """Its communicator is TCP on both sides; the engine's loader is vLLM's own."""
    wheel = str(trlwheel.require())
    async with (
        engine(tmp_path / "a", pair.a.launch("stock_tcp")) as running,
        agent(tmp_path, running, "strict") as (pod, trainer),
        theirs(tmp_path, "trl", trainer.url, wheel, str(pair.b.target)) as client,
    ):
        assert difference(await answers(running), expected) > 0
        await client.call("init_weight_transfer")
        with pytest.raises(TheyFailed, match="409"):
            await client.call("send_weights")
        assert await pod.readyz() == (200, "")
        await client.call("pause")
        await client.call("send_weights")
        assert (await pod.readyz())[1] == "HeldByTrainer"
        await client.call("resume")
        assert await pod.readyz() == (200, "")
        assert (await pod.state()).serving.version == "trainer.1"
        assert difference(await answers(running), expected) == 0.0


async def test_clients_bring_real_bytes_and_a_fresh_process_would_answer_the_same(
    pair: tiny.Pair, expected: Answers, tmp_path: Path
) -> None:
    """One engine for both, because a start is slow."""
    async with engine(tmp_path / "a", pair.a.launch("stock")) as running:
        first = await answers(running)
        assert first != expected
        async with (
            agent(tmp_path, running, "auto-pause") as (pod, trainer),
            theirs(tmp_path, "vllm", trainer.url) as client,
        ):
            await client.call("init_weight_transfer_engine", {})
            await client.call("start_weight_update")
            assert (await pod.readyz())[1] == "HeldByTrainer"
            await client.call("update_weights", to(pair.b.target))
            await client.call("finish_weight_update", "7")
            assert await pod.readyz() == (200, "")
            assert (await pod.state()).serving.version == "7"
        assert await answers(running) == expected
        async with agent(tmp_path, running, "strict") as (pod, trainer):
            heard = await two_hands(
                trainer, tmp_path, {"8": to(pair.a.target), "9": to(pair.b.target)}
            )
            assert set(heard["8"]) <= {"7", "8"}
            assert set(heard["9"]) <= {"8", "9"}
            assert await pod.readyz() == (200, "")
            assert (await pod.state()).serving.version == "9"
        assert await answers(running) == expected
