"""The operator's link to one agent, and what it says of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from issuing import CALLEE, POD_UID
from localcluster.waiting import eventually
from weightrollout.clock import SystemClock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_line import Line
from weightrollout.controller.agents import Address, AgentLink
from weightrollout.controller.leader import Fence
from weightrollout.rollout.fleet import AgentFault, AgentView

SOON: Final = 15.0
FENCE: Final = Fence("cr", 3)


@asynccontextmanager
async def linked(
    target: str, access: AgentAccess, container: str = "c-1"
) -> AsyncIterator[AgentLink]:
    address = Address("chat-0", POD_UID, target)
    line = Line(access, target, CALLEE, container)
    link = AgentLink(address, FENCE, SystemClock(), True, lambda: None, line)
    try:
        yield link
    finally:
        await link.close()


async def reached(link: AgentLink) -> None:
    await eventually(
        lambda: isinstance(link.seen, AgentView), SOON, f"it is reached; {link.message}"
    )


async def told(link: AgentLink, fault: AgentFault, *words: str) -> None:
    def seen() -> bool:
        assert link.seen is fault, f"{link.seen}: {link.message}"
        return all(word in link.message for word in words)

    await eventually(seen, SOON, f"it says {words}")
