"""Ask one question of an analysis. What came of it is kept as an observation, the newest of a rollout."""

from weightrollout.controller.act.context import Context
from weightrollout.rollout.actions import Measure


async def measure(context: Context, action: Measure) -> None:
    """A second run asks again under the same number; only one answer is ever counted."""
    context.guard()
    world, owner = context.world, context.owner
    answer = await world.analyst.measure(action, owner.uid, world.clock)
    context.answers[owner.name] = answer
