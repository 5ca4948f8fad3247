"""Run actions as supervised tasks: what runs is Work, what failed is ActionFailure, both observed.

An action that is under way is never started a second time. When one ends its rollout is woken.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Final, assert_never

from weightrollout.api.swap import FailureClass
from weightrollout.controller.act.adopt_revision import adopt_revision
from weightrollout.controller.act.announce import announce
from weightrollout.controller.act.context import Context
from weightrollout.controller.act.evict import evict
from weightrollout.controller.act.measure import measure
from weightrollout.controller.act.prune_revision import prune_revision
from weightrollout.controller.act.publish_stable import publish_stable
from weightrollout.controller.act.put_in import label, put_in
from weightrollout.controller.act.record_revision import record_revision
from weightrollout.controller.act.release import release
from weightrollout.controller.act.reserve import reserve
from weightrollout.controller.act.restart_engine import restart_engine
from weightrollout.controller.act.stage import stage
from weightrollout.controller.act.swap import swap
from weightrollout.controller.act.take_out import take_out
from weightrollout.controller.calls import AgentCallFailed, AgentRefusedCall, AgentUnreachable
from weightrollout.controller.leader import NotLeading
from weightrollout.kube.errors import KubeError
from weightrollout.kube.podwrites import PodGone
from weightrollout.metrics import ACTIONS
from weightrollout.rollout.actions import (
    Action,
    AdoptRevision,
    Announce,
    EvictPod,
    LabelPod,
    Measure,
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
from weightrollout.rollout.fleet import ActionFailure, Doing, Work

FORGET_S: Final = 600.0  # one that was never tried again says nothing any more

log = logging.getLogger(__name__)

Job = Coroutine[None, None, None]


class Supervisor:
    """The actions of one term."""

    def __init__(self, wake: Callable[[str], None]) -> None:
        self._wake = wake
        self._running: dict[str, dict[Work, asyncio.Task[None]]] = {}  # by rollout
        self._failures: dict[str, dict[tuple[Doing, str], ActionFailure]] = {}
        self._generations: dict[str, int] = {}

    def work(self, rollout: str) -> frozenset[Work]:
        return frozenset(self._running.get(rollout, ()))

    def failures(self, rollout: str, generation: int, now: float) -> tuple[ActionFailure, ...]:
        """The newest per action and pod. A new spec is a new try: it forgets them. So does time."""
        if self._generations.get(rollout) != generation:
            self._generations[rollout] = generation
            self._failures.pop(rollout, None)
        known = self._failures.get(rollout, {}).values()
        return tuple(failure for failure in known if now - failure.at < FORGET_S)

    def start(self, context: Context, actions: Iterable[Action]) -> None:
        for action in actions:
            if isinstance(action, Announce):
                announce(context, action)
                continue
            work = work_of(action)
            running = self._running.setdefault(context.owner.name, {})
            if work not in running:
                log.info(
                    "%s: %s %s: %s: %s",
                    context.title,
                    work.doing,
                    getattr(action, "pod", "") or work.revision,
                    action.reason,
                    action.message,
                )
                running[work] = asyncio.create_task(
                    self._supervise(context, work, action), name=f"{work.doing} {work.pod_uid}"
                )

    @property
    def idle(self) -> bool:
        return not self._running

    def forget(self, rollout: str) -> None:
        for task in self._running.pop(rollout, {}).values():
            task.cancel()
        self._failures.pop(rollout, None)
        self._generations.pop(rollout, None)

    async def close(self) -> None:
        """What runs in agents goes on there; only we stop looking."""
        tasks = [task for running in self._running.values() for task in running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._running.clear()

    async def _supervise(self, context: Context, work: Work, action: Action) -> None:
        rollout, failure = context.owner.name, None
        try:
            await job_of(context, action)
        except (NotLeading, PodGone):
            pass  # not ours to do any more, or nobody left to do it to
        except (AgentCallFailed, KubeError) as error:
            failure = _failure(context, work, error)
            if isinstance(error, AgentRefusedCall):
                _tell_refusal(context, work, error)
            if isinstance(error, AgentUnreachable) and work.doing in TAKES_OUT:
                # It may have acted: until it has spoken again the pod counts as out by this work.
                await _heard_again(context, work)
        except Exception as error:
            log.exception("%s: %s failed in a way nobody foresaw", context.title, work.doing)
            failure = _failure(context, work, error)
        finally:
            self._running.get(rollout, {}).pop(work, None)
        self._note(context, work, failure)
        self._wake(rollout)

    def _note(self, context: Context, work: Work, failure: ActionFailure | None) -> None:
        failures = self._failures.setdefault(context.owner.name, {})
        key = (work.doing, work.pod_uid)
        if failure is None:
            failures.pop(key, None)
        else:
            failures[key] = failure
            log.warning(
                "%s: %s: %s: %s", context.title, work.doing, failure.reason, failure.message
            )
        reason = failure.reason if failure is not None else ""
        context.world.metrics.counter(ACTIONS).labels(work.doing.value, reason).inc()


def _tell_refusal(context: Context, work: Work, refused: AgentRefusedCall) -> None:
    """It may have been our token: the next call needs another one then."""
    link = context.agents.link(context.owner.name, work.pod_uid)
    if link is not None:
        link.refused(refused)


async def _heard_again(context: Context, work: Work) -> None:
    link = context.agents.link(context.owner.name, work.pod_uid)
    if link is not None:
        await link.heard_again()


def _failure(context: Context, work: Work, error: Exception) -> ActionFailure:
    """All but an agent's own verdict is the environment's fault: nothing was proven about the pod."""
    failure_class, reason = FailureClass.ENVIRONMENT, "InternalError"
    if isinstance(error, AgentCallFailed | KubeError):
        reason = error.reason
    if isinstance(error, AgentRefusedCall) and error.failure_class is not None:
        failure_class = error.failure_class
    now = context.world.clock.monotonic()
    message = str(error) or repr(error)
    return ActionFailure(
        work.doing, work.pod_uid, failure_class, reason, message, now, work.revision
    )


def work_of(action: Action) -> Work:
    match action:
        case Stage():
            doing = Doing.PACE if action.joins else Doing.STAGE
            return Work(doing, action.pod_uid, action.weights.revision)
        case Reserve():
            return Work(Doing.RESERVE, action.pod_uid, action.weights.revision)
        case TakeOutPod():
            return Work(Doing.TAKE_OUT, action.pod_uid)
        case SwapPod():
            return Work(Doing.SWAP, action.pod_uid, action.weights.revision)
        case PutIn():
            return Work(Doing.PUT_IN, action.pod_uid, action.serving.revision)
        case LabelPod():
            return Work(Doing.LABEL, action.pod_uid)
        case Release():
            return Work(Doing.RELEASE, action.pod_uid)
        case RestartEngine():
            return Work(Doing.RESTART_ENGINE, action.pod_uid, action.serve.revision)
        case EvictPod():
            return Work(Doing.EVICT, action.pod_uid)
        case RecordRevision():
            return Work(Doing.RECORD_REVISION, "", action.ref.revision)
        case PublishStable():
            return Work(Doing.PUBLISH_STABLE, "", action.stable.revision)
        case PruneRevision():
            return Work(Doing.PRUNE_REVISION, "", action.revision)
        case AdoptRevision():
            return Work(Doing.ADOPT_REVISION, "", action.revision)
        case Measure():
            return Work(Doing.MEASURE, "", action.revision)
        case Announce():
            raise TypeError("an announcement is posted, not worked on")
        case _:
            assert_never(action)


def job_of(context: Context, action: Action) -> Job:
    match action:
        case Stage():
            return stage(context, action)
        case Reserve():
            return reserve(context, action)
        case TakeOutPod():
            return take_out(context, action)
        case SwapPod():
            return swap(context, action)
        case PutIn():
            return put_in(context, action)
        case LabelPod():
            return label(context, action)
        case Release():
            return release(context, action)
        case RestartEngine():
            return restart_engine(context, action)
        case EvictPod():
            return evict(context, action)
        case RecordRevision():
            return record_revision(context, action)
        case PublishStable():
            return publish_stable(context, action)
        case PruneRevision():
            return prune_revision(context, action)
        case AdoptRevision():
            return adopt_revision(context, action)
        case Measure():
            return measure(context, action)
        case Announce():
            raise TypeError("an announcement is posted, not worked on")
        case _:
            assert_never(action)
