"""A swap that runs goes on, whatever becomes of keys and certificates meanwhile; new calls use the new ones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import grpc
import grpc.aio
import pytest

from guarded import bearer, called, flags_of, refusal_of
from issuing import NAMESPACE, OPERATOR, POD_UID, Issuer, Key, KeyFront, key_front
from localcluster.certificates import Authority
from localcluster.waiting import eventually
from onepod import OnePod, one_pod
from weightrollout.agent import cluster_keys
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.api import names
from weightrollout.api.callers import CallerReason
from weightrollout.wire.agent import agent_pb2 as pb

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import AgentAsyncStub

pytestmark = pytest.mark.slow

AGENTS = "agents.example"
SOON = 20.0
UPDATE_S = 1.5


@dataclass
class Ground:
    pod: OnePod
    issuer: Issuer
    authority: Authority
    folder: Path

    @property
    def target(self) -> str:
        return f"{self.pod.agent.host}:{names.DEFAULT_GRPC_PORT}"

    def write(self) -> None:
        """A certificate of the present authority, as files."""
        leaf = self.authority.issue("agent", hosts=[AGENTS])
        for name, data in (("tls.crt", leaf.certificate), ("tls.key", leaf.key)):
            (self.folder / name).write_bytes(data)

    @asynccontextmanager
    async def calling(self) -> AsyncIterator["AgentAsyncStub"]:
        async with called(self.target, self.authority.certificate, name=AGENTS) as stub:
            yield stub


@pytest.fixture
async def front(tmp_path: Path) -> AsyncIterator[KeyFront]:
    async with key_front(Issuer(), tmp_path / "cluster") as found:
        yield found


@pytest.fixture
async def ground(tmp_path: Path, front: KeyFront) -> AsyncIterator[Ground]:
    """A real agent beside a simulated engine whose updates take a while."""
    access = CallerAccess(
        *(NAMESPACE, "chat-0", POD_UID, (OPERATOR,), front.url, (), tmp_path / "cluster"),
        certificate=tmp_path / "tls.crt",
        key=tmp_path / "tls.key",
    )
    files = Ground(None, front.issuer, Authority(), tmp_path)  # type: ignore[arg-type]  # known below
    files.write()
    flags = flags_of(access)
    async with one_pod(tmp_path, agent_flags=flags, update_seconds=UPDATE_S) as pod:
        files.pod = pod
        yield files


async def prepared(ground: Ground, stub: "AgentAsyncStub") -> None:
    """Reserved for b."""
    pod, token = ground.pod, bearer(ground.issuer.token())
    hello = pb.HelloRequest(fence=pod.fence())
    await stub.Hello(hello, timeout=SOON, metadata=token, wait_for_ready=True)
    await pod_is_known(ground, stub)
    staging = pb.StageRequest(fence=pod.fence(), weights=pod.weights("b"), keep_last_good=True)
    progress = [each async for each in stub.Stage(staging, timeout=SOON, metadata=token)]
    assert not progress[-1].reason, progress[-1]
    pod.digests["b"] = progress[-1].digest
    reserve = pb.ReserveRequest(
        fence=pod.fence(),
        txn="txn-1",
        take_out=pb.TAKE_OUT_ENDPOINT,
        ttl_seconds=30,
        weights=pod.weights("b"),
    )
    await stub.Reserve(reserve, timeout=SOON, metadata=token)


async def pod_is_known(ground: Ground, stub: "AgentAsyncStub") -> None:
    watch = stub.Watch(pb.WatchRequest(), metadata=bearer(ground.issuer.token()))
    while True:
        said = await watch.read()
        assert isinstance(said, pb.AgentState)
        if said.ready:
            break
    watch.cancel()


async def test_running_swap_goes_on_while_keys_and_certificates_change(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_keys, "UNKNOWN_S", 0.0)  # a rotation a moment after a first read
    async with ground.calling() as stub:
        await prepared(ground, stub)
        old = ground.issuer.token()
        stream = stub.Swap(ground.pod.swap_request("b"), timeout=60, metadata=bearer(old))
        said = await stream.read()
        assert isinstance(said, pb.SwapProgress)
        assert not said.transaction.outcome

        ground.issuer.keys[:] = [Key("key-2")]
        ground.authority = Authority()
        ground.write()
        async with ground.calling() as later:
            hello = pb.HelloRequest(fence=ground.pod.fence())
            await later.Hello(hello, timeout=SOON, metadata=bearer(ground.issuer.token()))
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await later.Hello(hello, timeout=SOON, metadata=bearer(old))
            assert refusal_of(error.value)[0] == CallerReason.KEY_UNKNOWN

        while not said.transaction.outcome:
            following = await stream.read()
            assert isinstance(following, pb.SwapProgress)
            said = following
    assert said.transaction.outcome == "Committed", said
    assert await ground.pod.answers_with("b")


async def test_agent_without_keys_goes_on_being_ready(ground: Ground, front: KeyFront) -> None:
    """Nobody can be known: so nobody is let in, and the pod serves."""
    await ground.pod.agent.end()
    front.up = False
    await ground.pod.agent.start()

    async def ready() -> bool:
        try:
            return (await ground.pod.readyz())[0] == 200
        except aiohttp.ClientError:  # it is starting
            return False

    await eventually(ready, SOON, "the pod is ready without keys")
    async with ground.calling() as stub:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Hello(
                pb.HelloRequest(), metadata=bearer(ground.issuer.token()), timeout=SOON
            )
    assert refusal_of(error.value)[0] == CallerReason.KEYS_UNREACHABLE
