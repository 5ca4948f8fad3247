"""One pod, one change of weights, and a list of strikes: played to its end, judged, shrunk."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from modelled.clockwork import StoryClock, StoryLoop
from modelled.engine import BLOCKS
from modelled.operator import RESTART_S, Cluster, ModelOperator
from modelled.pod import Ground, ModelPod
from modelled.strikes import Boundaries, Strike, Victim
from weightrollout.api.spec import TakeOut
from weightrollout.swap.book import Serving
from weightrollout.swap.records import BASELINE, Content

OLD: Final = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
NEW: Final = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
SETTLE_S: Final = 1.0
#: Longer than a ttl and every deadline one after another: what is not settled by then never is.
LONGEST_S: Final = 400.0
LOOK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Setting:
    take_out: TakeOut = TakeOut.ENDPOINT
    from_baseline: bool = False  # nothing to go back to in place
    bad: bool = False  # the target's prompts fail: it must be rejected
    quick_agent: bool = False  # the next agent is there while the last call still runs
    silent: bool = False  # the operator never comes back
    drafts: bool = False  # the engine speculates with a draft that lies in the same checkpoint

    @property
    def stable(self) -> Content:
        return BASELINE if self.from_baseline else OLD


@dataclass(frozen=True, slots=True)
class Story:
    setting: Setting
    strikes: tuple[Strike, ...] = ()


@dataclass
class Played:
    story: Story
    wrong: list[str]
    log: Callable[[], list[str]]
    crossed: int  # boundaries until it was settled
    last_hit: int
    end: str = ""

    def told(self) -> str:
        struck = ", ".join(f"{each.victim} at {each.at}" for each in self.story.strikes)
        head = [f"{self.story.setting}", f"strikes: {struck or 'none'}"]
        return "\n".join(["", *head, *self.log(), *(f"WRONG: {each}" for each in self.wrong)])


@dataclass
class _Play:
    loop: StoryLoop
    story: Story
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        setting = self.story.setting
        self.cluster = Cluster(NEW, setting.stable, setting.take_out)
        self.boundaries = Boundaries(self.story.strikes, self.strike, self.watch, self.loop.time)
        ground = Ground(
            boundaries=self.boundaries,
            clock=StoryClock(self.loop),
            broke=self.broke,
            stable=self.cluster.published,
            settle_s=SETTLE_S,
            bad=frozenset({NEW.digest} if setting.bad else ()),
            drafts=setting.drafts,
        )
        self.pod = ModelPod("chat-0", ground, 0.01 if setting.quick_agent else 0.5)
        if not setting.from_baseline:
            self._serve_old()
        self.operator = ModelOperator(self.cluster, self.pod, SETTLE_S)

    def _serve_old(self) -> None:
        pod = self.pod
        pod.engine.blocks, pod.engine.version = [OLD.digest] * BLOCKS, OLD.version
        pod.engine.draft = OLD.digest
        book = replace(
            pod.disk.book,
            owner_uid="cr",
            told=OLD,
            serving=Serving(OLD, pod.engine.instance),
            last_good=OLD,
            touched=pod.engine.instance,
        )
        pod.disk.staged.add(OLD.digest)
        pod.disk.keep(book)
        pod.agent = pod.new_agent()

    def broke(self, what: str) -> None:
        self.wrong.append(what)
        self.boundaries.say(f"WRONG: {what}")

    def watch(self) -> None:
        self.pod.request()
        if self.story.setting.silent and not self.operator.alive:
            self._stays_in_service()

    def _stays_in_service(self) -> None:
        """12: nobody leads, no swap is under way, and its engine is as it was."""
        pod, book = self.pod, self.pod.disk.book
        untouched = not pod.engaged and book.poisoned == "" and pod.engine.number == 1
        if untouched and pod.agent.alive and pod.engine.up and not pod.agent.ready:
            self.broke("invariant 12: a serving pod is out of service, and nobody asked for it")

    def strike(self, victim: Victim, pod: str) -> None:
        match victim:
            case Victim.OPERATOR if self.operator.alive:
                self.operator.kill()
                if not self.story.setting.silent:
                    self.loop.call_later(RESTART_S, self._operator_is_back)
            case Victim.AGENT:
                self.pod.kill_agent()
            case Victim.ENGINE:
                self.pod.engine.die()
            case _:
                pass

    def _operator_is_back(self) -> None:
        self.boundaries.say("another operator leads")
        self.operator = ModelOperator(self.cluster, self.pod, SETTLE_S)
        self.operator.start()

    async def run(self) -> Played:
        pod = self.pod
        pod.start()
        pod.probe()
        kubelet = asyncio.get_running_loop().create_task(pod.kubelet())
        self.operator.start()
        end = "never settled"
        while self.loop.now < LONGEST_S and not self.wrong:
            await asyncio.sleep(LOOK_S)
            if not self.unsettled():
                end = "rejected" if self.cluster.rejected else "complete"
                break
        crossed = self.boundaries.crossed
        if end == "never settled" and not self.wrong:
            self.broke(f"invariant 6: it never settles: {self.unsettled()}")
        self._end_well(end)
        kubelet.cancel()
        for process in (self.operator, pod.agent):
            process.kill()
        pod.engine.up = True
        return Played(
            self.story, self.wrong, self.boundaries.told, crossed, self.boundaries.last_hit, end
        )

    def unsettled(self) -> str:
        """4, 6, 12: whole, resumed, proven, in service; with the operator gone, the one or the other."""
        if not self.operator.alive and not self.story.setting.silent:
            return "the operator is away"
        if self.story.setting.silent and not self.operator.alive:
            return self._unsettled_alone()
        why = self.pod.unsettled(self.cluster.goal)
        if not why and self.pod.label != self.cluster.goal.version:
            return f"the label says {self.pod.label}"
        return why

    def _unsettled_alone(self) -> str:
        """Nobody leads: what served serves, or it is a restarted engine that waits out of service."""
        served = {
            each: self.pod.unsettled(each) for each in (self.cluster.target, self.cluster.stable)
        }
        if "" in served.values():
            return ""
        book, engine = self.pod.disk.book, self.pod.engine
        at_work = book.running is not None or book.reservation is not None
        restarted = book.serving is None or book.serving.instance != engine.instance
        waits = not at_work and engine.up and restarted and not self.pod.ready
        return "" if waits else str(served)

    def _end_well(self, end: str) -> None:
        setting = self.story.setting
        if self.wrong or setting.silent:
            return
        if setting.bad and end != "rejected":
            self.broke("weights that fail their prompts were accepted")
        if not self.story.strikes and self.pod.agent.book.serving != self._proven():
            self.broke(f"nothing went wrong, and it says {self.pod.agent.book.serving}")
        wires = {each.victim for each in self.story.strikes} & {Victim.WIRE, Victim.LIAR}
        if not setting.bad and end == "rejected" and not wires and len(self.story.strikes) < 3:
            self.broke("good weights were rejected because something was killed")

    def _proven(self) -> Serving | None:
        goal = self.cluster.goal
        return None if goal.is_baseline else Serving(goal, self.pod.engine.instance)


def play(story: Story) -> Played:
    loop = StoryLoop()
    failures: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: failures.append(context))
    try:
        acted = _Play(loop, story)
        played = loop.run_until_complete(acted.run())
        loop.run_until_complete(let_go())
    finally:
        loop.close()
    played.wrong += [f"{each['message']}: {each.get('exception')!r}" for each in failures]
    return played


async def let_go() -> None:
    """What was cancelled ends."""
    mine = asyncio.current_task()
    others = [task for task in asyncio.all_tasks() if task is not mine]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def singles(setting: Setting, victims: Iterable[Victim]) -> Iterator[Played]:
    """Each victim at every boundary of the story that goes well."""
    whole = play(Story(setting))
    yield whole
    for at in range(1, whole.crossed + 1):
        for victim in victims:
            yield play(Story(setting, (Strike(at, victim),)))


def pairs(setting: Setting, first: Victim, second: Victim, *, every: int = 1) -> Iterator[Played]:
    """`first` at every boundary, then `second` at each later one of what follows from that."""
    whole, number = play(Story(setting)), 0
    for at in range(1, whole.crossed + 1):
        follows = play(Story(setting, (Strike(at, first),)))
        for then in range(at + 1, follows.crossed + 1):
            number += 1
            if number % every == 0:
                yield play(Story(setting, (Strike(at, first), Strike(then, second))))


def shrunk(played: Played) -> Played:
    """The same trouble with as few strikes as it takes, and the plainest setting."""
    smallest = played
    again = True
    while again:
        again = False
        for story in _simpler(smallest.story):
            tried = play(story)
            if tried.wrong:
                smallest, again = tried, True
                break
    return smallest


def _simpler(story: Story) -> Iterator[Story]:
    for number in range(len(story.strikes)):
        rest = story.strikes[:number] + story.strikes[number + 1 :]
        yield replace(story, strikes=rest)
    plain = Setting(bad=story.setting.bad, silent=story.setting.silent)
    for name in ("take_out", "from_baseline", "quick_agent", "drafts"):
        if getattr(story.setting, name) != getattr(plain, name):
            yield replace(story, setting=replace(story.setting, **{name: getattr(plain, name)}))
