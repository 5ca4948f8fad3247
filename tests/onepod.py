"""One pod without Kubernetes: a simulated engine as a process, and a real agent.

async with one_pod(tmp_path) as pod:
    await pod.hello(); await pod.stage(B); await pod.reserve(B); end = await pod.swap(B)

`A` is what the engine starts with; `B`, `C` are other weights; `WRONG` fails its prompts.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

import aiohttp
import grpc
import grpc.aio

from checkpoints import Shapes, fingerprint, write_checkpoint, write_draft
from localcluster.waiting import eventually
from simulator.answers import answer
from simulator.process import TESTS, EngineProcess, engine_process
from weightrollout.agent.main import serve
from weightrollout.agent.service import REFUSAL_KEY
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.kube.configmaps import Stable, stable_text
from weightrollout.swap.patience import Patience
from weightrollout.weights.digest import digest_of
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub
from weightrollout.wire_draft import draft_of, signature_of

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import AgentAsyncStub  # a name for mypy only

T = TypeVar("T")

#: Everything here ends within this, or hangs.
ENDS_S: Final = 30.0
SEEDS: Final = {"a": 1, "b": 2, "c": 3, "wrong": 4}
PROMPT: Final = pb.Prompt(prompt="2+2=", max_tokens=4, contains="4")
OWNER: Final = "cr-uid"


class Refusal(Exception):
    def __init__(self, said: pb.Refusal) -> None:
        super().__init__(f"{said.reason}: {said.message}")
        self.reason = said.reason
        self.epoch = said.epoch


class Agent(Protocol):
    host: str

    async def start(self) -> None: ...

    async def end(self, number: signal.Signals = signal.SIGKILL) -> int | None: ...


@dataclass
class AgentTask:
    """The agent in this process: starts at once, cannot be killed."""

    arguments: tuple[str, ...]
    patience: Patience = field(default_factory=Patience)
    host: str = field(default_factory=lambda: own_address())
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.stopping.clear()
        settings = replace(parse([*self.arguments, *_binds(self)]), patience=self.patience)
        self.task = asyncio.create_task(serve(settings, self.stopping))

    async def end(self, number: signal.Signals = signal.SIGTERM) -> int | None:
        self.stopping.set()
        if self.task is not None:
            await asyncio.wait_for(self.task, ENDS_S)
        return 0


@dataclass
class AgentProcess:
    arguments: tuple[str, ...]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    module: str = "weightrollout.agent"
    host: str = field(default_factory=lambda: own_address())
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        path = os.pathsep.join((str(TESTS.parent / "operator"), str(TESTS)))
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", self.module, *self.arguments, *_binds(self)),
                env={**os.environ, "PYTHONPATH": path, **self.environment},
                stderr=log,
            )

    async def end(self, number: signal.Signals = signal.SIGKILL) -> int | None:
        if self.process is None:
            return None
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), ENDS_S)


def _binds(agent: Agent) -> tuple[str, ...]:
    return (
        f"--grpc-bind={agent.host}:{names.DEFAULT_GRPC_PORT}",
        f"--http-bind={agent.host}:{names.DEFAULT_HTTP_PORT}",
        f"--trainer-bind={agent.host}:{names.DEFAULT_TRAINER_PORT}",
    )


@dataclass
class Pod:
    """An agent beside whatever engine, and what an operator asks of it."""

    agent: Agent
    folder: Path
    staging: Path
    checkpoints: dict[str, Path]
    stub: "AgentAsyncStub"
    epoch: int = 1
    digests: dict[str, str] = field(default_factory=dict)
    drafts: dict[str, pb.Draft] = field(default_factory=dict)  # what weights say of their draft
    signatures: dict[str, pb.Signature] = field(default_factory=dict)  # and of their signer
    ends_s: float = ENDS_S

    @property
    def handover(self) -> Path:
        return self.folder / "handover"

    def fence(self, epoch: int | None = None, owner: str = OWNER) -> pb.Fence:
        return pb.Fence(owner_uid=owner, epoch=self.epoch if epoch is None else epoch)

    def weights(self, name: str) -> pb.Weights:
        return pb.Weights(
            revision=f"chat-{name}",
            version=f"v-{name}",
            uri=self.checkpoints[name].as_uri() + "/",
            digest=self.digests.get(name, ""),
            draft=self.drafts.get(name),
            signature=self.signatures.get(name),
        )

    def own_draft(self, name: str) -> pb.Draft:
        """The draft model that was made for these weights (`own_drafts`)."""
        folder = draft_folder(self.checkpoints[name])
        return pb.Draft(uri=folder.as_uri() + "/", digest=digest_of(folder, threads=1))

    async def hello(
        self, *, takeover: bool = False, owner: str = OWNER, driver: str = ""
    ) -> pb.AgentState:
        fence = self.fence(owner=owner)
        request = pb.HelloRequest(fence=fence, takeover=takeover, driver=driver)
        return await _told(self.stub.Hello(request, timeout=self.ends_s, wait_for_ready=True))

    def stage_request(
        self, name: str, *, keep: tuple[str, ...] = (), limit: int = 0
    ) -> pb.StageRequest:
        return pb.StageRequest(
            fence=self.fence(),
            weights=self.weights(name),
            keep_last_good=True,
            keep=keep,
            max_bytes_per_second=limit,
        )

    async def stage(self, name: str, *, keep: tuple[str, ...] = ()) -> pb.StageProgress:
        """The last progress; remembers the digest."""
        request = self.stage_request(name, keep=keep)
        call = self.stub.Stage(request, timeout=self.ends_s, wait_for_ready=True)
        *_, last = await _all(call)
        if last.digest and not last.reason:
            self.digests[name] = last.digest
        return last

    async def reserve(
        self, name: str, txn: str = "txn-1", *, in_service: bool = False, ttl_s: float = 30.0
    ) -> None:
        take_out = pb.TAKE_OUT_NONE if in_service else pb.TAKE_OUT_ENDPOINT
        request = pb.ReserveRequest(
            fence=self.fence(),
            txn=txn,
            take_out=take_out,
            ttl_seconds=ttl_s,
            weights=self.weights(name),
        )
        await _told(self.stub.Reserve(request, timeout=self.ends_s, wait_for_ready=True))

    def swap_request(
        self, name: str, txn: str = "txn-1", *, deadline_s: float = 20.0, **fields: Any
    ) -> pb.SwapRequest:
        """`fields` replace those of the message."""
        usual: dict[str, Any] = {
            "pause_mode": pb.PAUSE_MODE_KEEP,
            "clear_cache": True,
            "drain_seconds": 1.0,
            "prompts": [PROMPT],
        }
        return pb.SwapRequest(
            fence=self.fence(),
            txn=txn,
            attempt=1,
            weights=self.weights(name),
            deadline_seconds=deadline_s,
            **(usual | fields),
        )

    async def swap(
        self, name: str, txn: str = "txn-1", *, deadline_s: float = 20.0, **fields: Any
    ) -> pb.Transaction:
        """Run or attach, and wait for the end."""
        request = self.swap_request(name, txn, deadline_s=deadline_s, **fields)
        *_, last = await _all(self.stub.Swap(request, timeout=self.ends_s, wait_for_ready=True))
        return last.transaction

    def publish(self, name: str, epoch: int = 1, owner: str = OWNER, *, driver: str = "") -> None:
        """Make it stable, as the kubelet mounts what an operator published."""
        self.digests.setdefault(name, digest_of(self.checkpoints[name], threads=1))
        said = self.weights(name)
        stable = Stable(
            *(owner, epoch, said.revision, said.version, said.uri, said.digest),
            draft=draft_of(said),
            signature=signature_of(said),
            driver=driver,
        )
        temporary = self.folder / "stable" / "new"
        temporary.write_text(stable_text(stable))
        temporary.replace(self.folder / "stable" / names.STABLE_KEY)

    async def bring(self, name: str, txn: str) -> pb.Transaction:
        """Stage, reserve, swap."""
        progress = await self.stage(name)
        assert not progress.reason, progress
        await self.reserve(name, txn)
        return await self.swap(name, txn)

    async def release(self, txn: str = "") -> None:
        request = pb.ReleaseRequest(fence=self.fence(), txn=txn)
        await _told(self.stub.Release(request, timeout=self.ends_s, wait_for_ready=True))

    async def restart_engine(self, serve: str | None = None) -> str:
        weights = self.weights(serve) if serve else pb.Weights()
        request = pb.RestartEngineRequest(fence=self.fence(), serve=weights, reason="Poisoned")
        reply = await _told(self.stub.RestartEngine(request, timeout=self.ends_s))
        return str(reply.instance)

    async def state(self) -> pb.AgentState:
        """What Watch says first."""
        return await self.until(lambda _: True)

    async def until(self, fact: Callable[[pb.AgentState], bool]) -> pb.AgentState:
        """Watch until the fact holds."""
        request = pb.WatchRequest(heartbeat_seconds=0.2)
        state = pb.AgentState()
        ends = asyncio.get_running_loop().time() + self.ends_s
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            call = self.stub.Watch(request, timeout=left, wait_for_ready=True)
            try:
                async for state in call:
                    if fact(state):
                        return state
            except grpc.aio.AioRpcError as cut:  # an agent that was killed cuts its connections
                if cut.code() is not grpc.StatusCode.UNAVAILABLE:
                    break
            finally:
                call.cancel()
        raise AssertionError(f"not seen within {self.ends_s} s; last: {state}")

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[list[pb.AgentState]]:
        """All that the agent says meanwhile; whoever sees only its end misses what an operator saw."""
        said: list[pb.AgentState] = []
        call = self.stub.Watch(pb.WatchRequest(heartbeat_seconds=10.0))

        async def listen() -> None:
            async for each in call:
                said.append(each)

        listening = asyncio.create_task(listen())
        await eventually(lambda: said, 10, "the agent says where it stands")
        try:
            yield said
        finally:
            call.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def readyz(self) -> tuple[int, str]:
        """Status and reason. Silence of the engine counts when seen three times, as for a kubelet."""
        for _ in range(3):
            status, reason = await self._probe()
            if reason != "EngineUnreachable":
                break
        return status, reason

    async def _probe(self) -> tuple[int, str]:
        status, body = await self.readyz_body()
        return status, body.get("reason", "")

    async def readyz_body(self) -> tuple[int, dict[str, Any]]:
        timeout = aiohttp.ClientTimeout(total=5)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"http://{self.agent.host}:{names.DEFAULT_HTTP_PORT}/readyz") as response,
        ):
            body: dict[str, Any] = await response.json()
            return response.status, body

    async def metrics(self) -> str:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{self.agent.host}:{names.DEFAULT_HTTP_PORT}/metrics") as response,
        ):
            return await response.text()


@dataclass
class OnePod(Pod):
    engine: EngineProcess = field(kw_only=True)

    async def answers_with(self, name: str) -> bool:
        """Whether the engine's answer is that of a fresh engine with these weights."""
        body = {"prompt": "tell me", "max_tokens": 5}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.engine.http_url}/v1/completions", json=body) as response,
        ):
            text = (await response.json())["choices"][0]["text"]
        return bool(text == "".join(answer(fingerprint(self.checkpoints[name]), "tell me", 5)))


@asynccontextmanager
async def one_pod(
    tmp_path: Path,
    *,
    killable: bool = False,
    patience: Patience | None = None,
    stable: str = "",
    agent_flags: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
    staging: Path | None = None,
    tensors: Shapes | None = None,
    own_drafts: bool = False,
    **flags: Any,
) -> AsyncIterator[OnePod]:
    """`flags` go to the simulator. `killable`: the agent is a process too, with that `environment`
    and usual patience. `stable`: published before the agent starts.

    `staging`: a volume that is there already. `tensors`: of all checkpoints, None: tiny ones.
    `own_drafts`: the engine speculates with a draft model, and one is made for each checkpoint.
    """
    for name in ("handover", "stable", *(() if staging else ("staging",))):
        (tmp_path / name).mkdir()
    checkpoints = {
        name: write_checkpoint(
            tmp_path / name, seed=seed, tensors=tensors, arithmetic=name != "wrong"
        )
        for name, seed in SEEDS.items()
    }
    if own_drafts:
        made = {
            name: write_draft(draft_folder(folder), of=folder, seed=40 + SEEDS[name])
            for name, folder in checkpoints.items()
        }
        flags = {"speculative": "eagle3", "draft": made["a"], **flags}
    volumes = {"staging": staging or tmp_path / "staging", "handover": tmp_path / "handover"}
    async with engine_process(
        model=checkpoints["a"], **{"token_seconds": 0.001, **volumes, **flags}
    ) as engine:
        arguments = ("--engine-grpc", engine.grpc_target, "--engine-http", engine.http_url)
        volume_flags = tuple(f"--{name}={path}" for name, path in volumes.items())
        stable_flag = f"--stable={tmp_path / 'stable'}"
        all_flags = (*arguments, *volume_flags, stable_flag, *agent_flags)
        agent: Agent = (
            AgentProcess(all_flags, tmp_path / "agent.log", environment or {})
            if killable
            else AgentTask(all_flags, patience or Patience())
        )
        async with channel_to(agent) as stub:
            pod = OnePod(agent, tmp_path, volumes["staging"], checkpoints, stub, engine=engine)
            if stable:
                pod.publish(stable)
            await agent.start()
            try:
                yield pod
            finally:
                await agent.end()


@asynccontextmanager
async def channel_to(agent: Agent) -> AsyncIterator["AgentAsyncStub"]:
    """Notices within 0.1 s that an agent is back."""
    channel = grpc.aio.insecure_channel(
        f"{agent.host}:{names.DEFAULT_GRPC_PORT}",
        options=(
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.min_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 100),
        ),
    )
    try:
        yield AgentStub(channel)
    finally:
        await channel.close(None)


def draft_folder(target: Path) -> Path:
    return target.with_name(f"{target.name}-draft")


def own_address() -> str:
    """Of 127.64/10: a port that is free now may be taken while the agent is down; this is not."""
    return f"127.{random.randrange(64, 128)}.{random.randrange(256)}.{random.randrange(1, 255)}"


async def _told(call: Awaitable[T]) -> T:
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise _refusal(error) from error


async def _all(call: AsyncIterable[T]) -> list[T]:
    try:
        return [each async for each in call]
    except grpc.aio.AioRpcError as error:
        raise _refusal(error) from error


def _refusal(error: grpc.aio.AioRpcError) -> Exception:
    for key, value in cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ()):
        if key == REFUSAL_KEY and isinstance(value, bytes):
            return Refusal(pb.Refusal.FromString(value))
    return AssertionError(f"{error.code()}: {error.details()}")
