"""Pods of the toy world whose agents say other things than they did."""

from dataclasses import dataclass, replace

from weightrollout.rollout.fleet import AgentView, PodView, Ref
from weightrollout.rollout.toypod import ToyPod


@dataclass
class NothingSwaps(ToyPod):
    """Reports Committed, and serves what it served."""

    def view(self, published: Ref | None) -> PodView:
        view = super().view(published)
        if not isinstance(view.agent, AgentView) or view.agent.serving is None:
            return view
        wrong = replace(view.agent.serving, version="not-this")
        return replace(view, agent=replace(view.agent, serving=wrong))


@dataclass
class StaysReady(ToyPod):
    """Reserve is answered well, and its readiness port says 200 all the same."""

    def agent_ready(self, published: Ref | None) -> bool:
        return self.engine_up and not self.poisoned


@dataclass
class StagesNothing(ToyPod):
    """Says that it staged, and holds no image."""

    def view(self, published: Ref | None) -> PodView:
        view = super().view(published)
        if not isinstance(view.agent, AgentView):
            return view
        return replace(view, agent=replace(view.agent, staged=frozenset()))


@dataclass
class Flaps(ToyPod):
    """Ready at every second look."""

    looks: int = 0

    def agent_ready(self, published: Ref | None) -> bool:
        self.looks += 1
        return self.looks % 2 == 0 and super().agent_ready(published)


@dataclass
class OfAnOlderRelease(ToyPod):
    """Its agent says nothing of what came after it."""

    def view(self, published: Ref | None) -> PodView:
        view = super().view(published)
        if not isinstance(view.agent, AgentView):
            return view
        return replace(view, agent=replace(view.agent, version="0.0.9", capabilities=frozenset()))
