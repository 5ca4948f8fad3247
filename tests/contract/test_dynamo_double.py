"""The double of Dynamo's sidecar says what the sidecar says, to the same requests in the same order."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from contract.conftest import StartSidecar
from contract.subjects import Pair
from contract.under_test import CALL_S, eventually
from dynamos.sidecar import registered
from simulator.process import EngineProcess, engine_process

Request = tuple[str, Any]  # a route below /engine/, and a body: JSON, or bytes as they are

PAUSE: Final = "control/pause_generation"
RESUME: Final = "control/resume_generation"
SLEEP: Final = "control/sleep"
WAKE: Final = "control/wake_up"
PAUSED: Final = "control/is_paused"
VERSION: Final = "control/get_weight_version"
LABEL: Final = "update/update_weight_version"
INIT: Final = "update/init_weight_transfer_engine"
START: Final = "update/start_weight_update"
UPDATE: Final = "update/update_weights"
FINISH: Final = "update/finish_weight_update"
LARGE: Final = json.dumps({"init_info": {"handle": "x" * (2 << 20)}}).encode()


@dataclass(frozen=True)
class Sides:
    """Two engines, alike: one behind the double, one behind Dynamo's sidecar."""

    double: EngineProcess
    dynamo: EngineProcess
    folder: Path  # of Dynamo's discovery


StartSides = Callable[[str], AbstractAsyncContextManager[Sides]]


@pytest.fixture(scope="module")
def start_sides(
    dynamo: StartSidecar, simulated_pair: Pair, tmp_path_factory: pytest.TempPathFactory
) -> StartSides:
    @asynccontextmanager
    async def started(discovery: str) -> AsyncIterator[Sides]:
        folder = tmp_path_factory.mktemp("dynamo")
        start = partial(
            engine_process, model=simulated_pair.a, staging=folder, enable_sleep_mode=True
        )
        async with (
            start(handover=folder / "double", sidecar=True) as double,
            start(handover=folder / "dynamo") as behind,
            dynamo(behind, discovery) as files,
        ):
            yield Sides(double, behind, files)

    return started


@pytest.fixture(scope="module")
async def sides(start_sides: StartSides) -> AsyncIterator[Sides]:
    async with start_sides("mem") as started:
        yield started


@pytest.fixture(scope="module")
async def routed_sides(start_sides: StartSides) -> AsyncIterator[Sides]:
    """With a discovery that can be looked at."""
    async with start_sides("file") as started:
        yield started


def wrong(route: str, *bodies: Any) -> list[Request]:
    return [(route, body) for body in bodies]


CONVERSATIONS: Final[dict[str, list[Request]]] = {
    "bodies of reads": wrong(PAUSED, b"", {}, [], "x", 3, None, {"more": 1}, b"{", b"nul")
    + wrong(VERSION, {}, []),
    "routes that are not there": wrong("control/nothing", {}, [], b"{")
    + wrong("update/nothing", {})
    + wrong("pause", {}),
    "a pause": [
        *wrong(PAUSE, {"mode": "x"}, {"mode": 3}, {"mode": "KEEP"}, [], b"{"),
        *wrong(PAUSE, {"clear_cache": "x"}, {"clear_cache": 0}, {"mode": "x", "clear_cache": "y"}),
        (PAUSED, {}),
        *wrong(PAUSE, {"mode": None, "clear_cache": None}, {"mode": "keep", "clear_cache": False}),
        *wrong(PAUSE, {"mode": "wait"}, {"mode": "abort", "tags": ["x"]}),
        (PAUSED, {}),
        *wrong(RESUME, [], {"mode": "x", "clear_cache": "x", "tags": ["x"]}, {}),
        (PAUSED, {}),
    ],
    "a sleep": [
        *wrong(SLEEP, {"level": 3}, {"level": -1}, {"level": 1.0}, {"level": True}, {"level": "1"}),
        *wrong(SLEEP, {"mode": "x", "level": 9}, {"mode": "x"}, {"mode": 4}, []),
        *wrong(SLEEP, {"level": 0, "clear_cache": "x"}),
        *wrong(WAKE, {"tags": ["x"]}, {"tags": "weights"}, {"tags": [3]}, {"tags": {}}, []),
        (PAUSED, {}),
        *wrong(WAKE, {"tags": None, "mode": "x"}),
        *wrong(SLEEP, {"level": 1, "mode": "keep"}),
        *wrong(WAKE, {"tags": ["weights"]}),
        *wrong(RESUME, {}),
        *wrong("control/is_sleeping", {}, []),
        *wrong(WAKE, {"tags": ["kv_cache"]}, {"tags": ["scheduling"]}, {"tags": []}),
        (RESUME, {}),
    ],
    "a label": [
        *wrong(LABEL, {}, {"new_version": ""}, {"new_version": 3}, {"new_version": None}, []),
        *wrong(LABEL, {"new_version": " "}, {"new_version": "v1"}),
        (VERSION, {}),
    ],
    "an update that the engine does not want": [
        *wrong(INIT, {}, {"init_info": []}, {"init_info": None}, {"init_info": "x"}, [], b"{"),
        *wrong(INIT, {"init_info": {}}, {"init_info": {"a": 1}}, LARGE),
        *wrong(START, [], {}),
        *wrong(UPDATE, {}, {"update_info": []}, [], {"update_info": {"a": 1}}),
        *wrong(FINISH, [], {"weight_version": 3}, {"weight_version": ""}, {"weight_version": None}),
        ("update/start_draft_weight_update", {}),
    ],
}


async def answers(engine: EngineProcess, requests: list[Request]) -> list[tuple[Request, Any]]:
    """With each request, for whoever reads a difference."""
    came: list[tuple[Request, Any]] = []
    timeout = aiohttp.ClientTimeout(total=CALL_S)
    async with aiohttp.ClientSession(f"http://{engine.sidecar}", timeout=timeout) as session:
        for route, body in requests:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            async with session.post(f"/engine/{route}", data=BytesIO(data)) as response:
                said = await response.text()
                came.append(((route, body), (response.status, response.content_type, plain(said))))
    return came


def plain(text: str) -> Any:
    """Without what counts calls, and without the words of a JSON library."""
    text = re.sub(r"call_id=\d+", "call_id=N", text)
    try:
        body = json.loads(text)
    except ValueError:
        return text
    if body.get("error") == "Invalid JSON":
        del body["message"]
    return body


@pytest.mark.parametrize("about", CONVERSATIONS)
async def test_both_give_the_same_answers(sides: Sides, about: str) -> None:
    theirs = await answers(sides.dynamo, CONVERSATIONS[about])
    ours = await answers(sides.double, CONVERSATIONS[about])
    assert ours == theirs


@pytest.mark.parametrize(
    "code",
    [
        *("CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
        *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
        *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
        "UNAUTHENTICATED",
    ],
)
async def test_both_tell_a_failure_of_the_engine_in_the_same_words(sides: Sides, code: str) -> None:
    failure = {"call": "IsPaused", "do": "refuse", "code": code}
    said = []
    for engine in (sides.dynamo, sides.double):
        await engine.set_faults(failure)
        said.append(await answers(engine, [(PAUSED, {})]))
        await engine.set_faults()
    assert said[1] == said[0]


@pytest.mark.parametrize(
    ("leaves", "stays_out", "comes_back"),
    [
        ([(PAUSE, {"mode": "keep"})], [(PAUSED, {})], [(RESUME, {})]),
        (
            [(SLEEP, {"level": 1})],
            [(WAKE, {"tags": ["weights"]}), (RESUME, {})],
            [(WAKE, {"tags": ["kv_cache"]})],
        ),
    ],
)
async def test_both_take_the_worker_out_of_routing_and_put_it_back(
    routed_sides: Sides,
    leaves: list[Request],
    stays_out: list[Request],
    comes_back: list[Request],
) -> None:
    for requests, routed in ((leaves, False), (stays_out, False), (comes_back, True)):
        for engine in (routed_sides.double, routed_sides.dynamo):
            await answers(engine, requests)
        await routing(routed_sides, routed)


async def test_both_leave_a_worker_out_whose_pause_failed(routed_sides: Sides) -> None:
    engines = (routed_sides.double, routed_sides.dynamo)
    for engine in engines:
        await engine.set_faults({"call": "PauseGeneration", "do": "error"})
        await answers(engine, [(PAUSE, {})])
        await engine.set_faults()
    await routing(routed_sides, False)
    for engine in engines:
        await answers(engine, [(RESUME, {})])
    await routing(routed_sides, True)


async def routing(sides: Sides, expected: bool) -> None:
    """Wait until both have the worker in their routing, or neither."""

    async def as_expected() -> bool:
        url = f"http://{sides.double.sidecar}/simulator/registered"
        async with aiohttp.request("GET", url) as response:
            double = (await response.json())["registered"]
        return double is expected and registered(sides.folder) is expected

    await eventually(as_expected, what=f"both {'have' if expected else 'have not'} the worker")
