"""How a client asks engines of one kind, and which weights their answers came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from simulator import answers

Json = dict[str, Any]


class Language(Protocol):
    """What differs between simulated and real engines, as far as a client sees it."""

    def ask(self, prompt: str, max_tokens: int) -> Json:
        """The body of a completion."""

    def words(self, choices: Sequence[Json]) -> list[str]:
        """The tokens in the events of one stream."""

    def explain(self, words: Sequence[str], prompt: str) -> tuple[str, ...] | None:
        """Names of the checkpoints that gave this answer, in their order; None: none did."""


@dataclass(frozen=True)
class Simulated:
    """Answers are computed from the bytes. `known`: fingerprints by the name of their checkpoint."""

    known: Mapping[str, int]

    def ask(self, prompt: str, max_tokens: int) -> Json:
        return {"prompt": prompt, "max_tokens": max_tokens}

    def words(self, choices: Sequence[Json]) -> list[str]:
        return answers.split("".join(choice["text"] for choice in choices))

    def explain(self, words: Sequence[str], prompt: str) -> tuple[str, ...] | None:
        return answers.explain(words, prompt, self.known)
