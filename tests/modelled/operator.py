"""A small operator for one pod: level-based as the real one, in as many lines as one pod needs.

The matrix runs it ten thousand times; the planner itself drives the fleets of `planned`.
"""

import asyncio
from dataclasses import dataclass
from typing import Final

from modelled.calls import Lost, call
from modelled.pod import ModelPod
from modelled.strikes import Process
from weightrollout.agent.fence import Fence
from weightrollout.agent.reasons import Refused
from weightrollout.agent.stable import Stable
from weightrollout.api.spec import PauseMode, Prompt, TakeOut
from weightrollout.api.swap import FailureClass
from weightrollout.swap.book import Reservation
from weightrollout.swap.records import Content, SwapRequest

LOOK_S: Final = 0.25
RESTART_S: Final = 0.5
TTL_S: Final = 30.0
RETRIES: Final = 6


@dataclass
class Cluster:
    """What outlives an operator: the status of the WeightRollout."""

    target: Content
    stable: Content
    take_out: TakeOut
    epoch: int = 0
    rejected: bool = False

    @property
    def goal(self) -> Content:
        return self.stable if self.rejected else self.target

    def published(self) -> Stable:
        return Stable(self.stable)


class ModelOperator(Process):
    def __init__(self, cluster: Cluster, pod: ModelPod, settle_s: float) -> None:
        super().__init__("operator")
        self._cluster = cluster
        self._pod = pod
        self._settle_s = settle_s
        self._mark = Fence("cr", 0)

    def start(self) -> None:
        self.spawn(self._run())

    async def _run(self) -> None:
        while True:
            try:
                await self._take_over()
                while True:
                    await self._step()
                    await asyncio.sleep(LOOK_S)
            except (Lost, Refused) as error:
                self._pod.ground.boundaries.say(f"operator hears: {error}")
                await asyncio.sleep(LOOK_S)

    async def _take_over(self) -> None:
        epoch = max(self._cluster.epoch, self._pod.disk.book.epoch) + 1
        self._cross("operator is about to write its epoch")
        self._cluster.epoch = epoch
        self._cross("operator has written its epoch")
        self._mark = mark = Fence("cr", epoch)
        await call(self, self._pod, "Hello", lambda agent: agent.hello(mark))

    async def _step(self) -> None:
        pod, goal, mark = self._pod, self._cluster.goal, self._mark
        agent, book = pod.agent, pod.agent.book
        if not agent.alive or not pod.engine.up or agent.live is not None:
            return
        agent.look()
        self._judge()
        if book.poisoned == pod.engine.instance:
            await self._restart_engine(self._cluster.stable)
        elif book.reservation is not None:
            await self._swap_or_release(book.reservation)
        elif agent.serving is not None and agent.serving.same_weights(goal):
            self._put_in(goal)
        elif goal.is_baseline:
            await self._restart_engine(goal)
        elif goal.digest not in pod.disk.staged:
            await call(self, pod, "Stage", lambda it: it.stage(mark, goal))
        else:
            wish = Reservation(self._txn(), self._cluster.take_out, TTL_S, goal)
            await call(self, pod, "Reserve", lambda it: it.reserve(mark, wish))

    async def _swap_or_release(self, reservation: Reservation) -> None:
        pod, goal, mark = self._pod, self._cluster.goal, self._mark
        if reservation.txn != self._txn() or not reservation.weights.same_weights(goal):
            txn = reservation.txn
            await call(self, pod, "Release", lambda it: it.release(mark, txn))
            return
        if self._cluster.take_out is TakeOut.ENDPOINT:
            waited = pod.ground.clock.monotonic() - pod.unready_since
            if pod.ready or waited < self._settle_s:
                return
        attempt = self._attempt()
        request = swap_request(reservation.txn, attempt, goal)
        await call(self, pod, "Swap", lambda it: it.swap(mark, request))

    async def _restart_engine(self, serve: Content) -> None:
        mark = self._mark
        await call(self, self._pod, "RestartEngine", lambda it: it.restart_engine(mark, serve))

    def _put_in(self, goal: Content) -> None:
        if self._pod.ready and self._pod.label != goal.version:
            self._cross("operator is about to put in")
            self._pod.label = goal.version
            self._cross("operator has put in")

    def _judge(self) -> None:
        """Rejected at once for its prompts; for the pod's own failures when the retries are used up."""
        cluster, book = self._cluster, self._pod.disk.book
        last = book.finished[0] if book.finished else None
        if last is None or cluster.rejected or not last.weights.same_weights(cluster.target):
            return
        tried = next((it for it in book.attempts if it.digest == cluster.target.digest), None)
        worn = tried is not None and tried.failure is not None and tried.attempts > RETRIES
        wrong = last.failure is not None and last.failure.failure_class is FailureClass.WEIGHTS
        if worn or wrong:
            self._cross("operator is about to reject")
            cluster.rejected = True
            self._cross("operator has rejected")

    def _attempt(self) -> int:
        finished = self._pod.agent.book.finished
        return finished[0].attempt + 1 if finished else 1

    def _txn(self) -> str:
        return f"cr/{self._cluster.goal.revision}/{self._pod.name}/{self._attempt()}"

    def _cross(self, where: str) -> None:
        self._pod.ground.boundaries.cross(where, self._pod.name, by=self)


def swap_request(txn: str, attempt: int, target: Content) -> SwapRequest:
    prompt = Prompt.model_validate({"prompt": "2+2=", "expect": {"contains": "right"}})
    return SwapRequest(
        txn=txn,
        attempt=attempt,
        target=target,
        last_good=None,  # the agent knows
        pause_mode=PauseMode.KEEP,
        clear_cache=True,
        drain_s=1.0,
        deadline_s=20.0,
        prompts=(prompt,),
    )
