"""The channel to one agent: opened when it is first needed, replaced when who is to be trusted changes, closed at the end."""

import asyncio
from typing import TYPE_CHECKING, Final

import grpc.aio

from weightrollout.api.callers import Callee
from weightrollout.controller.agent_access import AgentAccess, Opened
from weightrollout.controller.calls import AgentRefusedCall

if TYPE_CHECKING:
    from weightrollout.wire.agent.agent_pb2_grpc import (
        AgentAsyncStub,
    )  # exists for the checker only

#: Streams of a channel that was replaced may run on for so long.
RETIRE_S: Final = 3600.0


class Line:
    """To whoever is to be trusted at that address."""

    def __init__(
        self, access: AgentAccess, target: str, callee: Callee, container: str = ""
    ) -> None:
        """`container`: id of the one that the agent runs in, "" if not known."""
        self._access = access
        self._target = target
        self._callee = callee
        self._container = container
        self._opened: Opened | None = None
        self._doubted = False  # it did not answer, or was started again: who is there now?
        self._retired: dict[asyncio.Task[None], grpc.aio.Channel] = {}

    @property
    def stub(self) -> "AgentAsyncStub":
        """For one call: the next one may be made with other certificates. Raises AgentUnreachable."""
        return self._use(self._access.renewed(self._target, self._callee, self._opened)).stub

    async def reach(self) -> None:
        """See that `stub` leads to whoever is to be trusted there now, and that there is a token.

        Raises AgentUnreachable.
        """
        if self._opened is None or self._doubted:
            container = self._container
            before = self._opened
            self._use(await self._access.open(self._target, self._callee, container, before))
            self._doubted = container != self._container
        if self._opened is not None:
            await self._access.prepared(self._callee, self._opened)

    def doubt(self) -> None:
        """It did not answer: `reach` looks who is there."""
        self._doubted = True

    def moved_to(self, container: str) -> bool:
        """The agent runs in this one. Whether that is another one: then it may show another certificate."""
        if container == self._container:
            return False
        self._container, self._doubted = container, True
        return True

    def judged(self, refused: AgentRefusedCall) -> AgentRefusedCall:
        """What a refusal of a call on this line means."""
        return self._access.judged(self._callee, refused)

    async def close(self) -> None:
        """Whatever runs on it is cut."""
        channels = [*self._retired.values(), *([self._opened.channel] if self._opened else [])]
        for task in self._retired:
            task.cancel()
        await asyncio.gather(*self._retired, return_exceptions=True)
        for channel in channels:
            await channel.close(None)

    def _use(self, opened: Opened) -> Opened:
        """Streams that run on the channel before it go on there."""
        before, self._opened = self._opened, opened
        if before is not None and before is not opened:
            task = asyncio.create_task(before.channel.close(RETIRE_S))
            self._retired[task] = before.channel
            task.add_done_callback(lambda done: self._retired.pop(done, None))
        return opened
