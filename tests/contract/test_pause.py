"""Pause and resume: what happens to running, waiting and new requests."""

import asyncio

import grpc
import pytest

from contract.oracle import CACHED_PROMPT, ENDLESS, LONGEST, PROMPT
from contract.subjects import Can, Pair, StartEngine, needs, seen
from contract.under_test import CALL_S, EngineUnderTest, eventually
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.engine.protocol import PauseWay
from weightrollout.wire.vllm import control_pb2 as pb


async def pause_raw(engine: EngineUnderTest, mode: pb.PauseMode.ValueType) -> None:
    request = pb.PauseGenerationRequest(mode=mode)
    await engine.call("PauseGeneration", request, pb.PauseGenerationResponse)


async def paused_in_mid_answer(
    engine: EngineUnderTest, mode: PauseMode, *, clear_cache: bool = True
) -> tuple[asyncio.Task[None], list[str], list[str | None]]:
    """Begin a long answer and pause after its third token."""
    tokens: list[str] = []
    ends: list[str | None] = []
    third = asyncio.Event()

    async def read() -> None:
        async for token, end in engine.stream(PROMPT, LONGEST):
            tokens.extend([token] if token else [])
            ends.append(end)
            if len(tokens) >= 3:
                third.set()

    reader = asyncio.create_task(read())
    await asyncio.wait_for(third.wait(), CALL_S)
    if clear_cache:
        await engine.pause(mode)
    else:
        await engine.pause_as(PauseWay(mode.lower()), clear_cache=False)
    return reader, tokens, ends


@needs(Can.ANSWER_BY_WEIGHTS)
async def test_keep_freezes_running_requests_until_resume(engine: EngineUnderTest) -> None:
    reader, tokens, _ = await paused_in_mid_answer(engine, PauseMode.KEEP)
    assert not reader.done()
    assert (await engine.inference.load(deadline_s=CALL_S)).running == 1
    await engine.resume()
    await asyncio.wait_for(reader, CALL_S)
    assert len(tokens) == LONGEST


@needs(Can.ANSWER_BY_WEIGHTS)
async def test_kept_answer_is_a_prefix_of_the_old_and_the_rest_of_the_new_weights(
    engine: EngineUnderTest, pair: Pair
) -> None:
    reader, tokens, _ = await paused_in_mid_answer(engine, PauseMode.KEEP)
    await engine.transfer(pair.b, "b")
    await engine.resume()
    await asyncio.wait_for(reader, CALL_S)
    assert await pair.oracle.explain(engine, tokens, PROMPT) == ("a", "b")


@needs(Can.ANSWER_BY_WEIGHTS)
async def test_abort_ends_running_requests_with_what_they_have(
    engine: EngineUnderTest, pair: Pair
) -> None:
    reader, tokens, ends = await paused_in_mid_answer(engine, PauseMode.ABORT)
    await asyncio.wait_for(reader, CALL_S)
    assert ends[-1] == "abort"
    assert await pair.oracle.explain(engine, tokens, PROMPT) == ("a",)


@seen("0.33")
async def test_reason_of_the_end_comes_after_the_last_token(engine: EngineUnderTest) -> None:
    pieces = [piece async for piece in engine.stream(PROMPT, 3)]
    assert pieces[-1] == ("", "length")
    assert all(text and end is None for text, end in pieces[:-1])


@needs(Can.SPEAK_GRPC)
async def test_unspecified_mode_aborts(engine: EngineUnderTest) -> None:
    prompt = asyncio.create_task(engine.complete(PROMPT, ENDLESS))
    await eventually(engine.busy)
    await pause_raw(engine, pb.PAUSE_MODE_UNSPECIFIED)
    with pytest.raises(EngineStateUnknown, match="CompletionAborted"):
        await prompt


@needs(Can.SPEAK_GRPC)
async def test_unknown_mode_is_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="invalid pause mode") as caught:
        await pause_raw(engine, 9)  # type: ignore[arg-type]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@needs(Can.ANSWER_BY_WEIGHTS)
async def test_wait_pause_returns_when_the_last_request_ended(engine: EngineUnderTest) -> None:
    prompt = asyncio.create_task(engine.tokens(PROMPT, LONGEST))
    await eventually(engine.busy)
    await engine.pause_as(PauseWay.WAIT)
    assert not await engine.busy()
    assert len(await prompt) == LONGEST


@needs(Can.SERIALISE)
async def test_wait_pause_blocks_resume_until_its_call_is_cancelled(
    engine: EngineUnderTest,
) -> None:
    endless = asyncio.create_task(engine.complete(PROMPT, ENDLESS))
    await eventually(engine.busy)
    pause = asyncio.create_task(engine.pause_as(PauseWay.WAIT))
    await eventually(engine.is_paused)
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await engine.control.resume(deadline_s=0.2)
    pause.cancel()
    await asyncio.wait([pause])
    assert await engine.is_paused()
    await engine.resume()
    assert not await engine.is_paused()
    endless.cancel()
    await asyncio.wait([endless])


@needs(Can.INTERLEAVE)
async def test_resume_gets_past_a_pause_that_waits(engine: EngineUnderTest) -> None:
    endless = asyncio.create_task(engine.complete(PROMPT, ENDLESS))
    await eventually(engine.busy)
    pause = asyncio.create_task(engine.pause_as(PauseWay.WAIT))
    await eventually(engine.is_paused)
    await engine.resume()
    assert not await engine.is_paused()
    assert not pause.done()
    for task in (pause, endless):
        task.cancel()
    await asyncio.wait([pause, endless])


@needs(Can.SERVE_TWINS)
async def test_resume_over_http_gets_past_the_pause_that_blocks_it_over_grpc(
    engine: EngineUnderTest,
) -> None:
    endless = asyncio.create_task(engine.complete(PROMPT, ENDLESS))
    await eventually(engine.busy)
    pause = asyncio.create_task(engine.pause_as(PauseWay.WAIT))
    await eventually(engine.is_paused)
    async with engine.http.post("/resume") as response:
        assert response.status == 200
    assert not await engine.is_paused()
    assert not pause.done()
    for task in (pause, endless):
        task.cancel()
    await asyncio.wait([pause, endless])


@seen("0.33")
async def test_new_requests_are_rejected_in_an_abort_pause(engine: EngineUnderTest) -> None:
    await engine.pause(PauseMode.ABORT)
    with pytest.raises(EngineRefused, match=r"503.*Generation is paused. Please retry"):
        await engine.complete(PROMPT)


@seen("0.28", "0.29", "0.30", "0.31", "0.32")
async def test_new_requests_wait_in_an_abort_pause_before_0_33(start_engine: StartEngine) -> None:
    async with start_engine(vllm="0.32") as engine:
        await engine.pause(PauseMode.ABORT)
        prompt = asyncio.create_task(engine.tokens(PROMPT, 6))
        await engine.hears()
        assert not prompt.done()
        await engine.resume()
        assert await prompt


@seen("0.28", "0.29", "0.30", "0.31", "0.32")
async def test_new_requests_wait_behind_those_that_a_wait_pause_lets_end_before_0_33(
    start_engine: StartEngine,
) -> None:
    async with start_engine(vllm="0.32") as engine:
        running = asyncio.create_task(engine.tokens(PROMPT, LONGEST))
        await eventually(engine.busy)
        pause = asyncio.create_task(engine.pause_as(PauseWay.WAIT))
        await eventually(engine.is_paused)
        late = asyncio.create_task(engine.tokens(PROMPT, 6))
        await pause
        assert len(await running) == LONGEST
        await engine.hears()
        assert not late.done()
        await engine.resume()
        assert await late


async def test_new_requests_wait_in_a_keep_pause(engine: EngineUnderTest) -> None:
    await engine.pause(PauseMode.KEEP)
    prompt = asyncio.create_task(engine.tokens(PROMPT, 6))
    await engine.hears()
    assert not prompt.done()
    await engine.resume()
    assert await prompt


async def test_metrics_stand_still_in_a_keep_pause(engine: EngineUnderTest) -> None:
    """A request that is frozen counts as running, and one that arrived since does not count."""
    reader, tokens, _ = await paused_in_mid_answer(engine, PauseMode.KEEP)
    late = asyncio.create_task(engine.tokens(PROMPT, 6))
    await engine.hears()
    load = await engine.inference.load(deadline_s=CALL_S)
    assert (load.running, load.waiting) == (1, 0)
    await engine.resume()
    assert await late
    await reader
    assert len(tokens) == LONGEST


async def test_abort_pause_leaves_no_request_in_the_metrics(engine: EngineUnderTest) -> None:
    reader, _, _ = await paused_in_mid_answer(engine, PauseMode.ABORT)
    await reader

    async def idle() -> bool:
        return not await engine.busy()

    await eventually(idle)


@needs(Can.NOTICE_WHO_LEFT)
async def test_request_whose_client_left_does_not_keep_the_engine_busy(
    engine: EngineUnderTest,
) -> None:
    prompt = asyncio.create_task(engine.complete(PROMPT, ENDLESS))
    await eventually(engine.busy)
    prompt.cancel()

    async def idle() -> bool:
        return not await engine.busy()

    await eventually(idle)


async def test_resume_is_idempotent(engine: EngineUnderTest) -> None:
    await engine.resume()
    await engine.resume()
    assert not await engine.is_paused()


@needs(Can.ANSWER_BY_WEIGHTS)
@pytest.mark.parametrize(("clear_cache", "right"), [(None, True), (True, True), (False, False)])
async def test_prefix_cache_outlives_the_weights_unless_the_pause_clears_it(
    engine: EngineUnderTest, pair: Pair, clear_cache: bool | None, right: bool
) -> None:
    await engine.tokens(CACHED_PROMPT, 6)
    await engine.pause_as(PauseWay.KEEP, clear_cache=clear_cache)
    await engine.transfer(pair.b, "b")
    await engine.resume()
    tokens = await engine.tokens(CACHED_PROMPT, LONGEST)  # a few may be the same by chance
    assert (await pair.oracle.explain(engine, tokens, CACHED_PROMPT) == ("b",)) is right


@needs(Can.EMPTY_ITS_CACHE, Can.ANSWER_BY_WEIGHTS)
async def test_prefix_cache_can_be_emptied_by_itself(engine: EngineUnderTest, pair: Pair) -> None:
    await engine.tokens(CACHED_PROMPT, 6)
    await engine.pause_as(PauseWay.KEEP, clear_cache=False)
    await engine.transfer(pair.b, "b")
    control = engine.control
    assert await control.reset_prefix_cache(running=False, external=False, deadline_s=CALL_S)
    await engine.resume()
    tokens = await engine.tokens(CACHED_PROMPT, LONGEST)
    assert await pair.oracle.explain(engine, tokens, CACHED_PROMPT) == ("b",)


@needs(Can.EMPTY_ITS_CACHE)
async def test_prefix_cache_is_not_emptied_while_a_request_holds_it(
    engine: EngineUnderTest,
) -> None:
    reader, _, _ = await paused_in_mid_answer(engine, PauseMode.KEEP, clear_cache=False)
    control = engine.control
    assert not await control.reset_prefix_cache(running=False, external=False, deadline_s=CALL_S)
    assert await control.reset_prefix_cache(running=True, external=False, deadline_s=CALL_S)
    await engine.resume()
    await asyncio.wait_for(reader, CALL_S)


@needs(Can.EMPTY_ITS_CACHE)
async def test_clearing_pause_takes_the_prefix_cache_from_what_it_freezes(
    engine: EngineUnderTest,
) -> None:
    reader, _, _ = await paused_in_mid_answer(engine, PauseMode.KEEP)
    control = engine.control
    assert await control.reset_prefix_cache(running=False, external=False, deadline_s=CALL_S)
    await engine.resume()
    await asyncio.wait_for(reader, CALL_S)
