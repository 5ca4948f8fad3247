"""How an operator reaches an agent: each call is two boundaries, and its answer may never come."""

from collections.abc import Callable, Coroutine
from typing import Any

from modelled.agent import ModelAgent
from modelled.pod import ModelPod
from modelled.strikes import Killed, Process, Victim


class Lost(Exception):
    """No answer: it may have been executed."""


async def call(
    operator: Process,
    pod: ModelPod,
    name: str,
    handler: Callable[[ModelAgent], Coroutine[Any, Any, None]],
) -> None:
    """Raises Lost, or Refused as the agent does."""
    cross = pod.ground.boundaries.cross
    struck = cross(f"operator's {name} on its way", pod.name, by=operator)
    agent = pod.agent
    if not agent.alive or Victim.WIRE in struck:
        raise Lost(f"{name} was lost")
    try:
        await handler(agent)
    except Killed:
        operator.check()
        raise Lost(f"the agent died in {name}") from None
    struck = cross(f"operator's {name} executed, not yet answered", pod.name, by=operator)
    if not agent.alive or Victim.WIRE in struck:
        raise Lost(f"the answer of {name} was lost")
