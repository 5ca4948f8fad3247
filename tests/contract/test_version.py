"""The version is a label in engine memory: nothing checks it and a restart forgets it."""

import pytest

from contract.subjects import Pair
from contract.under_test import CALL_S, EngineUnderTest
from weightrollout.engine.errors import EngineRefused


async def version(engine: EngineUnderTest) -> str:
    return await engine.control.version(deadline_s=CALL_S)


async def test_version_is_default_after_a_restart(own_engine: EngineUnderTest, pair: Pair) -> None:
    await own_engine.swap(pair.b, "b")
    assert await version(own_engine) == "b"
    before = (await own_engine.control.info(deadline_s=CALL_S)).instance
    await own_engine.restart()
    assert await version(own_engine) == "default"
    assert (await own_engine.control.info(deadline_s=CALL_S)).instance != before


async def test_update_alone_does_not_change_the_version(
    engine: EngineUnderTest, pair: Pair
) -> None:
    before = await version(engine)
    await engine.transfer(pair.b, None)
    assert await version(engine) == before


async def test_version_can_be_set_without_weights_or_pause(engine: EngineUnderTest) -> None:
    await engine.control.set_version("anything", deadline_s=CALL_S)
    assert await version(engine) == "anything"


async def test_blank_version_can_not_be_set(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineRefused, match="must not be empty"):
        await engine.control.set_version(" ", deadline_s=CALL_S)


async def test_blank_version_is_refused_and_the_session_stays_open(engine: EngineUnderTest) -> None:
    await engine.control.start_update(deadline_s=CALL_S)
    with pytest.raises(EngineRefused, match="must not be empty"):
        await engine.control.finish_update(" ", deadline_s=CALL_S)
    await engine.control.finish_update(None, deadline_s=CALL_S)
