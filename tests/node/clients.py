"""Clients in a pod that stream completions through a Service, and what they saw."""

import json
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from fleet.world import World
from localcluster.pods import Pods
from localcluster.waiting import eventually
from node.product import clients
from node.toys import SOON_S, ask
from simulator import answers

Json = dict[str, Any]

TALLY: Final = 9000
MAX_TOKENS: Final = 12


@dataclass(frozen=True)
class Tally:
    """`by_weights`: complete answers by the names of the checkpoints that gave them; "?": no known one did."""

    requests: int
    failed: int
    by_weights: Counter[str]
    complaints: tuple[str, ...]


class Clients:
    """Steady traffic for as long as the context is open; nothing is asked twice."""

    def __init__(
        self, world: World, url: str, known: dict[str, int], name: str = "clients"
    ) -> None:
        """`known`: fingerprints of checkpoints by their names."""
        self._world, self._url, self._known, self._name = world, url, known, name
        self._pods = Pods(world.api, world.namespace)
        self.last = Tally(0, 0, Counter(), ())

    async def __aenter__(self) -> Self:
        await self._pods.create(clients(self._name, self._url))
        await self._pods.ready(self._name, SOON_S)
        await self.more(4)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Lets running requests end, so that every request is counted."""
        if kind is None:
            self.last = self._read(await self._ask("/stop"))
        await self._pods.delete(self._name, grace_s=0)

    async def tally(self) -> Tally:
        """Up to now."""
        self.last = self._read(await self._ask("/"))
        return self.last

    async def more(self, count: int) -> None:
        """Wait for that many more requests to be over, so that the state of now is heard."""
        enough = self.last.requests + count

        async def heard() -> bool:
            return (await self.tally()).requests >= enough

        await eventually(heard, SOON_S, f"{count} more requests", every_s=0.2)

    async def _ask(self, path: str) -> Json:
        found: Json = json.loads(await ask(self._world.api, self._pods, self._name, path, TALLY))
        return found

    def _read(self, said: Json) -> Tally:
        by_weights = Counter[str]()
        complaints = list(said["complaints"])
        for prompt, texts in said["answers"].items():
            for text, count in texts.items():
                words = answers.split(text)
                names = answers.explain(words, prompt, self._known)
                if names is None or len(words) != MAX_TOKENS:
                    complaints.append(f"{prompt!r} -> {text!r}")
                    names = ("?",)
                by_weights[" then ".join(names)] += count
        return Tally(said["requests"], said["failed"], by_weights, tuple(complaints))
