"""Steady streaming traffic that checks every answer against what the known checkpoints would say.

A request is *failed* when it gets no complete answer, and *unexplained* when its words are neither
those of one known checkpoint nor (Keep) a beginning from one and the rest from another. Nothing
is retried: a client that has to retry was let down.
"""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self

import aiohttp

from fleet.language import Language, Simulated
from localcluster.router import Backend
from localcluster.waiting import eventually

PROMPTS: Final = ("2+2=", "the capital of France is", "once upon a time", "def main():")
REQUEST_DEADLINE_S: Final = 60.0


class Backends(Protocol):
    """Where a request may go now: `ReadyPods`, or a test's own."""

    def pick(self) -> Backend:
        """Raises LookupError when there is none."""
        ...


@dataclass
class Tally:
    """What the clients saw."""

    requests: int = 0
    failed: int = 0
    unexplained: int = 0
    nowhere: int = 0  # no pod was Ready when a client wanted one
    by_answer: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)  # the first few, for people

    def complain(self, text: str) -> None:
        if len(self.complaints) < 20:
            self.complaints.append(text)


class Traffic:
    """`clients` streams at any time, round robin over the Ready pods; use as a context manager."""

    def __init__(
        self,
        backends: Backends,
        *,
        known: Mapping[str, int] | Language,
        clients: int = 4,
        max_tokens: int = 12,
        prompts: Sequence[str] = PROMPTS,
        deadline_s: float = REQUEST_DEADLINE_S,
    ) -> None:
        """`known`: simulated checkpoints by their fingerprints, or a language; a request ends in `deadline_s`."""
        self._deadline_s = deadline_s
        self.tally = Tally()
        self._backends = backends
        self._language = Simulated(known) if isinstance(known, Mapping) else known
        self._clients = clients
        self._max_tokens = max_tokens
        self._prompts = itertools.cycle(prompts)
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._client()) for _ in range(self._clients)]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Lets running requests end, so that every request is counted."""
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    async def more(self, answers: int, deadline_s: float = 30) -> None:
        """Wait for that many more answers, so that the end state is heard as well."""
        enough = self.answers + answers
        await eventually(lambda: self.answers >= enough, deadline_s, f"{answers} more answers")

    @property
    def answers(self) -> int:
        return self.tally.by_answer.total()

    async def _client(self) -> None:
        connector = aiohttp.TCPConnector(force_close=True)  # a kept connection outlives Ready
        async with aiohttp.ClientSession(connector=connector) as session:
            while not self._stopping.is_set():
                try:
                    backend = self._backends.pick()
                except LookupError:
                    self.tally.nowhere += 1
                    await asyncio.sleep(0.05)  # paces a client that has nowhere to go
                    continue
                await self._request(session, backend, next(self._prompts))

    async def _request(self, session: aiohttp.ClientSession, backend: Backend, prompt: str) -> None:
        self.tally.requests += 1
        try:
            words = await asyncio.wait_for(self._stream(session, backend, prompt), self._deadline_s)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            self.tally.failed += 1
            self.tally.complain(f"{backend.pod}: {error!r}")
            return
        names = self._language.explain(words, prompt)
        if names is None:
            self.tally.unexplained += 1
            self.tally.complain(f"{backend.pod}: {prompt!r} -> {' '.join(words)!r}")
            return
        self.tally.by_answer[" then ".join(names)] += 1

    async def _stream(
        self, session: aiohttp.ClientSession, backend: Backend, prompt: str
    ) -> list[str]:
        body = {**self._language.ask(prompt, self._max_tokens), "stream": True}
        url = f"{backend.url}/v1/completions"
        choices: list[dict[str, Any]] = []
        finished = False
        async with session.post(url, json=body) as answer:
            if answer.status != 200:
                raise ValueError(f"HTTP {answer.status}: {(await answer.text())[:200]}")
            async for line in answer.content:
                data = line.decode().strip().removeprefix("data: ")
                if not data:
                    continue
                if data == "[DONE]":
                    finished = True
                    break
                event = json.loads(data)
                if "error" in event:
                    raise ValueError(f"error in mid-stream: {event['error']}")
                choices.append(event["choices"][0])
                if choices[-1].get("finish_reason") == "abort":
                    raise ValueError(f"aborted after {len(self._language.words(choices))} words")
        words = self._language.words(choices)
        if not finished or len(words) < self._max_tokens:
            raise ValueError(f"cut after {len(words)} of {self._max_tokens} words")
        return words
