"""One agent says what no agent says: the operator stands, says which pod, and goes on with the others."""

import math
from typing import Any

import grpc
import pytest

from agent_double import REFUSAL, AgentDouble, served
from localcluster.waiting import eventually
from weightrollout.api.spec import Weights
from weightrollout.api.swap import FailureClass
from weightrollout.controller.agent_view import (
    MAX_TEXT,
    NotUnderstood,
    agent_view,
    staging_view,
    transaction_view,
)
from weightrollout.controller.agents import Agents
from weightrollout.controller.calls import AgentRefusedCall, call_error
from weightrollout.controller.leader import Fence, Guard
from weightrollout.controller.term import Term
from weightrollout.rollout.fleet import AgentFault, AgentView
from weightrollout.rollout.plan import plan
from weightrollout.rollout.revisions import revision_name
from weightrollout.wire.agent import agent_pb2 as pb

SOON = 10.0
DIGEST = "sha256:" + "a" * 64
HUGE = "x" * 3_000_000
#: What conftest's rollout desires: only what concerns the target is counted and measured.
TARGET = revision_name("chat", Weights(version="v1", uri="file:///m/"))
Ground = Any  # tests/unit/controller/conftest.py


def honest() -> pb.AgentState:
    weights = pb.Weights(revision=TARGET, version="v1", uri="file:///m/", digest=DIGEST)
    engine = pb.EngineState(reachable=True, instance="i-1", weight_version="v1")
    return pb.AgentState(
        agent_version="double", ready=True, engine=engine, serving=weights, told=weights
    )


def with_transaction(**fields: Any) -> pb.AgentState:
    state = honest()
    usual: dict[str, Any] = {
        "txn": "t",
        "weights": state.serving,
        "outcome": "Committed",
        "phase": "Done",
    }
    state.transaction.CopyFrom(pb.Transaction(**(usual | fields)))
    return state


def with_changes(**fields: Any) -> pb.AgentState:
    state = honest()
    state.MergeFrom(pb.AgentState(**fields))
    return state


LIES = {
    "outcome of no swap": with_transaction(outcome="Triumph"),
    "phase of no swap": with_transaction(phase="Dancing", outcome=""),
    "endless pause": with_transaction(pause_millis=math.inf),
    "pause that is no number": with_transaction(pause_millis=math.nan),
    "negative pause": with_transaction(pause_millis=-1.0),
    "huge message": with_transaction(outcome="Undone", failure_class="Pod", message=HUGE),
    "reason of many words": with_transaction(
        outcome="Undone", failure_class="Odd", reason="a reason, with\nlines " * 50
    ),
    "huge version": with_changes(serving=pb.Weights(version=HUGE, digest=DIGEST)),
    "version that is no label": with_changes(serving=pb.Weights(version="a b/c", digest=DIGEST)),
    "another's digest": with_changes(serving=pb.Weights(version="v1", digest="md5:1")),
    "huge reason": with_changes(ready=False, not_ready_reason=HUGE, not_ready_message=HUGE),
    "huge incompatibility": with_changes(incompatible_reason=HUGE, incompatible_message=HUGE),
    "huge staging": with_changes(
        staging=pb.StageProgress(failure_class="Pod", reason=HUGE, message=HUGE, total=-5)
    ),
    "more attempts than there were": with_changes(
        attempts=[pb.Attempts(digest=DIGEST, attempts=2**31 - 1, failure_class="Pod", reason="R")]
    ),
}


@pytest.mark.parametrize("lie", LIES)
async def test_lie_of_one_agent_ends_no_pass_and_spoils_no_status(ground: Ground, lie: str) -> None:
    liar, other = AgentDouble(), AgentDouble()
    liar.state, other.state = LIES[lie], honest()
    async with served(liar) as one, served(other) as two:
        ground.rollout()
        ground.pod("chat-0", one)
        ground.pod("chat-1", two)
        term = Term(ground.cluster, Guard(lambda: True, lambda why: None), plan)
        try:
            await eventually(
                lambda: ground.status().get("pods", {}).get("selected") == 2, SOON, "it reports"
            )
        finally:
            await term.end()
    status = ground.status()
    assert len(str(status)) < 20_000
    known = status["pods"]
    states = ("updated", "outdated", "joining", "failed", "poisoned", "unreachable")
    assert sum(known.get(state, 0) for state in (*states, "incompatible")) == 2


@pytest.mark.parametrize("lie", ["outcome of no swap", "huge version"])
async def test_agent_that_is_not_understood_counts_as_unreachable_and_says_why(
    ground: Ground, lie: str
) -> None:
    double = AgentDouble()
    double.state = LIES[lie]
    async with served(double) as target:
        ground.rollout()
        pod = ground.pod("chat-0", target)
        agents = Agents(ground.world.clock, lambda name: None, ground.world.access)
        agents.sync("chat", Fence("uid", 3), ground.world.pods_of("chat"), first=True)
        try:
            link = agents.link("chat", pod["metadata"]["uid"])
            assert link is not None
            await eventually(lambda: link.heard, SOON, "it was heard")
            assert link.seen is AgentFault.UNREACHABLE
            assert "not understood" in link.message
            assert len(link.message) < 500
            double.say(honest())
            await eventually(lambda: isinstance(link.seen, AgentView), SOON, "it is honest again")
        finally:
            await agents.close()


def test_texts_for_people_are_cut_and_words_for_scripts_are_words() -> None:
    view = agent_view(LIES["huge reason"])
    assert len(view.not_ready_message) == MAX_TEXT
    assert view.not_ready_reason == "NotUnderstood"


def test_measurement_that_no_clock_gives_is_none() -> None:
    for lie in ("endless pause", "pause that is no number", "negative pause"):
        assert transaction_view(LIES[lie].transaction).pause_millis == 0


def test_outcome_that_does_not_exist_is_not_guessed() -> None:
    with pytest.raises(NotUnderstood, match="Triumph"):
        transaction_view(LIES["outcome of no swap"].transaction)


@pytest.mark.parametrize("digest", ["", "sha256:short", "md5:" + "a" * 64, DIGEST + "\n"])
def test_scout_that_names_no_digest_pins_nothing(digest: str) -> None:
    view = staging_view(pb.StageProgress(uri="file:///m/", done=True, digest=digest), "chat-1")
    assert (view.digest, view.failure_class) == ("", FailureClass.POD)


class _Refused(grpc.aio.AioRpcError):
    def __init__(self, refusal: bytes) -> None:
        metadata = grpc.aio.Metadata((REFUSAL, refusal))
        super().__init__(
            grpc.StatusCode.FAILED_PRECONDITION, grpc.aio.Metadata(), metadata, "said so", None
        )


def test_refusal_that_cannot_be_read_is_a_refusal() -> None:
    failed = call_error("Reserve", _Refused(b"\xff\xff\xff"))
    assert isinstance(failed, AgentRefusedCall)


def test_epoch_that_nobody_can_follow_is_not_believed() -> None:
    refusal = pb.Refusal(reason="StaleEpoch", message="m", epoch=2**63 - 1)
    failed = call_error("Hello", _Refused(refusal.SerializeToString()))
    assert isinstance(failed, AgentRefusedCall)
    assert (failed.reason, failed.epoch) == ("StaleEpoch", 0)
