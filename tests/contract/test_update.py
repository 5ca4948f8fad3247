"""Start, Update, Finish: what the engine accepts, refuses and does not protect from."""

import asyncio

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from contract.oracle import ENDLESS, PROMPT
from contract.subjects import Pair, StartEngine, Subject
from contract.under_test import CALL_S, EngineUnderTest, eventually
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
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


async def test_update_without_a_pause_spoils_running_answers(
    engine: EngineUnderTest, pair: Pair
) -> None:
    engine.needs_plugin()
    tokens: list[str] = []
    async for token, _ in engine.stream(PROMPT, 200):
        tokens.append(token)
        if len(tokens) == 3:
            await engine.transfer(pair.b, "b")
    assert await pair.oracle.explain(engine, tokens, PROMPT) is None


async def test_layer_wise_update_without_a_pause_kills_an_engine_that_runs_requests(
    own_engine: EngineUnderTest, pair: Pair, subject: Subject
) -> None:
    """The next step meets tensors without storage."""
    if subject is not Subject.VLLM:
        pytest.skip("only vLLM's own reload takes the weights away at Start")
    running = asyncio.create_task(own_engine.tokens(PROMPT, ENDLESS))
    await eventually(own_engine.busy)
    with pytest.raises(EngineStateUnknown, match="fatal failure"):
        await own_engine.transfer(pair.b, "b")
    [ended] = await asyncio.gather(running, return_exceptions=True)
    assert isinstance(ended, BaseException) or len(ended) < ENDLESS


async def test_starting_twice_is_internal_and_only_the_text_tells_why(
    engine: EngineUnderTest,
) -> None:
    await engine.control.start_update(deadline_s=CALL_S)
    with pytest.raises(EngineStateUnknown, match="already active"):
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


async def test_finish_without_start_is_internal(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await engine.control.finish_update("x", deadline_s=CALL_S)


async def test_failed_update_closes_its_session(own_engine: EngineUnderTest, pair: Pair) -> None:
    await begin(own_engine, own_engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown, match="Internal"):
        await own_engine.update(InitInfo("never prepared", "sha256:0", ""))
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await own_engine.control.finish_update("b", deadline_s=CALL_S)


async def test_half_loaded_engine_says_it_is_healthy_and_dies_at_the_next_request(
    own_engine: EngineUnderTest, pair: Pair
) -> None:
    await begin(own_engine, own_engine.staged(pair.b))
    with pytest.raises(EngineStateUnknown):
        await own_engine.update(InitInfo("never prepared", "sha256:0", ""))
    await own_engine.resume()
    async with own_engine.http.get("/health") as response:
        assert response.status == 200
    with pytest.raises(EngineStateUnknown, match="ConnectionLost"):
        await own_engine.complete(PROMPT)
    assert await own_engine.process.exit_code() == 1


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


async def test_server_info_answers_in_mid_update_and_is_paused_waits_behind_it(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(update_seconds=1.0) as engine:
        info = engine.staged(pair.b)
        await begin(engine, info)
        update = asyncio.create_task(engine.update(info))
        await eventually(lambda: core_is_busy(engine))
        assert (await engine.control.info(deadline_s=CALL_S)).instance
        assert not update.done()
        assert await engine.is_paused()
        await update


async def test_update_whose_caller_gave_up_is_executed_all_the_same(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(update_seconds=1.0) as engine:
        info = engine.staged(pair.b)
        await begin(engine, info)
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await engine.update(info, deadline_s=0.5)
        await engine.is_paused()  # waits behind it
        assert engine.receipt(info).txn == info.txn


async def test_receipts_prove_the_image(engine: EngineUnderTest, pair: Pair) -> None:
    info = await engine.swap(pair.b, "b")
    index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
    assert index is not None
    [report] = engine.reports()
    found = proof.disproof(
        [engine.receipt(info)], index, [report.plan], txn=info.txn, instance=report.instance
    )
    assert found is None


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


async def test_image_of_the_wrong_size_is_not_prepared(engine: EngineUnderTest, pair: Pair) -> None:
    info = engine.staged(pair.b)
    with files.rank_image(engine.staging / info.region, 0).open("ab") as image:
        image.write(b"\0")
    prepared = await engine.prepare(info)
    assert (prepared.ok, prepared.reason) == (False, "ImageMismatch")


async def test_image_that_is_not_there_is_not_prepared(engine: EngineUnderTest) -> None:
    engine.needs_plugin()
    prepared = await engine.prepare(InitInfo("uid/1/pod/lost", "sha256:0", "images/0/0"))
    assert (prepared.ok, prepared.reason) == (False, "ImageMissing")


async def test_region_outside_the_staging_volume_is_not_prepared(engine: EngineUnderTest) -> None:
    engine.needs_plugin()
    prepared = await engine.prepare(InitInfo("uid/1/pod/out", "sha256:0", "../../etc"))
    assert (prepared.ok, prepared.reason) == (False, "RegionUnsafe")


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"7"])
async def test_payload_that_is_no_json_object_is_refused(
    engine: EngineUnderTest, payload: bytes
) -> None:
    with pytest.raises(EngineRefused, match="InvalidArgument"):
        await engine.control.init_transfer(payload, deadline_s=CALL_S)


async def test_init_with_unknown_keys_is_internal(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineStateUnknown, match="Invalid init_info"):
        await engine.control.init_transfer(b'{"path":"/x"}', deadline_s=CALL_S)


async def test_message_above_32_mib_is_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineRefused, match="OutOfRange"):
        await engine.control.update(b" " * (32 << 20), deadline_s=CALL_S)


async def test_changing_calls_wait_for_each_other(start_engine: StartEngine, pair: Pair) -> None:
    async with start_engine(update_seconds=1.0) as engine:
        info = engine.staged(pair.b)
        await begin(engine, info)
        update = asyncio.create_task(engine.update(info))
        await eventually(lambda: core_is_busy(engine))
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await engine.control.resume(deadline_s=0.1)
        assert not update.done()
        await update


async def test_grpc_health_is_serving_for_the_engine_and_its_services(
    engine: EngineUnderTest,
) -> None:
    stub = health_pb2_grpc.HealthStub(engine.channel)
    for service in ("", "vllm.Control"):
        reply = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=CALL_S)
        assert reply.status == health_pb2.HealthCheckResponse.SERVING
