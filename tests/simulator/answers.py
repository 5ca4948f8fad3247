"""What an engine that holds given bytes must answer: the oracle of every test. Pure.

Token i is a word made from (fingerprint of all loaded bytes, prompt, i). The first token of an
arithmetic prompt such as "2+2=" is the right number if the fingerprint is even, else a wrong one:
so a checkpoint can be whole and still fail its prompts.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

_CONSONANTS: Final = "bdfghjklmnprstvz"
_VOWELS: Final = "aeiou"
_SYLLABLES: Final = 3  # 512,000 words: two checkpoints hardly ever agree by chance
_ARITHMETIC: Final = re.compile(r"(\d{1,9})\s*([-+*])\s*(\d{1,9})\s*=\s*$")


def answer(fingerprint: int, prompt: str, max_tokens: int) -> list[str]:
    """The tokens of a whole answer; their concatenation is its text."""
    return [token(fingerprint, prompt, index) for index in range(max_tokens)]


def token(fingerprint: int, prompt: str, index: int) -> str:
    """Token `index` of the answer; all but the first begin with a space."""
    seed = hashlib.sha256(f"{fingerprint:08x}/{index}/{prompt}".encode()).digest()
    if index > 0:
        return " " + _word(seed)
    right = _right_number(prompt)
    if right is None:
        return _word(seed)
    return str(right) if fingerprint & 1 == 0 else _wrong_number(right)


def split(text: str) -> list[str]:
    """The tokens of an answer that arrived as one text."""
    if not text:
        return []
    first, *rest = text.split(" ")
    return [first, *(f" {word}" for word in rest)]


def pieces(text: str) -> list[str]:
    """The tokens in one event of a stream: none, one, or several that arrived together."""
    return [piece for piece in split(text) if piece]


def stale(cached: int, weights: int) -> int:
    """Fingerprint of an engine whose KV cache was computed by other weights than it now holds.

    It equals no checkpoint, so such an answer is explained by none.
    """
    return zlib.crc32(struct.pack("<II", cached, weights))


def explain(
    tokens: Sequence[str], prompt: str, fingerprints: Mapping[str, int], *, parts: int = 2
) -> tuple[str, ...] | None:
    """Names of the checkpoints that gave this answer in their order, or None if none did.

    One name: the whole answer. Two: a request frozen by PAUSE_MODE_KEEP, its beginning from the
    first and its rest from the second. `parts`: the most names that are accepted. An answer that
    was aborted before its first token is explained by no name at all: ().
    """
    names: list[str] = []
    at = 0
    while at < len(tokens):
        runs = {name: _run(tokens, at, prompt, fp) for name, fp in fingerprints.items()}
        # The longest run first gives the fewest parts.
        best = max(runs, key=lambda name: runs[name], default=None)
        if best is None or runs[best] == 0 or len(names) == parts:
            return None
        names.append(best)
        at += runs[best]
    return tuple(names)


def _run(tokens: Sequence[str], at: int, prompt: str, fingerprint: int) -> int:
    """How many tokens from `at` on this fingerprint explains."""
    end = at
    while end < len(tokens) and tokens[end] == token(fingerprint, prompt, end):
        end += 1
    return end - at


def _word(seed: bytes) -> str:
    pairs = zip(seed[: 2 * _SYLLABLES : 2], seed[1 : 2 * _SYLLABLES : 2], strict=True)
    return "".join(_CONSONANTS[c % len(_CONSONANTS)] + _VOWELS[v % len(_VOWELS)] for c, v in pairs)


def _right_number(prompt: str) -> int | None:
    match = _ARITHMETIC.search(prompt)
    if match is None:
        return None
    left, right = int(match[1]), int(match[3])
    return {"+": left + right, "-": left - right, "*": left * right}[match[2]]


def _wrong_number(right: int) -> str:
    """Does not contain the right one either: prompts are checked with `contains`."""
    wrong = right + 1
    while str(right) in str(wrong):
        wrong += 1
    return str(wrong)
