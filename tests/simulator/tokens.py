"""Token ids and logprobs of an answer: functions of the loaded bytes, as its words are. Pure.

The id of a word is a hash of its text, so an answer has one list of ids. The logprobs of one position
are made from (fingerprint, prompt, position): other weights give other numbers, also where by chance
they take the same token.
"""

import hashlib
import math
import struct
from collections.abc import Sequence
from typing import Any, Final

from simulator.answers import token

#: What a real engine's default allows to ask for (--max-logprobs).
MAX_LOGPROBS: Final = 20
_VOCABULARY: Final = 151_936


def token_id(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % _VOCABULARY


def ids(fingerprint: int, prompt: str, count: int) -> list[int]:
    """Ids of the first `count` tokens of the greedy answer."""
    return [token_id(token(fingerprint, prompt, index)) for index in range(count)]


def top(fingerprint: int, prompt: str, index: int, count: int) -> dict[int, float]:
    """The `count` likeliest ids at one position and their logprobs, the one that is taken first."""
    seed = hashlib.sha256(f"logprobs/{fingerprint:08x}/{index}/{prompt}".encode()).digest()
    best, step = struct.unpack(">II", seed[:8])
    logprob = -(0.01 + best / 2**32)
    found = {token_id(token(fingerprint, prompt, index)): logprob}
    base, tried = int.from_bytes(seed[8:12]), 0
    while len(found) < count:
        tried += 1
        other = (base + tried * 7919) % _VOCABULARY
        found.setdefault(other, logprob - len(found) * (0.1 + step / 2**32))
    return found


def golden(fingerprint: int, prompt: str, count: int, likeliest: int = 3) -> dict[str, Any]:
    """One prompt of a golden.json, as a trainer would record it from an engine with these weights."""
    return {
        "prompt": prompt,
        "tokenIds": ids(fingerprint, prompt, count),
        "topLogprobs": [
            {
                str(each): math.floor(value * 1e4) / 1e4
                for each, value in top(fingerprint, prompt, i, likeliest).items()
            }
            for i in range(count)
        ],
        "tolerance": 0.01,
    }


def logprobs(fingerprints: Sequence[int], prompt: str, likeliest: int) -> dict[str, Any]:
    """As /v1/completions tells it; `fingerprints`: of the weights that each token was computed with."""
    tops = [
        top(fingerprint, prompt, index, max(1, likeliest))
        for index, fingerprint in enumerate(fingerprints)
    ]
    named = [{f"token_id:{each}": value for each, value in told.items()} for told in tops]
    return {
        "tokens": [next(iter(each)) for each in named],
        "token_logprobs": [next(iter(each.values())) for each in named],
        "top_logprobs": named,
        "text_offset": [0] * len(named),
    }
