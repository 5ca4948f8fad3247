"""What can go wrong between an API server and its client. Each fault is one thing that really happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

READS: Final = ("GET", "WATCH")
BATCH_S: Final = 0.2  # events that come this close together change places


@dataclass(frozen=True)
class Call:
    """One request of the client."""

    verb: str  # "WATCH", or the HTTP method
    path: str
    at: float  # the event loop's clock

    @property
    def is_write(self) -> bool:
        return self.verb not in READS

    @property
    def is_lease(self) -> bool:
        return "/leases" in self.path


Where = Callable[[Call], bool]


def everything(call: Call) -> bool:
    return True


def writes(call: Call) -> bool:
    """Those of the work; the Lease is another matter."""
    return call.is_write and not call.is_lease


def watches(call: Call) -> bool:
    return call.verb == "WATCH"


@dataclass
class Fault:
    """Does nothing; `hits` counts the calls that met it."""

    where: Where = everything
    hits: int = field(default=0, init=False)

    async def answer(self, call: Call) -> web.Response | None:
        """In place of the server's; None: it is asked."""
        return None

    def body(self, data: bytes) -> bytes:
        """What arrives of an answer."""
        return data

    def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """What arrives of the events of a watch."""
        return lines


@dataclass
class Refuse(Fault):
    code: int = 503
    reason: str = "ServiceUnavailable"
    retry_after: str = ""

    async def answer(self, call: Call) -> web.Response | None:
        headers = {"Retry-After": self.retry_after} if self.retry_after else {}
        return web.json_response(_status(self.code, self.reason), status=self.code, headers=headers)


@dataclass
class Delay(Fault):
    seconds: float = 5.0

    async def answer(self, call: Call) -> web.Response | None:
        await asyncio.sleep(self.seconds)  # the fault itself
        return None


@dataclass
class HungStreams(Fault):
    """Watches are accepted, and then no byte comes, and no end."""

    where: Where = watches

    async def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""


@dataclass
class ClosedAtOnce(Fault):
    where: Where = watches

    async def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        return
        yield b""


@dataclass
class ErrorInTheStream(Fault):
    where: Where = watches
    code: int = 500
    reason: str = "InternalError"

    async def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        yield json.dumps({"type": "ERROR", "object": _status(self.code, self.reason)}).encode()


@dataclass
class Truncated(Fault):
    """Half of each answer; a watch ends in the middle of its first event."""

    def body(self, data: bytes) -> bytes:
        return data[: len(data) // 2]

    async def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for line in lines:
            yield line[: len(line) // 2]
            return


@dataclass
class Shuffled(Fault):
    """Events that come close together arrive in reverse order, and each of them twice."""

    where: Where = watches

    async def lines(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        reader = asyncio.create_task(_fill(queue, lines))
        try:
            ended = False
            while not ended:
                batch = [await queue.get()]
                await asyncio.sleep(BATCH_S)  # the fault itself
                while not queue.empty():
                    batch.append(queue.get_nowait())
                ended = None in batch
                for line in reversed(batch):
                    if line is not None:
                        yield line
                        yield line
        finally:
            reader.cancel()


async def _fill(queue: asyncio.Queue[bytes | None], lines: AsyncIterator[bytes]) -> None:
    try:
        async for line in lines:
            queue.put_nowait(line)
    finally:
        queue.put_nowait(None)


def _status(code: int, reason: str) -> dict[str, object]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{reason}, says the proxy",
        "reason": reason,
        "code": code,
    }
