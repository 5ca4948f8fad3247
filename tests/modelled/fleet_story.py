"""A small fleet under the real planner, and a list of strikes: played to its end and judged."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from modelled.clockwork import StoryClock, StoryLoop
from modelled.engine import BLOCKS
from modelled.planned import FleetCluster, PlannedOperator, content_of
from modelled.pod import Ground, ModelPod
from modelled.story import let_go
from modelled.strikes import Boundaries, Strike, Victim
from planning.worlds import digest, ref_of, weights
from weightrollout.agent.stable import Stable
from weightrollout.api.spec import TakeOut, WeightRolloutSpec
from weightrollout.api.status import Phase
from weightrollout.rollout.fleet import Revision, Verdict
from weightrollout.rollout.revisions import revision_name
from weightrollout.swap.book import Serving

OPERATOR_BACK_S: Final = 0.5
#: Longest back-off and the progress deadline's alarm included.
LONGEST_S: Final = 900.0
LOOK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class FleetSetting:
    pods: int = 2
    take_out: TakeOut = TakeOut.ENDPOINT
    bad: bool = False
    max_unavailable: int = 1
    prove_first: bool = True

    def spec(self) -> WeightRolloutSpec:
        prompt = {"prompt": "2+2=", "expect": {"contains": "right"}}
        return WeightRolloutSpec.model_validate(
            {
                "weights": weights("b", digest("b")).model_dump(by_alias=True, exclude_unset=True),
                "swap": {"takeOut": self.take_out.value, "settleSeconds": 1, "drainSeconds": 0},
                "strategy": {
                    "maxUnavailable": self.max_unavailable,
                    "proveFirst": self.prove_first,
                },
                "repair": {"retries": 8},
                "podDeadlineSeconds": 20,
                "verify": {"prompts": [prompt]},
            }
        )


@dataclass(frozen=True, slots=True)
class FleetStory:
    setting: FleetSetting
    strikes: tuple[Strike, ...] = ()


@dataclass
class FleetPlayed:
    story: FleetStory
    wrong: list[str]
    log: Callable[[], list[str]]
    crossed: int
    end: str

    def told(self) -> str:
        struck = ", ".join(f"{each.victim} at {each.at}" for each in self.story.strikes)
        head = [f"{self.story.setting}", f"strikes: {struck or 'none'}"]
        return "\n".join(["", *head, *self.log(), *(f"WRONG: {each}" for each in self.wrong)])


class _Play:
    def __init__(self, loop: StoryLoop, story: FleetStory) -> None:
        self.loop, self.story = loop, story
        self.wrong: list[str] = []
        setting = story.setting
        self.spec = setting.spec()
        self.old = ref_of("a")
        desired = self.spec.weights
        assert desired is not None
        self.new = replace(ref_of("b"), revision=revision_name("chat", desired))
        self.cluster = FleetCluster(self.spec)
        done = Revision(self.old, 1, digest_given=False, verdict=Verdict.VERIFIED)
        self.cluster.revisions, self.cluster.published = (done,), self.old
        self.boundaries = Boundaries(story.strikes, self.strike, self.watch, loop.time)
        ground = Ground(
            boundaries=self.boundaries,
            clock=StoryClock(loop),
            broke=self.broke,
            stable=self._stable,
            settle_s=1.0,
            bad=frozenset({digest("b")} if setting.bad else ()),
            reserved=self._within_budget,
        )
        self.pods = [ModelPod(f"chat-{index}", ground, 0.5) for index in range(setting.pods)]
        for pod in self.pods:
            self._serve_old(pod)
        self.operator = PlannedOperator(self.cluster, self.pods, self.boundaries)

    def _stable(self) -> Stable:
        return self.cluster.stable()

    def _serve_old(self, pod: ModelPod) -> None:
        old = content_of(self.old)
        pod.engine.blocks, pod.engine.version = [old.digest] * BLOCKS, old.version
        pod.disk.staged.add(old.digest)
        pod.disk.keep(
            replace(
                pod.disk.book,
                owner_uid="cr",
                told=old,
                serving=Serving(old, pod.engine.instance),
                last_good=old,
                touched=pod.engine.instance,
            )
        )
        pod.agent = pod.new_agent()
        pod.label = old.version

    def broke(self, what: str) -> None:
        self.wrong.append(what)
        self.boundaries.say(f"WRONG: {what}")

    def watch(self) -> None:
        for pod in self.pods:
            pod.request()
        self._one_proves()

    def _one_proves(self) -> None:
        """11: weights that fail are loaded by one pod only."""
        if not self.story.setting.bad:
            return
        touched = [pod.name for pod in self.pods if digest("b") in pod.engine.ever_held]
        if len(touched) > 1:
            self.broke(f"invariant 11: {touched} have loaded weights that no pod has proven")

    def _within_budget(self, pod: ModelPod) -> None:
        """1: a pod that serves is promised to a swap only while the others are not away."""
        if not (pod.ready and pod.agent.ready):
            return
        away = [each.name for each in self.pods if each is not pod and each.engaged]
        if len(away) + 1 > self.story.setting.max_unavailable:
            self.broke(f"invariant 1: {pod.name} is taken out while {away} are away")

    def strike(self, victim: Victim, where: str) -> None:
        pod = next((each for each in self.pods if each.name == where), self.pods[0])
        match victim:
            case Victim.OPERATOR if self.operator.alive:
                self.operator.kill()
                self.loop.call_later(OPERATOR_BACK_S, self._operator_is_back)
            case Victim.AGENT:
                pod.kill_agent()
            case Victim.ENGINE:
                pod.engine.die()
            case _:
                pass

    def _operator_is_back(self) -> None:
        self.boundaries.say("another operator leads")
        self.operator = PlannedOperator(self.cluster, self.pods, self.boundaries)
        self.operator.start()

    async def run(self) -> FleetPlayed:
        for pod in self.pods:
            pod.start()
            pod.probe()
        kubelets = [asyncio.get_running_loop().create_task(pod.kubelet()) for pod in self.pods]
        self.operator.start()
        for _ in range(int(LONGEST_S / LOOK_S)):
            if self.wrong or not self._unsettled():
                break
            await asyncio.sleep(LOOK_S)
        crossed, why = self.boundaries.crossed, self._unsettled()
        if why and not self.wrong:
            self.broke(f"invariant 6: it never settles: {why}")
        for task in kubelets:
            task.cancel()
        for process in (self.operator, *(pod.agent for pod in self.pods)):
            process.kill()
        end = str(self.cluster.status.phase)
        return FleetPlayed(self.story, self.wrong, self.boundaries.told, crossed, end)

    def _unsettled(self) -> str:
        bad = self.story.setting.bad
        wanted = Phase.ROLLED_BACK if bad else Phase.COMPLETE
        status = self.cluster.status
        if not self.operator.alive or status.phase is not wanted:
            return f"{status.phase}, not {wanted}: {status.message}"
        serving = self.old if bad else self.new
        if not bad and self.cluster.published != self.new:
            return "stable is not published"
        for pod in self.pods:
            why = pod.unsettled(content_of(serving))
            if why:
                return f"{pod.name}: {why}"
            if pod.label != serving.version:
                return f"{pod.name}: the label says {pod.label}"
        if status.pods.updated != len(self.pods):
            return f"invariant 3: updated is {status.pods.updated}"
        return ""


def play_fleet(story: FleetStory) -> FleetPlayed:
    loop = StoryLoop()
    failures: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: failures.append(context))
    try:
        played = loop.run_until_complete(_Play(loop, story).run())
        loop.run_until_complete(let_go())
    finally:
        loop.close()
    played.wrong += [f"{each['message']}: {each.get('exception')!r}" for each in failures]
    return played


def shrunk_fleet(played: FleetPlayed) -> FleetPlayed:
    """The same trouble with as few strikes as it takes."""
    smallest, again = played, True
    while again:
        again = False
        for story in _simpler(smallest.story):
            tried = play_fleet(story)
            if tried.wrong:
                smallest, again = tried, True
                break
    return smallest


def _simpler(story: FleetStory) -> Iterator[FleetStory]:
    for number in range(len(story.strikes)):
        yield replace(story, strikes=story.strikes[:number] + story.strikes[number + 1 :])
