"""Start, Update, Finish: what the engine accepts, refuses and does not protect from."""

import asyncio

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from contract.oracle import PROMPT
from contract.subjects import Can, Pair, StartEngine, needs
from contract.under_test import CALL_S, EngineUnderTest, eventually
from weightrollout.engine.errors import EngineError, EngineRefused, EngineStateUnknown
from weightrollout.handover import files, proof, records
from weightrollout.handover.records import ImageIndex, InitInfo


async def begin(engine: EngineUnderTest, info: InitInfo) -> None:
    """Paused, prepared, started: the next call writes."""
    await engine.pause()
    assert (await engine.prepare(info)).ok
    await engine.control.start_update(deadline_s=CALL_S)


async def core_is_busy(engine: EngineUnderTest) -> bool:
    try:
        await engine.control.is_paused(deadline_s=0.3)
    except EngineStateUnknown as unknown:
        return unknown.reason == "DeadlineExceeded"
    return False


async def test_swapped_engine_answers_as_a_fresh_process_that_serves_the_new_weights(
    engine: EngineUnderTest, pair: Pair
) -> None:
    await engine.swap(pair.b, "b")
    assert await pair.oracle.explain(engine, await engine.tokens(PROMPT, 50), PROMPT) == ("b",)


async def test_update_is_accepted_without_a_pause(engine: EngineUnderTest, pair: Pair) -> None:
    await engine.transfer(pair.b, "b")
    assert not await engine.is_paused()


@needs(Can.ANSWER_BY_WEIGHTS, Can.SERVE_WHILE_LOADING)
async def test_update_without_a_pause_spoils_running_answers(
    engine: EngineUnderTest, pair: Pair
) -> None:
    tokens: list[str] = []
    async for token, _ in engine.stream(PROMPT, 200):
        tokens += [token] if token else []
        if len(tokens) == 3:
            await engine.transfer(pair.b, "b")
    assert await pair.oracle.explain(engine, tokens, PROMPT) is None


async def test_starting_twice_is_internal_and_only_the_text_tells_why(
    engine: EngineUnderTest,
) -> None:
    await engine.control.start_update(deadline_s=CALL_S)
    words = (
        r"Call to collective_rpc method failed: (?:Worker failed with error ')?"  # of worker processes
        r"start_weight_update called while a weight update is already active"
    )
    with pytest.raises(EngineStateUnknown, match=words):
        await engine.control.start_update(deadline_s=CALL_S)


async def test_update_before_start_is_internal_and_touches_nothing(
    engine: EngineUnderTest, pair: Pair
) -> None:
    info = engine.staged(pair.b)
    assert (await engine.prepare(info)).ok
    before = await engine.complete(PROMPT)
    with pytest.raises(EngineStateUnknown, match="start_weight_update must be called"):
        await engine.update(info)
    assert await engine.complete(PROMPT) == before


@needs(Can.WRITE_FILES)
async def test_start_is_refused_by_a_process_that_prepared_nothing(
    own_engine: EngineUnderTest,
) -> None:
    await own_engine.restart()
    with pytest.raises(EngineStateUnknown, match="no target is prepared in this process"):
        await own_engine.control.start_update(deadline_s=CALL_S)
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await own_engine.control.finish_update("b", deadline_s=CALL_S)


async def test_finish_without_start_is_internal(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await engine.control.finish_update("x", deadline_s=CALL_S)


async def test_failed_update_closes_its_session(own_engine: EngineUnderTest, pair: Pair) -> None:
    await begin(own_engine, own_engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown, match="Internal"):
        await own_engine.update(InitInfo("never prepared", "sha256:0", ""))
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await own_engine.control.finish_update("b", deadline_s=CALL_S)


@needs(Can.BE_TORN)
async def test_half_loaded_engine_says_it_is_healthy_and_dies_at_the_next_request(
    own_engine: EngineUnderTest, pair: Pair
) -> None:
    await begin(own_engine, own_engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown):
        await own_engine.update(InitInfo("never prepared", "sha256:0", ""))
    await own_engine.resume()
    async with own_engine.http.get("/health") as response:
        assert response.status == 200
    with pytest.raises(EngineError):  # a cut connection, or the frontend's last words
        await own_engine.complete(PROMPT)
    assert await own_engine.process.exit_code() != 0


@needs(Can.STAY_WHOLE)
async def test_update_that_was_never_prepared_is_refused_without_harm(
    engine: EngineUnderTest, pair: Pair
) -> None:
    await begin(engine, engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown, match="not prepared"):
        await engine.update(InitInfo("never prepared", "sha256:0", ""))
    await engine.resume()
    assert await pair.oracle.explain(engine, await engine.tokens(PROMPT, 50), PROMPT) == ("a",)


@needs(Can.ANSWER_BY_WEIGHTS)
async def test_full_resend_makes_a_half_loaded_engine_whole(
    own_engine: EngineUnderTest, pair: Pair
) -> None:
    await begin(own_engine, own_engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown):
        await own_engine.update(InitInfo("never prepared", "sha256:0", ""))
    await own_engine.transfer(pair.b, "b")
    await own_engine.resume()
    tokens = await own_engine.tokens(PROMPT, 6)
    assert await pair.oracle.explain(own_engine, tokens, PROMPT) == ("b",)


@needs(Can.BE_SLOW)
async def test_server_info_answers_in_mid_update_and_is_paused_waits_behind_it(
    slow_engine: EngineUnderTest, pair: Pair
) -> None:
    info = slow_engine.staged(pair.b)
    await begin(slow_engine, info)
    update = asyncio.create_task(slow_engine.update(info))
    await eventually(lambda: core_is_busy(slow_engine))
    assert (await slow_engine.control.info(deadline_s=CALL_S)).instance
    assert not update.done()
    assert await slow_engine.is_paused()
    await update


@needs(Can.BE_SLOW)
async def test_update_whose_caller_gave_up_is_executed_all_the_same(
    slow_engine: EngineUnderTest, pair: Pair
) -> None:
    info = slow_engine.staged(pair.b)
    await begin(slow_engine, info)
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await slow_engine.update(info, deadline_s=0.5)
    await slow_engine.is_paused()  # waits behind it
    await slow_engine.control.finish_update("b", deadline_s=CALL_S)
    await slow_engine.resume()
    tokens = await slow_engine.tokens(PROMPT, 6)
    assert await pair.oracle.explain(slow_engine, tokens, PROMPT) == ("b",)


@needs(Can.WRITE_FILES)
async def test_receipts_prove_the_image(engine: EngineUnderTest, pair: Pair) -> None:
    info = await engine.swap(pair.b, "b")
    index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
    assert index is not None
    [report] = engine.reports()
    found = proof.disproof(
        [engine.receipt(info)], index, [report.plan], txn=info.txn, instance=report.instance
    )
    assert found is None


@needs(Can.SPLIT_RANKS)
@needs(Can.ANSWER_BY_WEIGHTS)
async def test_receipts_of_every_rank_prove_the_image(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(ranks=3) as engine:
        info = await engine.swap(pair.b, "b")
        index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
        assert index is not None
        reports = engine.reports()
        assert (await engine.control.info(deadline_s=CALL_S)).world_size == len(reports) == 3
        found = proof.disproof(
            [engine.receipt(info, rank) for rank in range(3)],
            index,
            [report.plan for report in reports],
            txn=info.txn,
            instance=reports[0].instance,
        )
        assert found is None
        tokens = await engine.tokens(PROMPT, 6)
        assert await pair.oracle.explain(engine, tokens, PROMPT) == ("b",)


@needs(Can.WRITE_FILES)
async def test_bytes_that_rotted_after_staging_do_not_prove(
    engine: EngineUnderTest, pair: Pair
) -> None:
    info = engine.staged(pair.b)
    image = files.rank_image(engine.staging / info.region, 0)
    data = bytearray(image.read_bytes())
    data[0] ^= 1
    image.write_bytes(data)
    await begin(engine, info)
    await engine.update(info)
    index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
    assert index is not None
    assert engine.receipt(info).blocks[0] != index.ranks[0].blocks[0]


@needs(Can.WRITE_FILES)
async def test_image_of_the_wrong_size_is_not_prepared(engine: EngineUnderTest, pair: Pair) -> None:
    info = engine.staged(pair.b)
    with files.rank_image(engine.staging / info.region, 0).open("ab") as image:
        image.write(b"\0")
    prepared = await engine.prepare(info)
    assert (prepared.ok, prepared.reason) == (False, "ImageMismatch")


@needs(Can.WRITE_FILES)
async def test_image_that_is_not_there_is_not_prepared(engine: EngineUnderTest) -> None:
    prepared = await engine.prepare(InitInfo("uid/1/pod/lost", "sha256:0", "images/0/0"))
    assert (prepared.ok, prepared.reason) == (False, "ImageMissing")


@needs(Can.WRITE_FILES)
async def test_region_outside_the_staging_volume_is_not_prepared(engine: EngineUnderTest) -> None:
    prepared = await engine.prepare(InitInfo("uid/1/pod/out", "sha256:0", "../../etc"))
    assert (prepared.ok, prepared.reason) == (False, "RegionUnsafe")


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"7"])
async def test_payload_that_is_no_json_object_is_refused(
    engine: EngineUnderTest, payload: bytes
) -> None:
    for send in (engine.control.init_transfer, engine.control.update):
        with pytest.raises(EngineRefused, match=r"InvalidArgument.*must contain"):
            await send(payload, deadline_s=CALL_S)


async def test_init_with_unknown_keys_is_internal(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineStateUnknown, match="Invalid init_info"):
        await engine.control.init_transfer(b'{"path":"/x"}', deadline_s=CALL_S)


@needs(Can.SPEAK_GRPC)
async def test_message_above_32_mib_is_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineRefused, match="OutOfRange"):
        await engine.control.update(b" " * (32 << 20), deadline_s=CALL_S)


@needs(Can.BE_SLOW)
async def test_changing_calls_wait_for_each_other(slow_engine: EngineUnderTest, pair: Pair) -> None:
    info = slow_engine.staged(pair.b)
    await begin(slow_engine, info)
    update = asyncio.create_task(slow_engine.update(info))
    await eventually(lambda: core_is_busy(slow_engine))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await slow_engine.control.resume(deadline_s=0.1)
    assert not update.done()
    await update


@needs(Can.SPEAK_GRPC)
async def test_grpc_health_is_serving_for_the_engine_and_its_services(
    engine: EngineUnderTest,
) -> None:
    for service in ("", "vllm.Control", "vllm.Inference"):
        assert await health(engine, service) == health_pb2.HealthCheckResponse.SERVING


@needs(Can.SPEAK_GRPC)
async def test_grpc_health_says_nothing_of_a_pause_or_an_open_update(
    engine: EngineUnderTest,
) -> None:
    await engine.pause()
    await engine.control.start_update(deadline_s=CALL_S)
    assert await health(engine, "") == health_pb2.HealthCheckResponse.SERVING
    assert await engine.control.serving(deadline_s=CALL_S)


async def health(engine: EngineUnderTest, service: str) -> int:
    stub = health_pb2_grpc.HealthStub(engine.channel)
    request = health_pb2.HealthCheckRequest(service=service)
    status: int = (await stub.Check(request, timeout=CALL_S)).status
    return status
