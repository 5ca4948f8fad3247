"""vLLM's own client, and prime-rl's two processes, on an agent before a real vLLM on CPU that reloads a checkpoint as vLLM does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from foreignclients.theirs import theirs
from onepod import AgentProcess, Pod, channel_to
from realvllm import families, tiny
from realvllm.client import Answers, Client
from realvllm.control import CALL_S
from realvllm.engine import RealEngine, engine
from toytrainer import TOKEN, Trainer
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


async def test_clients_bring_real_bytes_and_a_fresh_process_would_answer_the_same(
    tmp_path: Path,
) -> None:
    """One engine for both, because a start is slow."""
    pair = tiny.pair(families.FAMILIES["qwen3"])
    async with engine(tmp_path / "b", pair.b.launch("")) as fresh:
        expected = await answers(fresh)
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
            marks = tmp_path / "marks"
            marks.mkdir()
            steps = [
                {"version": version, "update_info": to(version_of.target), "checkpoint": None}
                for version, version_of in (("8", pair.a), ("9", pair.b))
            ]
            heard = await drive(trainer.url, marks, steps)
            assert set(heard["8"]) <= {"7", "8"}
            assert set(heard["9"]) <= {"8", "9"}
            assert await pod.readyz() == (200, "")
            assert (await pod.state()).serving.version == "9"
        assert await answers(running) == expected
