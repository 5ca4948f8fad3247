"""golden.json: what these weights answer, written by whoever trained them. Pure.

    {"schema": 1,
     "prompts": [{"prompt": "The capital of France is",
                  "tokenIds": [12095, 13],
                  "topLogprobs": [{"12095": -0.31, "264": -2.9}, {"13": -0.8}],
                  "tolerance": 0.05}]}

`tokenIds` are the greedy answer's first tokens and must come back exactly. `topLogprobs`, natural
logarithms, has an object for each of them or is left out; each id listed must come back within
`tolerance`. What is recorded must be greedy: the token taken is the likeliest that is listed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

SCHEMA: Final = 1
MAX_BYTES: Final = 1 << 20
MAX_PROMPTS: Final = 16
MAX_PROMPT: Final = 8192  # characters, as in spec.verify.prompts
MAX_TOKENS: Final = 256  # of one answer
#: An engine refuses to tell more (vLLM's --max-logprobs).
MAX_TOP: Final = 20
MAX_TOKEN_ID: Final = (1 << 31) - 1
#: Engines tell this for minus infinity.
LEAST_LOGPROB: Final = -9999.0
_SHORT: Final = 80


class GoldenError(ValueError):
    """Not a golden.json; the message names the place."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer."""

    id: int
    top: Mapping[int, float]  # id -> natural logarithm of its probability; the likeliest ids


@dataclass(frozen=True, slots=True)
class GoldenPrompt:
    prompt: str
    tokens: tuple[Token, ...]  # `top` is empty where nothing is said about probabilities
    tolerance: float

    @property
    def top(self) -> int:
        """How many of the likeliest tokens the engine must tell for each one it takes."""
        return max(len(token.top) for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Golden:
    prompts: tuple[GoldenPrompt, ...]


def parse(data: bytes) -> Golden:
    """Raises GoldenError."""
    if len(data) > MAX_BYTES:
        raise GoldenError(f"longer than {MAX_BYTES} bytes")
    try:
        said = json.loads(data, object_pairs_hook=_object, parse_constant=_no_number)
    except GoldenError:
        raise
    except (ValueError, RecursionError) as error:
        raise GoldenError(f"not JSON: {_short(error)}") from error
    _keys(said, "it", {"schema", "prompts"}, set())
    if type(said["schema"]) is not int or said["schema"] != SCHEMA:
        raise GoldenError(f"schema {_short(said['schema'])} is not {SCHEMA}")
    prompts = _list(said["prompts"], "prompts", 1, MAX_PROMPTS)
    return Golden(tuple(_prompt(each, f"prompts[{i}]") for i, each in enumerate(prompts)))


def mismatch(want: GoldenPrompt, got: Sequence[Token]) -> str | None:
    """The first difference, with its position and the numbers; None where there is none."""
    for position, (wanted, told) in enumerate(zip(want.tokens, got, strict=False)):
        if told.id != wanted.id:
            return f"token {position}: expected id {wanted.id}, got {told.id}{_odds(wanted, told)}"
        if (wrong := _wrong_logprob(wanted, told, want.tolerance)) is not None:
            return f"token {position}: {wrong}"
    if len(got) < len(want.tokens):
        return f"{len(want.tokens)} tokens are expected, the answer ended after {len(got)}"
    return None


def _odds(wanted: Token, told: Token) -> str:
    """What tells a near tie from other weights."""
    if wanted.id not in told.top or told.id not in told.top:
        return ""
    return f" (their logprobs are {told.top[wanted.id]:.4f} and {told.top[told.id]:.4f})"


def _wrong_logprob(wanted: Token, told: Token, tolerance: float) -> str | None:
    for token, logprob in sorted(wanted.top.items()):
        if token in told.top:
            off = abs(told.top[token] - logprob)
            if not off <= tolerance:  # also for NaN
                return (
                    f"logprob of id {token}: expected {logprob:.4f}, got {told.top[token]:.4f},"
                    f" which is off by {off:.4f}; tolerance {tolerance:g}"
                )
        elif not told.top or logprob - tolerance > min(told.top.values()):
            return (
                f"logprob of id {token}: expected {logprob:.4f}, but it is not among the"
                f" {len(told.top)} likeliest that the engine tells; tolerance {tolerance:g}"
            )
    return None


# -- reading ------------------------------------------------------------------------------


def _prompt(said: Any, at: str) -> GoldenPrompt:
    _keys(said, at, {"prompt", "tokenIds"}, {"topLogprobs", "tolerance"})
    prompt = said["prompt"]
    if not isinstance(prompt, str) or not 0 < len(prompt) <= MAX_PROMPT or _is_broken(prompt):
        raise GoldenError(f"{at}.prompt: must be text of 1 to {MAX_PROMPT} characters")
    ids = [
        _id(each, f"{at}.tokenIds[{i}]")
        for i, each in enumerate(_list(said["tokenIds"], f"{at}.tokenIds", 1, MAX_TOKENS))
    ]
    if ("topLogprobs" in said) != ("tolerance" in said):
        raise GoldenError(f"{at}: topLogprobs and tolerance belong together")
    if "tolerance" not in said:
        return GoldenPrompt(prompt, tuple(Token(each, {}) for each in ids), 0.0)
    tops = _list(said["topLogprobs"], f"{at}.topLogprobs", len(ids), len(ids))
    tokens = tuple(
        Token(taken, _top(top, taken, f"{at}.topLogprobs[{i}]"))
        for i, (taken, top) in enumerate(zip(ids, tops, strict=True))
    )
    return GoldenPrompt(prompt, tokens, _number(said["tolerance"], f"{at}.tolerance", 0.0, 10.0))


def _top(said: Any, taken: int, at: str) -> dict[int, float]:
    if not isinstance(said, dict) or not 0 < len(said) <= MAX_TOP:
        raise GoldenError(f"{at}: must be an object of 1 to {MAX_TOP} ids")
    found: dict[int, float] = {}
    for key, value in said.items():
        token = _id(int(key) if key.isascii() and key.isdecimal() and len(key) < 11 else key, at)
        if str(token) != key:  # "07" would be a second name of 7
            raise GoldenError(f"{at}: {_short(key)} is no token id")
        found[token] = _number(value, f"{at}[{token}]", LEAST_LOGPROB, 0.0)
    if taken not in found or found[taken] < max(found.values()):
        raise GoldenError(f"{at}: id {taken} was taken and is not the likeliest listed: not greedy")
    return found


def _id(said: Any, at: str) -> int:
    if type(said) is not int or not 0 <= said <= MAX_TOKEN_ID:
        raise GoldenError(f"{at}: {_short(said)} is no token id")
    return said


def _number(said: Any, at: str, least: float, most: float) -> float:
    if type(said) not in (int, float) or not least <= said <= most:
        raise GoldenError(f"{at}: must be a number from {least:g} to {most:g}, is {_short(said)}")
    return float(said)


def _list(said: Any, at: str, least: int, most: int) -> list[Any]:
    if not isinstance(said, list) or not least <= len(said) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise GoldenError(f"{at}: must be a list of {wanted}")
    return said


def _keys(said: Any, at: str, needed: set[str], allowed: set[str]) -> None:
    if not isinstance(said, dict):
        raise GoldenError(f"{at}: must be an object")
    if missing := sorted(needed - said.keys()):
        raise GoldenError(f"{at}: {', '.join(missing)} missing")
    if unknown := sorted(said.keys() - needed - allowed):
        raise GoldenError(f"{at}: unknown {_short(', '.join(unknown))}")


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise GoldenError(f"{_short(key)} is there twice")
        found[key] = value
    return found


def _no_number(said: str) -> float:
    raise GoldenError(f"{said} is no JSON number")


def _is_broken(text: str) -> bool:
    """JSON can spell half a character, which no request can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _short(said: object) -> str:
    text = repr(said) if isinstance(said, str) else str(said)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
