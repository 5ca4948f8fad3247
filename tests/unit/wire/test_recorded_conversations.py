"""What an operator and an agent of each release said to each other, against the agent and operator of today.

`make record-wire` makes the recording of a new release. Those that are there are never changed.
"""

import json
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import grpc
import grpc.aio
import pytest
from google.protobuf.message import Message

from agent_double import AgentDouble, served
from localcluster.waiting import eventually
from onepod import OnePod, one_pod
from weightrollout import __version__
from weightrollout.agent import stable
from weightrollout.agent.service import REFUSAL_KEY
from weightrollout.api import names
from weightrollout.api.callers import Callee
from weightrollout.api.names import CAPABILITY_DRAFTS
from weightrollout.api.spec import Draft
from weightrollout.clock import SystemClock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_line import Line
from weightrollout.controller.agent_view import agent_view, staging_view, transaction_view
from weightrollout.controller.agents import Address, AgentLink
from weightrollout.controller.leader import Fence
from weightrollout.handover import records
from weightrollout.handover.records import EngineReport
from weightrollout.rollout.fleet import AgentView, Ref
from weightrollout.swap.journal import FILE as JOURNAL
from weightrollout.swap.journal import Journal
from weightrollout.wire.agent import agent_pb2 as pb
from wirerecord.line import CALLS, CONVERSATION, RELEASES, Call, calls, read

RECORDED: Final = sorted(path.name for path in RELEASES.iterdir())
#: Field 1000, a number: what a release of tomorrow may add to any message.
FROM_TOMORROW: Final = b"\xc0\x3e\x01"
LAST: Final = "c"  # what is served in the end

every_release = pytest.mark.parametrize("release", RECORDED)
with_and_without_more = pytest.mark.parametrize("more", [b"", FROM_TOMORROW], ids=["", "more"])


def conversation(release: str) -> list[Call]:
    return calls(read(RELEASES / release / CONVERSATION))


def test_this_release_is_recorded() -> None:
    assert __version__ in RECORDED, "make record-wire"


@every_release
def test_recording_has_every_call(release: str) -> None:
    assert {each.name for each in conversation(release)} == set(CALLS)


# -- an operator of that release, the agent of today --------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "more"),
    [*((each, b"") for each in RECORDED), (RECORDED[-1], FROM_TOMORROW)],
    ids=[*RECORDED, f"{RECORDED[-1]}-more"],
)
async def test_agent_does_what_an_operator_of_each_release_asks(
    tmp_path: Path, release: str, more: bytes
) -> None:
    said = conversation(release)
    async with one_pod(tmp_path) as pod, raw_channel(pod) as channel:
        for each in said:
            answer = await asked(channel, each, request_to(pod, each.request) + more)
            assert gist(answer) == gist(each.refusal or (each.answers or (None,))[-1]), each.name
            if each.name == "RestartEngine":
                await pod.engine.exit_code()
                await pod.engine.restart()
                await pod.until(lambda state: state.engine.baseline)
        assert await pod.answers_with(LAST)
        # An operator of that release finds all that it found then.
        (*_, last) = [state for each in said for state in states(each)]
        await pod.until(lambda state: paths(last) <= paths(state))


@asynccontextmanager
async def raw_channel(pod: OnePod) -> AsyncIterator[grpc.aio.Channel]:
    target = f"{pod.agent.host}:{names.DEFAULT_GRPC_PORT}"
    async with grpc.aio.insecure_channel(target) as channel:
        yield channel


def request_to(pod: OnePod, recorded: Any) -> bytes:
    """The same bytes, but that the weights lie where this pod has them."""
    request = type(recorded)()
    request.CopyFrom(recorded)
    for field in ("weights", "serve"):
        if field in type(request).DESCRIPTOR.fields_by_name and getattr(request, field).uri:
            weights = getattr(request, field)
            weights.uri = pod.checkpoints[weights.version].as_uri() + "/"
    data: bytes = request.SerializeToString()
    return data


async def asked(channel: grpc.aio.Channel, call: Call, request: bytes) -> Message | None:
    """The last answer, or the refusal; of Watch the first, because it never ends."""
    path = f"/weightrollout.agent.v1.Agent/{call.name}"
    answer_type = CALLS[call.name][1]
    try:
        if call.name in ("Watch", "Stage", "Swap"):
            stream = channel.unary_stream(path, _as_it_is, _as_it_is)(
                request, timeout=60, wait_for_ready=True
            )
            answers: list[bytes] = []
            async for answer in stream:
                answers.append(answer)
                if call.name == "Watch":
                    stream.cancel()
                    break
            return answer_type.FromString(answers[-1]) if answers else None
        answer = await channel.unary_unary(path, _as_it_is, _as_it_is)(
            request, timeout=60, wait_for_ready=True
        )
        return answer_type.FromString(answer)
    except grpc.aio.AioRpcError as error:
        trailing = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
        for key, value in trailing:
            if key == REFUSAL_KEY and isinstance(value, bytes):
                return pb.Refusal.FromString(value)
        raise


def _as_it_is(data: bytes) -> bytes:
    return data


def gist(said: Any) -> Any:
    """What must be the same whenever and wherever it is said."""
    match said:
        case pb.Refusal():
            return said.reason
        case pb.StageProgress():
            return (said.digest, said.done, said.failure_class, said.reason)
        case pb.SwapProgress():
            ended = said.transaction
            return (ended.txn, ended.weights.version, ended.outcome, ended.reason)
        case pb.RestartEngineResponse():
            return said.instance != ""
        case pb.AgentState():
            return (said.fence.owner_uid, said.fence.epoch)
    return type(said)


def paths(message: Any, prefix: str = "") -> set[str]:
    """Of all fields that say something. What comes and goes by itself is left out."""
    found = set[str]()
    for field, value in message.ListFields():
        path = f"{prefix}{field.name}"
        if path in ("staging", "reservation"):
            continue
        found.add(path)
        if isinstance(value, Message):
            found |= paths(value, f"{path}.")
    return found


def states(call: Call) -> tuple[pb.AgentState, ...]:
    return call.answers if call.name in ("Hello", "Watch") else ()


# -- an agent of that release, the operator of today --------------------------------------


@every_release
@with_and_without_more
async def test_operator_sees_what_an_agent_of_each_release_says(release: str, more: bytes) -> None:
    """Over the wire, one state after the other; the last one is what the fleet ended with."""
    double = AgentDouble()
    told = [state for call in conversation(release) for state in states(call)]
    async with served(double) as target:
        double.say(grown(told[0], more))
        address = Address("chat-0", "u", target)
        line = Line(AgentAccess(), target, Callee("ns", "u"), "c-1")
        link = AgentLink(address, Fence("uid", 1), SystemClock(), True, lambda: None, line)
        try:
            for state in told:
                double.say(grown(state, more))
            await eventually(lambda: shows(link, LAST), 10, "the last state is seen")
        finally:
            await link.close()


def shows(link: AgentLink, version: str) -> bool:
    seen = link.seen
    assert not link.message, link.message
    return isinstance(seen, AgentView) and seen.ready and version in str(seen.serving)


@every_release
@with_and_without_more
def test_operator_understands_every_answer_of_each_release(release: str, more: bytes) -> None:
    for call in conversation(release):
        for answer in (grown(each, more) for each in call.answers):
            match answer:
                case pb.AgentState():
                    view = agent_view(answer)
                    assert (view.serving.version if view.serving else "") == answer.serving.version
                    assert view.engine.instance == answer.engine.instance
                    assert view.version == answer.agent_version
                case pb.StageProgress():
                    staging = staging_view(answer)
                    assert (staging.digest, staging.done) == (answer.digest, answer.done)
                case pb.SwapProgress():
                    swap = transaction_view(answer.transaction)
                    assert str(swap.phase) == answer.transaction.phase
                    assert (swap.outcome or "") == answer.transaction.outcome


def test_what_an_agent_can_do_is_what_it_says_and_not_what_its_release_is_called() -> None:
    """Both called themselves 0.1.0, and the first would have dropped a draft that another release adds."""
    drafted = Ref("r", "v", "file:///v/", draft=Draft.model_validate({"from": "Target"}))
    lacks = {
        release: {agent_view(state).lacks(drafted) for call in said for state in states(call)}
        for release, said in ((each, conversation(each)) for each in ("0.1.0-before", "0.1.0"))
    }
    assert lacks == {"0.1.0-before": {CAPABILITY_DRAFTS}, "0.1.0": {""}}


def grown(message: Any, more: bytes) -> Any:
    return type(message).FromString(message.SerializeToString() + more)


# -- what a pod and its volumes keep through an upgrade ------------------------------------


@every_release
def test_journal_of_each_release_is_read(tmp_path: Path, release: str) -> None:
    shutil.copy(RELEASES / release / JOURNAL, tmp_path)
    book = Journal.open(tmp_path).book
    assert not book.lost
    assert book.serving is not None
    assert book.serving.content.version == LAST
    assert [each.outcome for each in book.finished if each.weights.version == "wrong"]


@every_release
def test_journal_that_a_later_release_wrote_more_into_is_read(tmp_path: Path, release: str) -> None:
    """An agent that is rolled back must not take its engine's content for unknown."""
    book = json.loads((RELEASES / release / JOURNAL).read_text())
    for part in (book, book["serving"], book["finished"][0], book["attempts"][0]):
        part["from_tomorrow"] = {"a": 1}
    (tmp_path / JOURNAL).write_text(json.dumps(book))
    read_back = Journal.open(tmp_path).book
    shutil.copy(RELEASES / release / JOURNAL, tmp_path)
    assert read_back == Journal.open(tmp_path).book
    assert not read_back.lost


@every_release
def test_stable_version_that_a_later_release_wrote_more_into_is_read(
    tmp_path: Path, release: str
) -> None:
    said = json.loads((RELEASES / release / names.STABLE_KEY).read_text())
    (tmp_path / names.STABLE_KEY).write_text(json.dumps({**said, "from_tomorrow": 1}))
    assert stable.read(tmp_path) == stable.read(RELEASES / release)


@every_release
def test_stable_version_of_each_release_is_read(release: str) -> None:
    found = stable.read(RELEASES / release)
    assert found.content is not None
    assert (found.content.version, found.epoch > 0) == (LAST, True)


@every_release
def test_engine_report_of_each_release_is_read(release: str) -> None:
    report = records.read(EngineReport, RELEASES / release / "report-rank0.json")
    assert report is not None
    assert report.plan.consumed() == {each.name for each in report.tensors}
