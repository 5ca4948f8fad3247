"""python -m killing.agent: the agent, which dies at a step, a journal entry, a call that it serves, or while it stages."""

# ruff: noqa: B010 - the type checker refuses a plain assignment to a method

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from killing.armed import Armed
from killing.boundaries import AFTER, AGENT_CALLS, BEFORE, STAGING, entry_of
from weightrollout.agent.main import main
from weightrollout.agent.service import AgentService
from weightrollout.swap.book import Book
from weightrollout.swap.events import Event
from weightrollout.swap.journal import Journal
from weightrollout.swap.records import SwapState
from weightrollout.swap.run import SwapRun


def patch(armed: Armed) -> None:
    _steps(armed)
    _journal(armed)
    patch_staging(armed)
    for name in AGENT_CALLS:
        serve = getattr(AgentService, name)
        wrap = _stream if inspect.isasyncgenfunction(serve) else _unary
        setattr(AgentService, name, wrap(armed, f"agent/call/{name}", serve))


def _steps(armed: Armed) -> None:
    send, look = SwapRun._send, SwapRun._look

    async def patched_send(self: SwapRun, state: SwapState, limit_s: float) -> None:
        armed.strike(f"agent/step/{state.step}/{BEFORE}")
        try:
            await send(self, state, limit_s)
        finally:
            armed.strike(f"agent/step/{state.step}/{AFTER}")

    async def patched_look(self: SwapRun, state: SwapState) -> Event:
        seen = await look(self, state)
        armed.strike(f"agent/look/{state.step}/{AFTER}")
        return seen

    setattr(SwapRun, "_send", patched_send)
    setattr(SwapRun, "_look", patched_look)


def _journal(armed: Armed) -> None:
    put = Journal.put

    def patched(self: Journal, book: Book) -> None:
        entry = entry_of(self.book, book)
        armed.strike(f"agent/journal/{entry}/{BEFORE}")
        put(self, book)
        armed.strike(f"agent/journal/{entry}/{AFTER}")

    setattr(Journal, "put", patched)


def patch_staging(armed: Armed) -> None:
    for place, (owner, name) in STAGING.items():
        setattr(owner, name, _plain(armed, f"agent/staging/{place}", getattr(owner, name)))


def _plain(armed: Armed, boundary: str, called: Callable[..., Any]) -> Callable[..., Any]:
    def patched(*given: Any, **named: Any) -> Any:
        armed.strike(f"{boundary}/{BEFORE}")
        result = called(*given, **named)
        armed.strike(f"{boundary}/{AFTER}")
        return result

    return patched


def _unary(
    armed: Armed, boundary: str, serve: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def patched(self: AgentService, request: Any, context: Any) -> Any:
        armed.strike(f"{boundary}/{BEFORE}")
        answer = await serve(self, request, context)
        armed.strike(f"{boundary}/{AFTER}")
        return answer

    return patched


def _stream(
    armed: Armed, boundary: str, serve: Callable[..., AsyncIterator[Any]]
) -> Callable[..., AsyncIterator[Any]]:
    """After: its first message has gone out, or it has ended."""

    async def patched(self: AgentService, request: Any, context: Any) -> AsyncIterator[Any]:
        armed.strike(f"{boundary}/{BEFORE}")
        async for message in serve(self, request, context):
            yield message
            armed.strike(f"{boundary}/{AFTER}")

    return patched


if __name__ == "__main__":
    patch(Armed.from_environment())
    raise SystemExit(main())
