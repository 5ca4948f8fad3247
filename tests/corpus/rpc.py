"""The judge of calls: a case is a list of calls to a real agent service over gRPC, in order.

    [{"call": "Stage", "request": {...}}, ...]      requests as protobuf spells them in JSON
    {"repeat": "x", "times": 1048576}               stands for a long text
    "{uri}", "{digest}"                             of a small checkpoint that is really there

The class is the last call's: Answered, or the reason of its Refusal. Any other status fails.
"""

import asyncio
import atexit
import json
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, cast

import grpc
import grpc.aio
from google.protobuf import json_format
from google.protobuf.message import Message

import checkpoints
from reports import report_of
from weightrollout.agent.departure import Departure
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.liveness import Pulse
from weightrollout.agent.presence import Presence
from weightrollout.agent.restart import Restarter
from weightrollout.agent.service import REFUSAL_KEY, AgentService, Desk
from weightrollout.agent.stage import Stager
from weightrollout.agent.state import Bell, Board
from weightrollout.agent.swaps import Parts, Swaps
from weightrollout.api.spec import PauseMode
from weightrollout.clock import SystemClock
from weightrollout.engine.errors import EngineRefused
from weightrollout.engine.protocol import AnswerToken, EngineInfo, EngineLoad
from weightrollout.handover import files, records
from weightrollout.handover.records import BACKEND
from weightrollout.metrics import Door, Metrics
from weightrollout.swap.journal import FILE, Journal
from weightrollout.weights import digest
from weightrollout.weights.staging import Store
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub, add_AgentServicer_to_server

ENDS_S: Final = 30.0
REQUESTS: Final[Mapping[str, type[Message]]] = {
    "Hello": pb.HelloRequest,
    "Watch": pb.WatchRequest,
    "Stage": pb.StageRequest,
    "Reserve": pb.ReserveRequest,
    "Swap": pb.SwapRequest,
    "Release": pb.ReleaseRequest,
    "RestartEngine": pb.RestartEngineRequest,
}
STREAMS: Final = frozenset({"Watch", "Stage", "Swap"})


class StubbornEngine:
    """An engine with our backend that refuses every change, so that a swap ends before its pause."""

    async def info(self, *, deadline_s: float) -> EngineInfo:
        return EngineInfo("engine-1", "0.33.0", BACKEND, 1)

    async def model(self, *, deadline_s: float) -> str:
        return "m"

    async def is_paused(self, *, deadline_s: float) -> bool:
        return False

    async def version(self, *, deadline_s: float) -> str:
        return "default"

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        raise _no()

    async def resume(self, *, deadline_s: float) -> None:
        raise _no()

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None:
        raise _no()

    async def start_update(self, *, deadline_s: float) -> None:
        raise _no()

    async def start_draft_update(self, *, deadline_s: float) -> None:
        raise _no()

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        raise _no()

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        raise _no()

    async def set_version(self, version: str, *, deadline_s: float) -> None:
        raise _no()

    async def shutdown(self, *, deadline_s: float) -> None:
        raise _no()

    async def serving(self, *, deadline_s: float) -> bool:
        return True

    async def load(self, *, deadline_s: float) -> EngineLoad:
        return EngineLoad(0, 0)

    async def complete(self, prompt: str, *, max_tokens: int, deadline_s: float) -> str:
        raise _no()

    async def complete_tokens(
        self, prompt: str, *, max_tokens: int, top: int, deadline_s: float
    ) -> tuple[AnswerToken, ...]:
        raise _no()

    async def close(self) -> None:
        pass


def _no() -> EngineRefused:
    return EngineRefused("FailedPrecondition", "the tests' engine takes nothing")


def judge(data: bytes, folder: Path) -> str:
    """Also looks that nothing was written but what belongs to the agent."""
    calls = json.loads(data)
    answer = asyncio.run(_call_all(calls, folder))
    assert {each.name for each in folder.iterdir()} == {"staging", "handover"}
    assert {each.name for each in (folder / "staging").iterdir()} <= {FILE, files.IMAGES}
    handed = {each.name for each in (folder / "handover").iterdir()}
    assert handed <= {"report-rank0.json", files.EXIT_REQUEST}
    Journal.open(folder / "staging")
    assert not list((folder / "staging").glob("journal.corrupt-*"))
    return answer


async def _call_all(calls: list[dict[str, Any]], folder: Path) -> str:
    answer = ""
    async with _agent(folder) as target, grpc.aio.insecure_channel(target) as channel:
        stub = AgentStub(channel)
        for each in calls:
            request = json_format.ParseDict(_filled(each["request"]), REQUESTS[each["call"]]())
            answer = await _call(stub, each["call"], request)
        await _call(stub, "Watch", pb.WatchRequest())  # whatever was said, the agent still speaks
    return answer


async def _call(stub: Any, name: str, request: Any) -> str:
    try:
        if name not in STREAMS:
            await getattr(stub, name)(request, timeout=ENDS_S)
            return "Answered"
        call = getattr(stub, name)(request, timeout=ENDS_S)
        async for said in call:
            if name == "Watch":
                break
            if name == "Stage" and said.done and said.reason:
                return str(said.reason)
        call.cancel()
        return "Answered"
    except grpc.aio.AioRpcError as error:
        metadata = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
        refusals = [value for key, value in metadata if key == REFUSAL_KEY]
        if error.code() is grpc.StatusCode.FAILED_PRECONDITION and refusals:
            return pb.Refusal.FromString(cast("bytes", refusals[0])).reason
        raise AssertionError(f"{name}: {error.code()}: {error.details()}") from error


@asynccontextmanager
async def _agent(folder: Path) -> AsyncIterator[str]:
    """Everything that `agent.main` builds, around an engine of ours."""
    staging, handover = folder / "staging", folder / "handover"
    staging.mkdir()
    handover.mkdir()
    records.write(files.report(handover, 0), report_of(_checkpoint()))
    clock, metrics, board, engine = (
        SystemClock(),
        Metrics(Door.AGENT),
        Board(Bell()),
        StubbornEngine(),
    )
    journal, store = Journal.open(staging), Store(staging, threads=1)
    watch = EngineWatch(
        engine,
        handover,
        clock,
        in_transaction=lambda: journal.book.running is not None,
        changed=board.bell.ring,
    )
    stager = Stager(store, board, clock, metrics)
    parts = Parts(journal, board, watch, store, engine, engine, handover, clock, metrics)
    restarter = Restarter(journal, board, watch, engine, handover, clock)
    swaps = Swaps(parts)
    await watch.ask()
    server = grpc.aio.server()
    presence = Presence(journal, clock)
    departure = Departure(journal, board, watch, swaps, engine, clock)
    desk = Desk(
        *(journal, board, watch, stager, swaps, restarter, presence),
        *(Pulse(engine, clock), departure, clock, metrics),
    )
    add_AgentServicer_to_server(AgentService(desk), server)
    port = server.add_insecure_port("127.0.0.1:0")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(stager.stop)
        stack.push_async_callback(restarter.stop)
        stack.push_async_callback(swaps.stop, 1.0)
        stack.push_async_callback(server.stop, 0)
        await server.start()
        yield f"127.0.0.1:{port}"


@cache
def _checkpoint() -> Path:
    """One for the process; removed at its end."""
    folder = Path(mkdtemp(prefix="weightrollout-corpus-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return checkpoints.write_checkpoint(
        folder / "a", seed=1, tensors={"w": ("F32", (64,))}, files=1
    )


@cache
def _digest() -> str:
    return digest.digest_of(_checkpoint(), threads=1)


def _filled(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each) for each in value]
    if value == "{uri}":
        return f"{_checkpoint().as_uri()}/"
    return _digest() if value == "{digest}" else value
