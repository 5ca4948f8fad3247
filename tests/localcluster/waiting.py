"""Wait for a fact, with a deadline, instead of sleeping and hoping."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")


class NeverCame(AssertionError):
    """The fact we waited for did not come true; the message says what was seen last."""


@overload
async def eventually(
    condition: Callable[[], Awaitable[T]], deadline_s: float, why: str, every_s: float = ...
) -> T: ...
@overload
async def eventually(
    condition: Callable[[], T], deadline_s: float, why: str, every_s: float = ...
) -> T: ...
async def eventually(
    condition: Callable[[], Any], deadline_s: float, why: str, every_s: float = 0.02
) -> Any:
    """Ask `condition`, plain or async, until its answer is truthy; return that answer.

    `NeverCame` after `deadline_s` seconds; a condition that hangs is cancelled then. AssertionError and LookupError
    out of the condition mean "not yet"; any other exception is raised at once.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline_s
    seen: object = "nothing: the condition never answered"
    try:
        async with asyncio.timeout_at(end) as limit:
            while True:
                try:
                    answer = condition()
                    if inspect.isawaitable(answer):
                        answer = await answer
                    if answer:
                        return answer
                    seen = answer
                except (AssertionError, LookupError) as not_yet:
                    seen = repr(not_yet)
                await asyncio.sleep(every_s)
    except TimeoutError:
        if not limit.expired():
            raise
        raise NeverCame(f"{why}: not within {deadline_s:g} s; last seen: {seen}") from None
