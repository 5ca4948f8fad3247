"""What every action is given."""

from dataclasses import dataclass, field
from typing import Final

from weightrollout.controller.agents import AgentLink, Agents
from weightrollout.controller.calls import AgentUnreachable
from weightrollout.controller.leader import Fence, Guard
from weightrollout.controller.world import World
from weightrollout.kube.revisions import Owner
from weightrollout.rollout.fleet import Measurement

#: An agent pushes its state right after it acted; a heartbeat later it is not going to.
SHOWN_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Context:
    world: World
    agents: Agents
    guard: Guard  # asked right before each write and each mutating call
    owner: Owner
    fence: Fence
    answers: dict[str, Measurement] = field(default_factory=dict)  # newest by rollout

    @property
    def title(self) -> str:
        """The rollout, for people."""
        return f"{self.world.namespace}/{self.owner.name}"

    def link(self, pod_uid: str) -> AgentLink:
        link = self.agents.link(self.owner.name, pod_uid)
        if link is None:
            raise AgentUnreachable("the pod has no agent to talk to any more")
        return link
