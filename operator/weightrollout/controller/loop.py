"""One pass of one rollout: observe, plan, act, report. The whole flow is `Loop.one_pass`.

    observe               plan (pure)                                act                      report
    CR + pods + agents -> Fleet -> Plan(actions, status, wake_at) -> idempotent effects       one status write
          ^                                                          |
          `--- results are never returned to the plan; they are seen as new observations ----'

A pass waits for the API server where it writes the status, never for a pod or an agent.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from weightrollout.api.status import WeightRolloutStatus
from weightrollout.clock import rfc3339
from weightrollout.controller.act.context import Context
from weightrollout.controller.act.supervisor import Supervisor
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Epochs, Fence, Guard
from weightrollout.controller.observe import Seen, observe, orders_of
from weightrollout.controller.refused import refused_status
from weightrollout.controller.report import Reporter
from weightrollout.controller.world import World
from weightrollout.kube.client import Json
from weightrollout.kube.errors import Conflict, NotFound
from weightrollout.kube.revisions import Owner
from weightrollout.reading import InvalidSpec, read_status
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import Fleet, Measurement, Memory

log = logging.getLogger(__name__)

Planner = Callable[[Fleet], Plan]


@dataclass(frozen=True, slots=True)
class Hands:
    """What acts on the world, for one term."""

    guard: Guard
    epochs: Epochs
    agents: Agents
    supervisor: Supervisor
    reporter: Reporter


class Loop:
    """The passes of one term; everything it remembers is lost with the term, on purpose."""

    def __init__(
        self, world: World, hands: Hands, plan: Planner, drop: Callable[[str], None]
    ) -> None:
        self._world = world
        self._hands = hands
        self._plan = plan
        self._drop = drop  # no more passes for a name
        self._owners: dict[str, Owner] = {}  # entered: all agents were heard at least once
        self._memories: dict[str, Memory] = {}
        self._answers: dict[str, Measurement] = {}  # newest, by rollout
        self._conflicted: set[str] = set()  # the last pass met a conflict

    async def run_pass(self, name: str) -> float | None:
        """When time alone asks for the next pass. A conflict reads again and passes again; another one
        right after it is a failure, so that the queue backs off: two writers must not race for ever."""
        body = self._world.rollouts.get(name)
        try:
            wake_at = await self.one_pass(name, body)
            self._conflicted.discard(name)
            return wake_at
        except Conflict:
            body = await self._world.rollouts.reread(name)
            if name in self._conflicted:
                raise
            self._conflicted.add(name)
            return self._world.clock.monotonic()
        except NotFound:
            if body is not None:
                self._world.rollouts.forget(name, body["metadata"]["uid"])
            return None

    async def one_pass(self, name: str, body: Json | None) -> float | None:
        if not self._world.complete:
            return None  # every first list wakes all rollouts
        self._hands.guard()
        if body is None or "deletionTimestamp" in body["metadata"]:
            self._leave(name)
            self._drop(name)
            return None
        if not (fence := await self._enter(name, body)):
            return None  # every agent's first word wakes us
        body = self._world.rollouts.get(name) or body  # as our epoch's write left it
        try:
            fleet = observe(self._world, body, self._seen(name, body, fence))
        except InvalidSpec as wrong:
            self._hands.agents.set_quiet(name, True)
            return await self._hands.reporter.report(body, self._refused(body, fence, wrong))
        plan = self._plan(fleet)
        self._hands.agents.set_quiet(name, plan.quiet)
        self._memories[name] = plan.memory
        context = Context(
            *(self._world, self._hands.agents, self._hands.guard, self._owners[name], fence),
            self._answers,
        )
        self._hands.supervisor.start(context, plan.actions)
        later = await self._hands.reporter.report(body, plan.status)
        return min((each for each in (plan.wake_at, later) if each is not None), default=None)

    async def _enter(self, name: str, body: Json) -> Fence | None:
        """The fence, once every agent that was there has answered our Hello or failed to."""
        hands, owner = self._hands, Owner(name, body["metadata"]["uid"])
        known = self._owners.get(name)
        if known is not None and known != owner:
            self._leave(name)  # deleted and created again: nothing of the old one is ours
            known = None
        fence = await hands.epochs.fence(body, hands.agents.highest_refused(name))
        hands.agents.sync(name, fence, self._world.pods_of(name), known is None, orders_of(body))
        if known is None and not hands.agents.all_heard(name):
            return None
        self._owners[name] = owner
        return fence

    def _seen(self, name: str, body: Json, fence: Fence) -> Seen:
        generation = int(body["metadata"]["generation"])
        return Seen(
            fence,
            self._hands.agents.links(name),
            self._hands.supervisor.work(name),
            self._hands.supervisor.failures(name, generation, self._world.clock.monotonic()),
            self._memories.get(name, Memory()),
            self._answers.get(name),
        )

    def _refused(self, body: Json, fence: Fence, wrong: InvalidSpec) -> WeightRolloutStatus:
        generation, wall = int(body["metadata"]["generation"]), rfc3339(self._world.clock.wall())
        return refused_status(read_status(body), generation, fence.epoch, str(wrong), wall)

    def _leave(self, name: str) -> None:
        """Its pods go on serving; the orphan pass looks after them."""
        owner = self._owners.pop(name, None)
        if owner is not None:
            self._hands.epochs.forget(owner.uid)
        self._memories.pop(name, None)
        self._answers.pop(name, None)
        self._conflicted.discard(name)
        self._hands.supervisor.forget(name)
        self._hands.agents.forget(name)
        self._hands.reporter.forget(name)
