"""Each action can be sent twice, attaches again when it is cut, and shows as work until it is seen done."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from aiohttp import web

from agent_double import AgentDouble, served
from apifront import refusal
from localcluster.waiting import eventually
from weightrollout.agent.wire_form import swap_request
from weightrollout.api import names
from weightrollout.api.spec import Expect, Metadata, PauseMode, Prompt, TakeOut
from weightrollout.api.swap import FailureClass
from weightrollout.controller import agents
from weightrollout.controller.act import streams
from weightrollout.controller.act.context import Context
from weightrollout.controller.act.supervisor import Supervisor
from weightrollout.controller.agent_view import ref_of
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Fence, Guard
from weightrollout.kube.revisions import Owner, RevisionRecord
from weightrollout.reading import own_revisions, published, revision_of
from weightrollout.rollout.actions import (
    Action,
    AdoptRevision,
    LabelPod,
    PruneRevision,
    PublishStable,
    PutIn,
    RecordRevision,
    Release,
    Reserve,
    RestartEngine,
    Stage,
    SwapPod,
    TakeOutPod,
)
from weightrollout.rollout.classify import TAKES_OUT
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    Doing,
    Ref,
    Retry,
    Verdict,
)
from weightrollout.wire.agent import agent_pb2 as pb

SOON = 5.0
DIGEST = "sha256:" + "a" * 64
REF = Ref("chat-1", "v1", "file:///m/", DIGEST)
TXN = "uid/chat-1/pod/1"
ROLLOUTS = "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts"
REVISIONS = "/apis/apps/v1/namespaces/ns/controllerrevisions"
Ground = Any  # tests/unit/controller/conftest.py


@dataclass
class Scene:
    """One pod, its agent, and our hands."""

    ground: Ground
    double: AgentDouble
    uid: str
    supervisor: Supervisor
    context: Context
    leading: list[bool]

    def start(self, action: Action) -> None:
        self.supervisor.start(self.context, [action])

    @property
    def work(self) -> set[Doing]:
        return {work.doing for work in self.supervisor.work("chat")}

    @property
    def failures(self) -> tuple[ActionFailure, ...]:
        return self.supervisor.failures("chat", 1, self.ground.world.clock.monotonic())

    async def done(self) -> None:
        await eventually(lambda: not self.work, SOON, "all actions have ended")


@asynccontextmanager
async def scene(ground: Ground) -> AsyncIterator[Scene]:
    double = AgentDouble()
    async with served(double) as target:
        ground.rollout()
        pod = ground.pod("chat-0", target)
        woken: list[str] = []
        agents = Agents(ground.world.clock, woken.append, ground.world.access)
        fence = Fence("uid", 3)
        agents.sync("chat", fence, ground.world.pods_of("chat"), first=True)
        leading = [True]
        guard = Guard(lambda: leading[0], lambda why: None)
        context = Context(ground.world, agents, guard, Owner("chat", "uid"), fence)
        supervisor = Supervisor(woken.append)
        supervisor.failures("chat", 1, 0.0)
        uid = pod["metadata"]["uid"]
        link = agents.link("chat", uid)
        assert link is not None
        await eventually(lambda: isinstance(link.seen, AgentView), SOON, "the agent is heard")
        try:
            yield Scene(ground, double, uid, supervisor, context, leading)
        finally:
            await supervisor.close()
            await agents.close()


def stage(uid: str, digest: str | None = DIGEST) -> Stage:
    weights = Ref(REF.revision, REF.version, REF.uri, digest)
    return Stage("chat-0", uid, weights, True, frozenset({DIGEST}), "NotStaged", "")


def reserve(uid: str) -> Reserve:
    return Reserve("chat-0", uid, TXN, REF, TakeOut.ENDPOINT, 30.0, "BudgetAllows", "")


def swap(uid: str) -> SwapPod:
    return SwapPod("chat-0", uid, TXN, 1, REF, PauseMode.KEEP, True, 60.0, 300.0, (), "Settled", "")


def restart(uid: str) -> RestartEngine:
    return RestartEngine("chat-0", uid, REF, "Poisoned", "")


def ended(outcome: str, failure_class: str = "", reason: str = "") -> pb.Transaction:
    return pb.Transaction(
        txn=TXN, outcome=outcome, failure_class=failure_class, reason=reason, pause_millis=12.0
    )


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ATTACH_S", (0.01, 0.02))


@pytest.mark.parametrize("begin", [reserve, swap, restart], ids=lambda each: each.__name__)
async def test_pod_whose_answer_was_lost_is_our_work_until_its_agent_has_spoken_again(
    ground: Ground, begin: Callable[[str], Action]
) -> None:
    """It may have acted: another pod must not be taken out on what it said before."""
    async with scene(ground) as here:
        here.double.answers_lost = True
        here.double.held.clear()
        here.start(begin(here.uid))
        await eventually(lambda: len(here.double.hellos) == 2, SOON, "it is asked where it stands")
        (doing,) = here.work
        assert doing in TAKES_OUT
        here.double.say(pb.AgentState(reservation=pb.Reservation(txn=TXN)))
        here.double.held.set()
        await here.done()
        seen = here.context.link(here.uid).seen
        assert isinstance(seen, AgentView)
        assert seen.reserved_txn == TXN
        assert [each.reason for each in here.failures] == ["AgentUnreachable"]


async def test_pod_whose_answer_was_lost_for_good_is_unreachable_when_our_work_ends(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents, "HELLO_S", 0.2)
    async with scene(ground) as here:
        here.double.answers_lost = True
        here.double.held.clear()
        here.start(reserve(here.uid))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        await here.done()
        assert here.context.link(here.uid).seen is AgentFault.UNREACHABLE
        here.double.held.set()


async def test_reserved_pod_is_our_work_until_the_agents_report_shows_it(ground: Ground) -> None:
    """In the gap between the answer and the report nobody would count the pod as out."""
    async with scene(ground) as here:
        here.start(reserve(here.uid))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        here.double.say(pb.AgentState(not_ready_reason="News"))
        assert await here.context.link(here.uid).until(
            lambda seen: seen.not_ready_reason == "News", SOON
        )
        assert here.work == {Doing.RESERVE}
        here.double.say(pb.AgentState(reservation=pb.Reservation(txn=TXN)))
        await here.done()
        (request,) = here.double.asked
        assert (request.take_out, request.fence.epoch) == (pb.TAKE_OUT_ENDPOINT, 3)


async def test_action_that_runs_is_not_started_a_second_time(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(reserve(here.uid))
        here.start(reserve(here.uid))
        here.double.say(pb.AgentState(reservation=pb.Reservation(txn=TXN)))
        await here.done()
        assert len(here.double.asked) == 1


@pytest.mark.parametrize("kind", ["Stage", "Swap"])
async def test_stream_that_is_cut_is_attached_again(ground: Ground, kind: str) -> None:
    async with scene(ground) as here:
        here.double.cuts = 2
        running = pb.Transaction(txn=TXN, phase="Draining")
        here.double.swap_progress = [
            pb.SwapProgress(transaction=running),
            pb.SwapProgress(transaction=ended("Committed")),
        ]
        here.double.stage_progress = [
            pb.StageProgress(bytes=1, total=2),
            pb.StageProgress(bytes=2, total=2, done=True, digest=DIGEST),
        ]
        here.start(stage(here.uid) if kind == "Stage" else swap(here.uid))
        here.double.say(pb.AgentState(staged=[DIGEST], transaction=ended("Committed")))
        await here.done()
        assert len(here.double.asked) == 3
        assert here.failures == ()


async def test_limit_of_a_staging_that_runs_is_told_and_not_waited_for(ground: Ground) -> None:
    async with scene(ground) as here:
        running = pb.StageProgress(bytes=1, total=2, max_bytes_per_second=5)
        here.double.stage_progress = [running]
        here.start(replace(stage(here.uid), joins=True, limit=5))
        here.double.say(pb.AgentState(staging=running))
        await here.done()
        assert [each.max_bytes_per_second for each in here.double.asked] == [5]
        assert here.failures == ()


async def test_stream_that_never_says_anything_is_given_up_as_the_environments_fault(
    ground: Ground,
) -> None:
    async with scene(ground) as here:
        here.start(stage(here.uid))
        await here.done()
        (failure,) = here.failures
        assert (failure.doing, failure.reason) == (Doing.STAGE, "AgentUnreachable")
        assert failure.failure_class is FailureClass.ENVIRONMENT
        assert len(here.double.asked) == streams.ATTACH


async def test_scouts_digest_is_shown_with_the_revision_that_asked(ground: Ground) -> None:
    async with scene(ground) as here:
        found = pb.StageProgress(done=True, digest=DIGEST, uri=REF.uri)
        here.double.stage_progress = [found]
        here.double.say(pb.AgentState(staged=[DIGEST]))
        here.start(stage(here.uid, digest=None))
        await here.done()
        link = here.context.link(here.uid)
        assert isinstance(link.seen, AgentView)
        assert link.seen.staging is not None
        assert (link.seen.staging.digest, link.seen.staging.revision) == (DIGEST, "chat-1")
        assert here.double.asked[0].weights.digest == ""


async def test_failure_in_the_agents_own_record_is_not_told_a_second_time(ground: Ground) -> None:
    async with scene(ground) as here:
        failed = ended("Undone", "Weights", "PromptFailed")
        here.double.swap_progress = [pb.SwapProgress(transaction=failed)]
        here.double.say(pb.AgentState(transaction=failed))
        here.start(swap(here.uid))
        await here.done()
        assert here.failures == ()


async def test_ended_swap_is_counted_with_class_and_reason(ground: Ground) -> None:
    async with scene(ground) as here:
        failed = ended("Undone", "Weights", "PromptFailed")
        here.double.swap_progress = [pb.SwapProgress(transaction=failed)]
        here.double.say(pb.AgentState(transaction=failed))
        here.start(swap(here.uid))
        await here.done()
        labels = {
            "namespace": "ns",
            "rollout": "chat",
            "outcome": "Undone",
            "class": "Weights",
            "reason": "PromptFailed",
        }
        registry = ground.world.metrics.registry
        assert registry.get_sample_value("weightrollout_swaps_total", labels) == 1
        name = "weightrollout_swap_pause_seconds_sum"
        assert registry.get_sample_value(
            name, {"namespace": "ns", "rollout": "chat"}
        ) == pytest.approx(0.012)


async def test_refusal_keeps_the_agents_own_reason_and_class(ground: Ground) -> None:
    async with scene(ground) as here:
        here.double.refusal = pb.Refusal(
            reason="NotStaged", message="no image of it", failure_class="Pod"
        )
        here.start(reserve(here.uid))
        await here.done()
        (failure,) = here.failures
        assert (failure.reason, failure.message) == ("NotStaged", "no image of it")
        assert failure.failure_class is FailureClass.POD


async def test_success_and_new_specs_forget_old_failures(ground: Ground) -> None:
    async with scene(ground) as here:
        here.double.refusal = pb.Refusal(reason="NotStaged", message="no image of it")
        here.start(reserve(here.uid))
        await here.done()
        assert len(here.failures) == 1
        assert here.supervisor.failures("chat", 2, 0.0) == ()
        here.start(reserve(here.uid))
        await here.done()
        here.double.refusal = None
        here.double.say(pb.AgentState(reservation=pb.Reservation(txn=TXN)))
        here.start(reserve(here.uid))
        await here.done()
        assert here.supervisor.failures("chat", 2, 0.0) == ()


@pytest.mark.parametrize("action", ["reserve", "swap", "put_in", "label", "record", "publish"])
async def test_process_that_does_not_lead_sends_nothing_and_blames_nobody(
    ground: Ground, action: str
) -> None:
    async with scene(ground) as here:
        here.leading[0] = False
        sent = len(ground.front.requests)
        actions: dict[str, Action] = {
            "reserve": reserve(here.uid),
            "swap": swap(here.uid),
            "put_in": PutIn("chat-0", here.uid, TXN, 1, REF, "Swapped", ""),
            "label": LabelPod("chat-0", here.uid, TXN, 1, REF, "Swapped", ""),
            "record": RecordRevision(REF, 1, True, None, "NewRevision", ""),
            "publish": PublishStable(REF, "StableChanged", ""),
        }
        here.start(actions[action])
        await here.done()
        assert here.double.asked == []
        writes = [verb for verb, _ in ground.front.requests[sent:] if verb != "GET"]
        assert writes == []
        assert here.failures == ()


async def test_restart_to_the_baseline_is_the_empty_message(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(RestartEngine("chat-0", here.uid, Ref("baseline", "default"), "Poisoned", ""))
        await here.done()
        (request,) = here.double.asked
        assert request.serve == pb.Weights()


async def test_ignored_metadata_reaches_the_agent_the_history_and_the_pods_that_come_later(
    ground: Ground,
) -> None:
    ref = replace(REF, metadata=Metadata.IGNORE)
    async with scene(ground) as here:
        here.start(replace(stage(here.uid), weights=ref))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        here.start(RecordRevision(ref, 1, True, None, "NewRevision", ""))
        here.start(PublishStable(ref, "StableChanged", ""))
        await eventually(lambda: ground.world.stables.get("chat.weightrollout"), SOON, "published")
        await eventually(lambda: ground.world.revisions.get("chat-1"), SOON, "recorded")
        assert here.double.asked[0].weights.metadata == pb.METADATA_IGNORE
        assert ref_of(here.double.asked[0].weights) == ref
        assert revision_of(ground.world.revisions.get("chat-1")).ref == ref
        assert published(ground.world.stables.get("chat.weightrollout")) == ref


async def test_every_kind_of_expectation_reaches_the_agent(ground: Ground) -> None:
    expected = (Expect(contains="4"), Expect(regex="^4"), Expect(token_ids=(19, 7)))
    prompts = tuple(Prompt(prompt="2+2=", max_tokens=4, expect=each) for each in expected)
    async with scene(ground) as here:
        here.start(replace(swap(here.uid), prompts=prompts))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        request = pb.SwapRequest.FromString(here.double.asked[0].SerializeToString())
        asked = swap_request(request, None).prompts
    assert asked == prompts


async def test_release_ends_when_the_reservation_is_gone(ground: Ground) -> None:
    async with scene(ground) as here:
        here.double.say(pb.AgentState(reservation=pb.Reservation(txn=TXN)))
        here.start(Release("chat-0", here.uid, TXN, "Superseded", ""))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        here.double.say(pb.AgentState())
        await here.done()


async def test_put_in_and_take_out_need_one_write_each(ground: Ground) -> None:
    async with scene(ground) as here:
        sent = len(ground.front.requests)
        here.start(PutIn("chat-0", here.uid, TXN, 1, REF, "Swapped", ""))
        await here.done()
        here.start(
            TakeOutPod("chat-0", here.uid, "next", "Reserved", "")
        )  # not gated: nothing to do
        await here.done()
        assert [verb for verb, _ in ground.front.requests[sent:]] == ["PATCH"]
        known = ground.world.pods.get("chat-0")
        assert known is not None
        assert known.version_label == "v1"
        assert '"epoch":3' in known.swap_annotation


async def test_late_label_never_opens_a_gate_that_was_shut_meanwhile(ground: Ground) -> None:
    shut = {"type": names.GATE_SERVING, "status": "False", "reason": "Reserved"}
    path = "/api/v1/namespaces/ns/pods"
    async with scene(ground) as here:
        body = ground.front.objects[f"{path}/chat-0"]
        gates = [{"conditionType": names.GATE_SERVING}]
        gated = {
            **body,
            "spec": {**body["spec"], "readinessGates": gates},
            "status": {**body.get("status", {}), "conditions": [shut]},
        }
        ground.world.pods.learn(ground.front.put(path, gated))
        here.start(LabelPod("chat-0", here.uid, TXN, 1, REF, "Swapped", ""))
        await here.done()
        known = ground.world.pods.get("chat-0")
        assert known is not None
        assert known.gate is not None
        assert (known.version_label, known.gate.open) == ("v1", False)


async def test_action_on_a_pod_that_is_gone_blames_nobody(ground: Ground) -> None:
    async with scene(ground) as here:
        ground.front.remove("/api/v1/namespaces/ns/pods/chat-0")
        here.start(PutIn("chat-0", here.uid, TXN, 1, REF, "Swapped", ""))
        await here.done()
        assert here.failures == ()
        assert ground.world.pods.get("chat-0") is None


async def test_verdict_of_a_revision_survives_news_without_one(ground: Ground) -> None:
    async with scene(ground) as here:
        for verdict, reason in (
            (None, "NewRevision"),
            (Verdict.VERIFIED, "AllPodsVerified"),
            (None, "x"),
        ):
            here.start(RecordRevision(REF, 1, True, verdict, reason, ""))
            await here.done()
        record = ground.world.revisions.get("chat-1")
        assert record is not None
        assert record.verdict == "Verified"
        assert record.given_digest == DIGEST


async def test_retry_takes_a_verdict_back_and_later_news_keeps_both(ground: Ground) -> None:
    retry = Retry("retry:chat-1@n", 2, 7)
    again = RecordRevision(REF, 1, True, None, "Retried", "", retry)
    async with scene(ground) as here:
        here.start(RecordRevision(REF, 1, True, Verdict.REJECTED, "Aborted", ""))
        await here.done()
        here.start(again)
        await here.done()
        record = ground.world.revisions.get("chat-1")
        assert record is not None
        assert (record.verdict, revision_of(record).retry) == ("", retry)
        for action in (replace(again, verdict=Verdict.REJECTED), replace(again, reason="x")):
            here.start(action)
            await here.done()
        record = ground.world.revisions.get("chat-1")
        assert record is not None
        assert (record.verdict, revision_of(record).retry) == ("Rejected", retry)


async def test_revision_is_deleted_only_as_it_was_planned(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(RecordRevision(REF, 7, True, None, "NewRevision", ""))
        await here.done()
        here.start(PruneRevision("chat-1", 3, "HistoryFull", "it has come back since"))
        await here.done()
        assert ground.world.revisions.get("chat-1") is not None
        here.leading[0] = False
        here.start(PruneRevision("chat-1", 7, "HistoryFull", "not ours to do any more"))
        await here.done()
        assert ground.world.revisions.get("chat-1") is not None
        here.leading[0] = True
        here.start(PruneRevision("chat-1", 7, "HistoryFull", ""))
        await here.done()
        assert ground.world.revisions.get("chat-1") is None
        assert here.failures == ()


async def test_verdict_of_a_deleted_rollout_says_nothing_about_the_one_of_its_name(
    ground: Ground,
) -> None:
    async with scene(ground) as here:
        here.start(RecordRevision(REF, 1, True, Verdict.VERIFIED, "AllPodsVerified", ""))
        await here.done()
        ground.front.remove(f"{ROLLOUTS}/chat")
        stored = ground.rollout()
        again = replace(here.context, owner=Owner("chat", stored["metadata"]["uid"]))
        here.supervisor.start(again, [RecordRevision(REF, 1, True, None, "NewRevision", "")])
        await here.done()
        record = ground.world.revisions.get("chat-1")
        assert record is not None
        assert (record.owner_uid, record.verdict) == (stored["metadata"]["uid"], "")


async def orphan(here: Scene) -> RevisionRecord:
    """What `kubectl delete --cascade=orphan` leaves behind, in the server and in our picture."""
    here.start(RecordRevision(REF, 3, True, Verdict.REJECTED, "PromptFailed", "chat-0: no 4"))
    await here.done()
    body = here.ground.front.objects[f"{REVISIONS}/chat-1"]
    del body["metadata"]["ownerReferences"]
    here.ground.world.revisions.learn(here.ground.front.put(REVISIONS, body))
    record: RevisionRecord | None = here.ground.world.revisions.get("chat-1")
    assert record is not None
    assert not revision_of(record).owned
    return record


ADOPT = AdoptRevision("chat-1", 3, "Orphaned", "")


async def test_record_that_was_left_behind_becomes_ours_and_says_what_it_said(
    ground: Ground,
) -> None:
    async with scene(ground) as here:
        before = await orphan(here)
        stored = ground.rollout()
        context = replace(here.context, owner=Owner("chat", stored["metadata"]["uid"]))
        here.supervisor.start(context, [ADOPT])
        await here.done()
        after = ground.world.revisions.get("chat-1")
        assert after is not None
        assert after.owner_uid == stored["metadata"]["uid"]
        assert replace(after, owner_uid="", resource_version=before.resource_version) == before
        assert here.failures == ()


@pytest.mark.parametrize("gone", ["deleted", "created again", "being deleted"])
async def test_record_without_an_owner_is_not_adopted_by_one_that_is_gone(
    ground: Ground, gone: str
) -> None:
    """A picture that lags behind: the garbage collector would delete what was to be left behind."""
    async with scene(ground) as here:
        await orphan(here)
        stored = ground.rollout()
        context = replace(here.context, owner=Owner("chat", stored["metadata"]["uid"]))
        if gone == "being deleted":
            stored["metadata"]["deletionTimestamp"] = "2026-11-30T10:00:00Z"
            ground.front.put(ROLLOUTS, stored)
        else:
            ground.front.remove(f"{ROLLOUTS}/chat", silently=True)
        if gone == "created again":
            ground.front.put(ROLLOUTS, {**stored, "metadata": {"name": "chat", "namespace": "ns"}})
        record = RecordRevision(REF, 3, True, Verdict.VERIFIED, "AllPodsVerified", "")
        here.supervisor.start(context, [ADOPT, record])
        await here.done()
        assert "ownerReferences" not in ground.front.objects[f"{REVISIONS}/chat-1"]["metadata"]
        assert len(here.failures) == 2


async def test_record_that_somebody_wrote_since_it_was_left_behind_is_read_first(
    ground: Ground,
) -> None:
    async with scene(ground) as here:
        await orphan(here)
        stored = ground.rollout()
        context = replace(here.context, owner=Owner("chat", stored["metadata"]["uid"]))
        written = ground.front.put(REVISIONS, ground.front.objects[f"{REVISIONS}/chat-1"])
        here.supervisor.start(context, [ADOPT])
        await here.done()
        assert here.failures == ()
        read = ground.world.revisions.get("chat-1")
        assert read is not None
        assert (read.owner_uid, read.resource_version) == (
            "",
            int(written["metadata"]["resourceVersion"]),
        )


async def test_record_that_was_deleted_meanwhile_is_forgotten_and_blames_nobody(
    ground: Ground,
) -> None:
    """By the garbage collector, once its WeightRollout was deleted."""
    async with scene(ground) as here:
        here.start(RecordRevision(REF, 1, True, None, "NewRevision", ""))
        await here.done()
        ground.front.remove(f"{REVISIONS}/chat-1", silently=True)
        ground.front.fault = lambda request: (
            refusal(409, "Conflict") if request.method == "PATCH" else None
        )
        here.start(RecordRevision(REF, 1, True, Verdict.VERIFIED, "AllPodsVerified", ""))
        await here.done()
        assert here.failures == ()
        assert ground.world.revisions.get("chat-1") is None


@pytest.mark.parametrize("known", [False, True])
async def test_record_that_is_refused_although_nobody_wrote_is_a_failure_with_a_pause(
    ground: Ground, known: bool
) -> None:
    """Taken for somebody else's write it would be repeated as fast as it is refused."""
    async with scene(ground) as here:
        if known:
            here.start(RecordRevision(REF, 1, True, None, "NewRevision", ""))
            await here.done()
        ground.front.fault = lambda request: (
            refusal(409, "Conflict") if request.method == "PATCH" else None
        )
        here.start(RecordRevision(REF, 1, True, Verdict.VERIFIED, "AllPodsVerified", ""))
        await here.done()
        assert [each.reason for each in here.failures] == ["ApiServerConflict"]


async def test_record_that_somebody_else_wrote_is_read_and_blames_nobody(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(RecordRevision(REF, 1, True, None, "NewRevision", ""))
        await here.done()
        written = ground.front.put(REVISIONS, ground.front.objects[f"{REVISIONS}/chat-1"])
        here.start(RecordRevision(REF, 1, True, Verdict.VERIFIED, "AllPodsVerified", ""))
        await here.done()
        assert here.failures == ()
        read = ground.world.revisions.get("chat-1")
        assert read is not None
        assert read.resource_version == int(written["metadata"]["resourceVersion"])


async def test_leader_that_ended_while_it_looked_creates_no_record(ground: Ground) -> None:
    """It would wipe what the next leader has written to it: nothing is there to compare with."""

    def lose_the_lease(request: web.Request) -> None:
        if request.method == "GET" and request.path == f"{REVISIONS}/chat-1":
            here.leading[0] = False

    async with scene(ground) as here:
        ground.front.fault = lose_the_lease
        here.start(RecordRevision(REF, 1, True, None, "NewRevision", ""))
        await here.done()
        assert f"{REVISIONS}/chat-1" not in ground.front.objects


def test_history_of_a_stateful_set_is_not_ours(ground: Ground) -> None:
    """Its ControllerRevisions carry the labels of its pods, and so our name."""
    owner = {"kind": "StatefulSet", "name": "chat", "uid": "sts", "controller": True}
    for number, owners in enumerate(([owner], [])):
        metadata = {
            "name": f"chat-{number}",
            "labels": {"weightrollout.dev/name": "chat"},
            "ownerReferences": owners,
        }
        body = {"metadata": metadata, "data": {"spec": {"template": {}}}, "revision": 7}
        ground.world.revisions.learn(ground.front.put(REVISIONS, body))
    assert list(own_revisions(ground.world.revisions.all(), "chat", "uid")) == []


async def test_swap_of_a_pod_that_is_gone_ends_without_a_surprise(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(swap(here.uid))
        await eventually(lambda: here.double.asked, SOON, "it was asked")
        here.context.agents.sync("chat", here.context.fence, [], first=False)
        await here.done()
        (failure,) = here.failures
        assert failure.reason == "AgentUnreachable"


async def test_ended_term_stops_following_at_once(ground: Ground) -> None:
    async with scene(ground) as here:
        here.start(swap(here.uid))
        await here.supervisor.close()
        assert here.work == set()
