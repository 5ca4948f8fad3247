"""Agents of a cluster with its real tokens and keys: the operator rolls them, and nobody else gets a word out of them."""

import signal
from typing import Any

import pytest

from fleet.engine import paused_pod, set_faults
from fleet.injected import injected_fleet
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from guarded import answer_to
from localcluster.access import make_service_account, service_account_token
from localcluster.kubeconfig import read_kubeconfig
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.callers import CallerReason, account, audience

Json = dict[str, Any]

DONE_S = 150.0


@pytest.fixture(scope="module")
async def fleet(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> Json:
    """Injected: two pods whose agents ask who calls."""
    return await injected_fleet(world, written["a"].folder, machine.selector)


async def roll(world: World, written: dict[str, Any], version: str) -> Json:
    weights = {"version": version, "uri": written[version].uri}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
    return await world.until_phase("chat", "Complete", DONE_S)


async def answer(world: World, token: str | None) -> tuple[str, str]:
    """Of the first pod's agent: status and reason."""
    pod, *_ = await world.pods("chat")
    target = f"{pod['status']['podIP']}:{names.DEFAULT_GRPC_PORT}"
    code, reason, _ = await answer_to(target, token)
    return code.name, reason


async def audience_of(world: World, index: int) -> str:
    pods = await world.pods("chat")
    return audience(world.namespace, pods[index]["metadata"]["uid"])


async def test_fleet_that_asks_who_calls_gets_new_weights(
    world: World, fleet: Json, written: dict[str, Any]
) -> None:
    assert (await roll(world, written, "b"))["updated"] == "2/2"


async def test_agent_that_was_restarted_is_met_again(
    world: World, fleet: Json, machine: VirtualNode, written: dict[str, Any]
) -> None:
    """It made itself another key; the API server says that its container is another one."""
    machine.kill(world.namespace, "chat-0", names.AGENT_CONTAINER, signal.SIGKILL)
    assert (await roll(world, written, "c"))["updated"] == "2/2"


async def test_agent_that_is_killed_in_mid_swap_is_met_again_and_finishes(
    world: World, fleet: Json, machine: VirtualNode, written: dict[str, Any]
) -> None:
    """Its swap's stream is attached to again, with another certificate on the other side."""
    for pod in await world.pods("chat"):
        await set_faults(pod, {"call": "FinishWeightUpdate", "do": "slow", "seconds": 2.0})
    weights = {"version": "d", "uri": written["d"].uri}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
    victim = await paused_pod(world, "chat")
    machine.kill(world.namespace, victim, names.AGENT_CONTAINER, signal.SIGKILL)
    assert (await world.until_phase("chat", "Complete", DONE_S))["updated"] == "2/2"


async def test_neighbour_without_a_token_is_refused(world: World, fleet: Json) -> None:
    assert await answer(world, None) == ("UNAUTHENTICATED", CallerReason.TOKEN_MISSING)


async def test_token_of_another_account_is_refused(world: World, fleet: Json) -> None:
    token = await service_account_token(
        world.api, world.namespace, "default", [await audience_of(world, 0)]
    )
    assert await answer(world, token) == ("PERMISSION_DENIED", CallerReason.OTHER_ACCOUNT)


async def test_operators_token_for_one_pod_does_not_open_the_next(
    world: World, fleet: Json
) -> None:
    token = await service_account_token(
        world.api, world.namespace, names.OPERATOR_ACCOUNT, [await audience_of(world, 1)]
    )
    assert await answer(world, token) == ("PERMISSION_DENIED", CallerReason.OTHER_AUDIENCE)


async def test_operators_own_token_for_the_api_server_opens_no_agent(
    world: World, fleet: Json
) -> None:
    token = read_kubeconfig(await world.operator_kubeconfig()).token
    assert token
    assert await answer(world, token) == ("PERMISSION_DENIED", CallerReason.OTHER_AUDIENCE)


async def test_operators_token_for_this_pod_opens_it(world: World, fleet: Json) -> None:
    """So that the refusals above were about what they say. An epoch that is over is the agent's own refusal."""
    token = await service_account_token(
        world.api, world.namespace, names.OPERATOR_ACCOUNT, [await audience_of(world, 0)]
    )
    assert await answer(world, token) == ("FAILED_PRECONDITION", "ForeignOwner")


async def test_operator_that_may_not_call_says_so_in_the_status(
    world: World, machine: VirtualNode, fleet: Json, written: dict[str, Any]
) -> None:
    other = account(world.namespace, "somebody-else")
    await make_service_account(world.api, world.namespace, "somebody-else")
    model = written["a"].folder
    await injected_fleet(
        world, model, machine.selector, f"--operator-account={other}", name="locked", gated=False
    )
    weights = {"version": "b", "uri": written["b"].uri}
    await world.apply(weight_rollout("locked", weights))

    async def told() -> bool:
        hold = (await world.status("locked")).get("hold") or {}
        message = str(hold.get("message", ""))
        assert CallerReason.OTHER_ACCOUNT in message, hold
        return other in message

    await eventually(told, DONE_S, "the status says who is let in, and who is not")


async def test_no_token_is_in_any_log(
    world: World, machine: VirtualNode, operator: OperatorProcess, fleet: Json
) -> None:
    """A JWT begins as its header's JSON does in base64."""
    logs = [operator.log, *machine.logs.glob(f"*{names.AGENT_CONTAINER}*")]
    assert len(logs) >= 3
    for log in logs:
        assert "eyJ" not in log.read_text(errors="replace"), log.name
