"""An operator around the real planner: it observes, plans, and its actions are calls that can be cut.

What an operator remembers dies with it. What outlives it is in `FleetCluster`: revisions, status,
the fleet ConfigMap, and what pods show.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from modelled.agent import ModelAgent
from modelled.calls import Lost, call
from modelled.pod import ModelPod
from modelled.strikes import Boundaries, Process
from weightrollout.agent import wire_form
from weightrollout.agent.fence import Fence
from weightrollout.agent.reasons import Refused
from weightrollout.agent.stable import ABSENT, Stable
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.api.swap import FailureClass
from weightrollout.controller.agent_view import agent_view
from weightrollout.rollout.actions import (
    Action,
    Announce,
    LabelPod,
    PublishStable,
    PutIn,
    RecordRevision,
    Release,
    Reserve,
    RestartEngine,
    Shown,
    Stage,
    SwapPod,
)
from weightrollout.rollout.classify import TAKES_OUT
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    Doing,
    Fleet,
    Memory,
    PodView,
    Ref,
    Revision,
    Work,
)
from weightrollout.rollout.plan import plan
from weightrollout.rollout.revisions import find
from weightrollout.swap.book import Reservation
from weightrollout.swap.records import BASELINE, Content, SwapRequest

LOOK_S: Final = 0.25
#: So long what an agent said stands although it is dead: nothing tells sooner that its stream is cut.
STALE_S: Final = 0.6

Job = Callable[[], Coroutine[None, None, None]]


@dataclass
class FleetCluster:
    spec: WeightRolloutSpec
    revisions: tuple[Revision, ...] = ()
    status: WeightRolloutStatus = field(default_factory=WeightRolloutStatus)
    published: Ref | None = None
    epoch: int = 0

    def stable(self) -> Stable:
        return ABSENT if self.published is None else Stable(content_of(self.published))

    def record(self, action: RecordRevision) -> None:
        others = [each for each in self.revisions if each.ref.revision != action.ref.revision]
        old = find(self.revisions, action.ref.revision)
        verdict = action.verdict or (old.verdict if old else None)
        new = Revision(
            action.ref, action.number, action.digest_given, verdict, action.reason, action.message
        )
        self.revisions = (*others, new)


class PlannedOperator(Process):
    def __init__(
        self, cluster: FleetCluster, pods: Sequence[ModelPod], boundaries: Boundaries
    ) -> None:
        super().__init__("operator")
        self._cluster = cluster
        self._pods = {pod.name: pod for pod in pods}
        self._boundaries = boundaries
        self._mark = Fence("cr", 0)
        self._linked: dict[str, ModelAgent] = {}  # said Hello to this process
        self._said: dict[str, tuple[float, AgentView]] = {}  # when, and what
        self._memory = Memory()
        self._work: set[Work] = set()
        self._failures: dict[tuple[Doing, str], ActionFailure] = {}

    def start(self) -> None:
        self.spawn(self._lead())

    async def _lead(self) -> None:
        known = (pod.disk.book.epoch for pod in self._pods.values())
        epoch = max(self._cluster.epoch, *known) + 1
        self._cross("is about to write its epoch")
        self._cluster.epoch = epoch
        self._cross("has written its epoch")
        self._mark = Fence("cr", epoch)
        while True:
            for pod in self._pods.values():
                await self._link(pod)
            self._one_pass()
            await asyncio.sleep(LOOK_S)

    async def _link(self, pod: ModelPod) -> None:
        if not pod.agent.alive or self._linked.get(pod.name) is pod.agent:
            return
        mark, agent = self._mark, pod.agent
        try:
            await call(self, pod, "Hello", lambda it: it.hello(mark))
        except (Lost, Refused) as error:
            self._boundaries.say(f"operator hears: {error}")
        else:
            self._linked[pod.name] = agent

    # -- observe --------------------------------------------------------------------------

    def _one_pass(self) -> None:
        cluster = self._cluster
        now = asyncio.get_running_loop().time()
        planned = plan(
            Fleet(
                namespace="default",
                name="chat",
                uid="cr",
                generation=1,
                spec=cluster.spec,
                status=cluster.status,
                revisions=cluster.revisions,
                pods=tuple(self._view(pod) for pod in self._pods.values()),
                work=frozenset(self._work),
                now=now,
                wall=f"t={now:g}",
                epoch=self._mark.epoch,
                failures=tuple(self._failures.values()),
                published=cluster.published,
                memory=self._memory,
            )
        )
        cluster.status, self._memory = planned.status, planned.memory
        for action in planned.actions:
            if not isinstance(action, Announce):
                self._boundaries.say(f"plan: {type(action).__name__}: {action.message}")
                self._begin(action)

    def _view(self, pod: ModelPod) -> PodView:
        return PodView(
            name=pod.name,
            uid=pod.name,
            agent=self._agent(pod),
            ready=pod.ready,
            running=True,
            terminating=False,
            gated=False,
            gate_open=None,
            version_label=pod.label,
            put_in_txn=pod.put_in_txn,
        )

    def _agent(self, pod: ModelPod) -> AgentView | AgentFault:
        now = asyncio.get_running_loop().time()
        if self._speaks(pod):
            self._said[pod.name] = (now, self._listen(pod))
        said_at, said = self._said.get(pod.name, (-STALE_S, AgentFault.UNREACHABLE))
        return said if now < said_at + STALE_S else AgentFault.UNREACHABLE

    def _speaks(self, pod: ModelPod) -> bool:
        return pod.agent.alive and self._linked.get(pod.name) is pod.agent

    def _listen(self, pod: ModelPod) -> AgentView:
        agent = pod.agent
        agent.look()
        board, now = agent.board, agent.around.clock.monotonic()
        board.reserved_until = now + 1
        state = wire_form.agent_state(
            agent.book, board, agent.sight, reachable=pod.engine.up, now=now
        )
        return agent_view(state)

    async def _heard_again(self, pod: ModelPod) -> None:
        """It has answered since, or it is known to be silent."""
        while not self._speaks(pod) and isinstance(self._agent(pod), AgentView):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)

    # -- act ------------------------------------------------------------------------------

    def _begin(self, action: Action) -> None:
        doing, job = self._job(action)
        revision = getattr(getattr(action, "weights", None), "revision", "")
        work = Work(doing, getattr(action, "pod_uid", ""), revision)
        self._work.add(work)
        self.spawn(self._supervise(work, job))

    async def _supervise(self, work: Work, job: Job) -> None:
        key = (work.doing, work.pod_uid)
        try:
            await job()
        except (Lost, Refused) as error:
            self._boundaries.say(f"operator hears: {error}")
            if isinstance(error, Lost) and work.doing in TAKES_OUT:
                await self._heard_again(self._pods[work.pod_uid])
            now = asyncio.get_running_loop().time()
            self._failures[key] = ActionFailure(
                work.doing, work.pod_uid, FailureClass.ENVIRONMENT, "CallFailed", str(error), now
            )
        else:
            self._failures.pop(key, None)
        self._work.discard(work)

    def _job(self, action: Action) -> tuple[Doing, Job]:
        match action:
            case RecordRevision():
                return Doing.RECORD_REVISION, partial(self._record, action)
            case PublishStable():
                return Doing.PUBLISH_STABLE, partial(self._publish, action)
            case PutIn():
                return Doing.PUT_IN, partial(self._put_in, action)
            case LabelPod():
                return Doing.LABEL, partial(self._put_in, action)
            case Stage():
                return Doing.STAGE, partial(self._stage, action)
            case Reserve():
                return Doing.RESERVE, partial(self._reserve, action)
            case SwapPod():
                return Doing.SWAP, partial(self._swap, action)
            case Release():
                return Doing.RELEASE, partial(self._release, action)
            case RestartEngine():
                return Doing.RESTART_ENGINE, partial(self._restart_engine, action)
            case _:
                raise AssertionError(f"nobody plans {action} here")

    async def _stage(self, action: Stage) -> None:
        mark, want = self._mark, content_of(action.weights)
        await call(self, self._pods[action.pod], "Stage", lambda it: it.stage(mark, want))

    async def _reserve(self, action: Reserve) -> None:
        mark, want = self._mark, content_of(action.weights)
        wish = Reservation(action.txn, action.take_out, action.ttl_s, want)
        await call(self, self._pods[action.pod], "Reserve", lambda it: it.reserve(mark, wish))

    async def _release(self, action: Release) -> None:
        mark = self._mark
        await call(self, self._pods[action.pod], "Release", lambda it: it.release(mark, action.txn))

    async def _restart_engine(self, action: RestartEngine) -> None:
        mark, serve, pod = self._mark, content_of(action.serve), self._pods[action.pod]
        await call(self, pod, "RestartEngine", lambda it: it.restart_engine(mark, serve))

    async def _swap(self, action: SwapPod) -> None:
        """Begins; the end is seen in the agent's state, as after a cut stream."""
        mark, pod, request = self._mark, self._pods[action.pod], request_of(action)
        await call(self, pod, "Swap", lambda it: it.swap(mark, request))

    async def _record(self, action: RecordRevision) -> None:
        self._cross(f"is about to record {action.reason}")
        self._cluster.record(action)
        self._cross(f"has recorded {action.reason}")

    async def _publish(self, action: PublishStable) -> None:
        self._cross("is about to publish stable")
        self._cluster.published = None if action.stable.is_baseline else action.stable
        self._cross("has published stable")

    async def _put_in(self, action: Shown) -> None:
        self._cross(f"is about to put {action.pod} in")
        pod = self._pods[action.pod]
        pod.label, pod.put_in_txn = action.serving.version, action.txn
        self._cross(f"has put {action.pod} in")

    def _cross(self, where: str) -> None:
        self._boundaries.cross(f"operator {where}", "fleet", by=self)


def content_of(ref: Ref) -> Content:
    if ref.is_baseline:
        return BASELINE
    return Content(
        ref.revision, ref.version, ref.uri, ref.digest or "", metadata=ref.metadata, draft=ref.draft
    )


def request_of(action: SwapPod) -> SwapRequest:
    return SwapRequest(
        txn=action.txn,
        attempt=action.attempt,
        target=content_of(action.weights),
        last_good=None,  # the agent knows
        pause_mode=action.pause_mode,
        clear_cache=action.clear_cache,
        drain_s=action.drain_s,
        deadline_s=action.deadline_s,
        prompts=action.prompts,
    )
