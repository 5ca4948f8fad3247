"""Ask the running engine what it must be able to answer: spec.verify.prompts, then golden.json.

In: what is expected, and the engine's HTTP side. Out: nothing, or why the answer is not what it must
be. An engine that does not answer raises EngineError: no answer is not a wrong answer.
"""

from collections.abc import Callable
from typing import Final

from weightrollout.api import pattern
from weightrollout.api.spec import Expect, Prompt
from weightrollout.engine.protocol import Inference
from weightrollout.weights.golden import Golden, Token, mismatch

#: A message shows so much of a prompt, of what was expected, and of the answer.
SHOWN: Final = 200


async def complaint(
    inference: Inference,
    prompts: tuple[Prompt, ...],
    golden: Golden | None,
    limit_s: Callable[[], float],
) -> str | None:
    """What is wrong with the first wrong answer; None: all are right. `limit_s`: of the next one."""
    for asked in prompts:
        wrong = await _ask(inference, asked, limit_s())
        if wrong is not None:
            return f"prompt {_short(asked.prompt)}: {wrong}"
    for number, known in enumerate(golden.prompts if golden is not None else ()):
        got = await inference.complete_tokens(
            known.prompt, max_tokens=len(known.tokens), top=known.top, deadline_s=limit_s()
        )
        wrong = mismatch(known, [Token(each.id, each.top) for each in got])
        if wrong is not None:
            return f"golden.json prompt {number} {_short(known.prompt)}: {wrong}"
    return None


async def _ask(inference: Inference, asked: Prompt, limit_s: float) -> str | None:
    if (ids := asked.expect.token_ids) is not None:
        told = await inference.complete_tokens(
            asked.prompt, max_tokens=asked.max_tokens, top=0, deadline_s=limit_s
        )
        return wrong_ids(ids, tuple(each.id for each in told))
    text = await inference.complete(asked.prompt, max_tokens=asked.max_tokens, deadline_s=limit_s)
    return wrong_text(asked.expect, text)


def wrong_text(expect: Expect, got: str) -> str | None:
    if expect.contains is not None and expect.contains not in got:
        wanted = f"that contains {_short(expect.contains)}"
    elif expect.regex is not None and not pattern.found(expect.regex, got):
        wanted = f"that matches {_short(expect.regex)}"
    else:
        return None
    return f"expected an answer {wanted}, got {_short(got)}"


def wrong_ids(wanted: tuple[int, ...], got: tuple[int, ...]) -> str | None:
    begun = got[: len(wanted)]
    if begun == wanted:
        return None
    at = next(
        (i for i, (a, b) in enumerate(zip(wanted, begun, strict=False)) if a != b), len(begun)
    )
    return (
        f"expected an answer that begins with the tokens {_short_ids(wanted)}, got"
        f" {_short_ids(begun)}: they differ at position {at}"
    )


def _short_ids(ids: tuple[int, ...]) -> str:
    text = ", ".join(map(str, ids))
    return f"[{text}]" if len(text) <= SHOWN else f"[{text[:SHOWN]}...]"


def _short(text: str) -> str:
    shown = repr(text[:SHOWN])[: 2 * SHOWN]  # what has no sign of its own is spelt out
    return shown if len(text) <= SHOWN else f"{shown}..."
