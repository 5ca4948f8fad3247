"""A real engine that is kept alive, with the product's agent beside it: one pod without Kubernetes.

async with engine(folder / "a", launch) as running, kept(running), real_pod(folder, running, checkpoints) as pod:
    await pod.hello(); await pod.converge("b"); running.kill_one(CORE); await pod.converge("b")
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localcluster.waiting import eventually
from onepod import AgentProcess, Pod, Refusal, channel_to
from realvllm.client import Answers, Client
from realvllm.control import CALL_S
from realvllm.engine import EngineNotStarted, RealEngine
from realvllm.halting.halts import VARIABLE, Halts
from weightrollout.handover import files
from weightrollout.wire.agent import agent_pb2 as pb

#: A restart of the engine on a busy machine, and a swap.
SETTLES_S: Final = 600.0
ATTEMPT_S: Final = 120.0
#: The processes of an engine, by what is in their command lines.
CORE: Final = "VLLM::EngineCore"
WORKER: Final = "VLLM::Worker"
FRONTEND: Final = "vllm-rs"


@asynccontextmanager
async def kept(running: RealEngine) -> AsyncIterator[None]:
    """As a kubelet keeps a container: when its first process ends, all end, and it starts again."""
    keeper = asyncio.create_task(_keep(running), name="keeper of the engine")
    try:
        yield
    finally:
        if not keeper.done():
            keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper


async def _keep(running: RealEngine) -> None:
    while True:
        await running.exit_code(deadline_s=None)
        with suppress(EngineNotStarted):  # it is tried again; whoever waits for it has a deadline
            await running.restart()


@dataclass
class RealPod(Pod):
    running: RealEngine = field(kw_only=True)
    halts: Halts = field(kw_only=True)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def attempt(self, name: str) -> pb.Transaction | None:
        """One attempt as the operator makes it. None: refused before it began."""
        txn = f"uid/{name}/pod/{next(self._numbers)}"
        try:
            progress = await self.stage(name)
            if progress.reason:
                return None
            await self.reserve(name, txn)
            return await self.swap(name, txn, deadline_s=ATTEMPT_S, prompts=[], drain_seconds=0.0)
        except Refusal:
            return None

    async def settled(self) -> pb.AgentState:
        """No transaction runs and the engine answers."""
        return await self.until(_is_settled)

    async def converge(self, name: str) -> None:
        """What the operator does until the pod serves these weights, proven."""

        async def serves() -> bool:
            state = await self.settled()
            if state.poisoned:
                await self.restart_engine(name)
                instance = state.engine.instance
                await self.until(lambda it: it.engine.instance != instance)
                return False
            if state.ready and state.serving.version == self.weights(name).version:
                return True
            if state.HasField("reservation"):
                await self.release()
            await self.attempt(name)
            return False

        await eventually(serves, SETTLES_S, f"{name} is served")

    async def answers(self) -> Answers:
        client = Client(self.running.http_url, str(self.running.launch.model))
        return await client.answers(deadline_s=CALL_S)

    def litter(self, txn: str) -> list[str]:
        """What has no reader in the two volumes: temporary files, and answers to others than the newest swap."""
        hidden = [path for folder in (self.staging, self.handover) for path in folder.rglob(".*")]
        answers = [*self.handover.glob("prepared-*"), *self.handover.glob("receipt-*")]
        old = [path for path in answers if files.safe(txn) not in path.name]
        images = list((self.staging / files.IMAGES).iterdir())
        return [str(path) for path in (*hidden, *old, *images[len(self.checkpoints) :])]


def _is_settled(state: pb.AgentState) -> bool:
    runs = state.HasField("transaction") and not state.transaction.outcome
    return state.engine.reachable and not runs and not state.incompatible_reason


@asynccontextmanager
async def real_pod(
    folder: Path,
    running: RealEngine,
    checkpoints: Mapping[str, Path],
    agent_flags: tuple[str, ...] = (),
) -> AsyncIterator[RealPod]:
    """`running` was started with `halts_in(folder)` in its environment."""
    launch = running.launch
    assert launch.handover is not None
    assert launch.staging is not None
    flags = (
        f"--engine-grpc={running.grpc_target}",
        f"--engine-http={running.http_url}",
        f"--staging={launch.staging}",
        f"--handover={launch.handover}",
        "--alone-after-seconds=1000000",  # the test is its operator
        *agent_flags,
    )
    halts = Halts(folder / "halts")
    agent = AgentProcess(flags, folder / "agent.log", halts_in(folder), "realvllm.halting.agent")
    async with channel_to(agent) as stub:
        pod = RealPod(
            agent,
            launch.handover.parent,
            launch.staging,
            dict(checkpoints),
            stub,
            ends_s=SETTLES_S,
            running=running,
            halts=halts,
        )
        await agent.start()
        try:
            yield pod
        finally:
            halts.go_on()
            await agent.end()


def halts_in(folder: Path) -> dict[str, str]:
    """The environment of processes that stop where a test says so."""
    return {VARIABLE: str(folder / "halts")}
