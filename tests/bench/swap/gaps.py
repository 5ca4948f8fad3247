"""What a streaming client saw, from the times of its tokens. Pure; seconds of one clock in, milliseconds out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = dict[str, Any]
#: Gaps before the swap that say what is usual.
BASE: Final = 40


def between(times: Sequence[float], begin: float, end: float) -> list[float]:
    """Gaps of tokens that lie in part between the two moments, in ms."""
    pairs = itertools.pairwise(times)
    return [1000 * (later - sooner) for sooner, later in pairs if later > begin and sooner < end]


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of them do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def seen(times: Sequence[float], at: Mapping[str, float], prompt_tokens: int) -> Json:
    """Of one stream around one swap. `at`: init, pause and resumed.

    stall: the longest gap around the pause, less the median before. first: from resumed to the next token. lost: tokens
    that were not produced from the pause to the last token, at the rate before. context: tokens to recompute if the KV
    cache is dropped.
    """
    before = between(times, 0.0, at["init"])[-BASE:]
    usual = quantile(before, 0.5)
    after = [each for each in times if each > at["resumed"]]
    if not after or not before:
        raise ValueError(f"{len(before)} gaps before the swap, {len(after)} tokens after it")
    stalled = between(times, at["pause"], after[0])
    produced = sum(1 for each in times if each > at["pause"])
    rate = 1 / (sum(before) / len(before))
    return {
        "usual": usual,
        "before": before,
        "preparing": between(times, at["init"], at["pause"]),
        "stall": max(stalled) - usual,
        "first": 1000 * (after[0] - at["resumed"]),
        "lost": max(0.0, rate * 1000 * (times[-1] - at["pause"]) - produced),
        "window": 1000 * (times[-1] - at["pause"]),
        "context": prompt_tokens + sum(1 for each in times if each <= at["pause"]),
    }
