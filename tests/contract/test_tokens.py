"""Answers by token ids and logprobs: what expect.tokenIds and golden.json are compared with."""

import asyncio

from contract.subjects import Can, needs
from contract.under_test import CALL_S, EngineUnderTest
from weightrollout.engine.protocol import AnswerToken

pytestmark = needs(Can.TELL_LOGPROBS)

PROMPT = "tell me a story"
#: Between two runs of one engine with the same weights.
NOISE = 1e-3


async def ask(engine: EngineUnderTest, *, top: int, max_tokens: int = 6) -> tuple[AnswerToken, ...]:
    return await engine.inference.complete_tokens(
        PROMPT, max_tokens=max_tokens, top=top, deadline_s=CALL_S
    )


async def test_each_token_is_told_by_its_id_and_is_the_likeliest(engine: EngineUnderTest) -> None:
    told = await ask(engine, top=3)
    assert len(told) == 6
    for token in told:
        assert len(token.top) >= 3
        assert token.top[token.id] == max(token.top.values()) <= 0


async def test_ids_are_the_same_however_many_likeliest_ones_are_asked_for(
    engine: EngineUnderTest,
) -> None:
    none, many = await asyncio.gather(ask(engine, top=0), ask(engine, top=20))
    assert [token.id for token in none] == [token.id for token in many]


async def test_same_weights_give_the_same_numbers(engine: EngineUnderTest) -> None:
    first, second = await ask(engine, top=5), await ask(engine, top=5)
    for one, other in zip(first, second, strict=True):
        assert one.id == other.id
        shared = one.top.keys() & other.top.keys()
        assert all(abs(one.top[each] - other.top[each]) < NOISE for each in shared)


async def test_shorter_answer_is_the_beginning_of_the_longer_one(engine: EngineUnderTest) -> None:
    short, long = await ask(engine, top=1, max_tokens=2), await ask(engine, top=1)
    assert [token.id for token in short] == [token.id for token in long[:2]]
