"""A client that holds one stream to one engine, and sees whether it was cut, frozen or mixed."""

import asyncio
import itertools
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

import aiohttp

from localcluster.waiting import eventually
from simulator.answers import explain

PROMPT: Final = "once upon a time"
ENDLESS: Final = 1_000_000


class HeldStream:
    """Use as a context manager: it has begun when the block does, and its client leaves at the end."""

    def __init__(self, url: str, *, prompt: str = PROMPT) -> None:
        self.words: list[str] = []
        self.times: list[float] = []  # when each came, in seconds of the event loop
        self.cut = ""  # by whatever ended it that was not its client
        self._url = url
        self._prompt = prompt
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._hold())
        await self.more(3)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def more(self, words: int, deadline_s: float = 30) -> None:
        """Wait for that many more."""
        enough = len(self.words) + words

        def came() -> bool:
            assert not self.cut, self.cut
            return len(self.words) >= enough

        await eventually(came, deadline_s, f"{words} more words")

    def came_from(self, known: Mapping[str, int]) -> tuple[str, ...] | None:
        """Names of the checkpoints that gave these words, in their order; None: none did."""
        return explain(self.words, self._prompt, known)

    @property
    def stall_s(self) -> float:
        """Its longest gap between two words, less the usual one."""
        gaps = sorted(later - sooner for sooner, later in itertools.pairwise(self.times))
        return gaps[-1] - gaps[len(gaps) // 2]

    async def _hold(self) -> None:
        body = {"prompt": self._prompt, "max_tokens": ENDLESS, "stream": True}
        loop = asyncio.get_running_loop()
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session,
                session.post(f"{self._url}/v1/completions", json=body) as answer,
            ):
                if answer.status != 200:
                    self.cut = f"HTTP {answer.status}"
                async for line in answer.content:
                    data = line.decode().strip().removeprefix("data: ")
                    if not data or data == "[DONE]":
                        continue
                    text = json.loads(data)["choices"][0]["text"]
                    if text:
                        self.words.append(text)
                        self.times.append(loop.time())
            self.cut = self.cut or f"it ended after {len(self.words)} words"
        except aiohttp.ClientError as error:
            self.cut = repr(error)
