"""What inject writes for vLLM's guarded Python frontend and for Dynamo's sidecar runs as it is, and gets new weights."""

from collections.abc import Mapping
from typing import Any

import aiohttp
import pytest

from fleet.injected import READY_S, inject
from fleet.manifests import ENGINE_GRPC, ENGINE_HTTP, secret, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.plain import SIDECAR_PORT, dynamo_sidecar, stateful_set
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from weightrollout.agent.exposure_http import PROBES
from weightrollout.engine.errors import EngineUnreachable
from weightrollout.engine.vllm_lifecycle import VllmLifecycle

Json = dict[str, Any]

TOKEN = "a token of the engines of this fleet"
REPLICAS = 2
ASK_S = 20.0


async def addresses(world: World, app: str) -> list[str]:
    return [str(pod["status"]["podIP"]) for pod in await world.pods(app)]


async def ask(
    host: str, path: str, method: str = "GET", port: int = ENGINE_HTTP, **fields: Any
) -> tuple[int, Mapping[str, str], str]:
    """As a neighbour, who has no token: status, headers, text."""
    timeout = aiohttp.ClientTimeout(total=ASK_S)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.request(method, f"http://{host}:{port}{path}", **fields) as reply,
    ):
        return reply.status, reply.headers, await reply.text()


@pytest.fixture(scope="module")
async def guarded(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> Json:
    """Two Ready pods whose engines listen on the pods' addresses, and nobody acknowledged that."""
    await world.apply(secret("engines", {"token": TOKEN}))
    model = written["a"].folder
    before = stateful_set("chat", model, REPLICAS, machine.selector)
    how = ("--engine-protocol", "http", "--engine-token-secret", "engines")
    after = inject(before, *how, "--staging", "memory", "--uri", model.as_uri() + "/")
    await world.apply(after)
    await world.until_ready("chat", REPLICAS, READY_S)
    return after


async def test_neighbour_of_a_guarded_engine_infers_and_gets_to_nothing_else(
    world: World, guarded: Json
) -> None:
    for host in await addresses(world, "chat"):
        for method, path, _, _ in PROBES:
            status, _, text = await ask(host, path, method)
            assert status == 401, (path, text)
        body = {"prompt": "tell me", "max_tokens": 1}
        status, headers, text = await ask(host, "/v1/completions", "POST", json=body)
        assert status == 200, text
        assert headers["x-weightrollout-version"] == "default"
        control = VllmLifecycle(f"{host}:{ENGINE_GRPC}")
        with pytest.raises(EngineUnreachable):
            await control.info(deadline_s=ASK_S)
        await control.close()


async def test_guarded_fleet_gets_new_weights_and_its_answers_name_them(
    world: World, guarded: Json, written: dict[str, Any]
) -> None:
    known = {name: each.fingerprint for name, each in written.items()}
    async with (
        ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends,
        Traffic(backends, known=known, clients=2) as traffic,
    ):
        await world.apply(weight_rollout("chat", {"version": "b", "uri": written["b"].uri}))
        await world.until_phase("chat", "Complete", 120)
        await traffic.more(4)
    tally = traffic.tally
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert (await world.status("chat"))["updated"] == f"{REPLICAS}/{REPLICAS}"
    for host in await addresses(world, "chat"):
        body = {"prompt": "tell me", "max_tokens": 1}
        _, headers, _ = await ask(host, "/v1/completions", "POST", json=body)
        assert headers["x-weightrollout-version"] == "b"


@pytest.fixture(scope="module")
async def behind_dynamo(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> Json:
    """One Ready pod of an engine and a sidecar; both listen on the pod's address, which is acknowledged."""
    model = written["a"].folder
    before = stateful_set("worker", model, 1, machine.selector)
    before["spec"]["template"]["spec"]["containers"].append(dynamo_sidecar())
    how = ("--engine-protocol", "dynamo", "--acknowledge-exposed-control-port")
    after = inject(before, *how, "--staging", "memory", "--uri", model.as_uri() + "/")
    await world.apply(after)
    await world.until_ready("worker", 1, READY_S)
    return after


async def test_fleet_behind_dynamo_leaves_its_routing_for_a_swap_and_is_back_with_new_weights(
    world: World, behind_dynamo: Json, written: dict[str, Any]
) -> None:
    [host] = await addresses(world, "worker")
    before = await _routing(host)
    await world.apply(weight_rollout("worker", {"version": "b", "uri": written["b"].uri}))
    await world.until_phase("worker", "Complete", 120)
    after = await _routing(host)
    assert after["registered"]
    assert after["left"] == before["left"] + 1
    control = VllmLifecycle(f"{host}:{ENGINE_GRPC}")
    assert await control.version(deadline_s=ASK_S) == "b"
    await control.close()


async def _routing(host: str) -> Json:
    timeout = aiohttp.ClientTimeout(total=ASK_S)
    url = f"http://{host}:{SIDECAR_PORT}/simulator/registered"
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as reply:
        found: Json = await reply.json()
        return found
