"""What clients with streams see of a swap, by its settings: nothing, nothing and later, or a stall."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import pytest

from cluster.rollouts.conftest import deployed
from fleet.engine import state_of, url_of
from fleet.held_stream import HeldStream
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.scene import Checkpoint
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.pod_status import is_ready
from localcluster.pod_watch import PodWatch
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

log = logging.getLogger(__name__)

Json = dict[str, Any]
DONE_S: Final = 120.0
PODS: Final = 3
#: Far longer than the streams of `Ground.clients`, which take less than a second.
SERVING: Final = {
    **{"takeOut": "Endpoint", "settleSeconds": 1, "drainSeconds": 60},
    "pauseMode": "Keep",
}
GIVE_UP: Final = {
    **{"takeOut": "Endpoint", "settleSeconds": 1, "drainSeconds": 2},
    "pauseMode": "GiveUp",
}
TRAINING: Final = {
    **{"takeOut": "None", "settleSeconds": 0, "drainSeconds": 0},
    "pauseMode": "Keep",
}
GAVE_UP: Final = 'agent_swaps_total{class="Environment",outcome="GaveUp",reason="RequestsRunning"} '


@dataclass
class Ground:
    """One fleet, whose tests may come in any order."""

    world: World
    name: str
    written: dict[str, Checkpoint]
    serves: str = "a"
    turn: int = 0

    @property
    def known(self) -> dict[str, int]:
        return {name: each.fingerprint for name, each in self.written.items()}

    async def declare_next(self, swap: Json, **strategy: Any) -> tuple[str, str]:
        """The checkpoints that it goes from and to."""
        before, self.turn = self.serves, self.turn + 1
        self.serves = "bcd"[self.turn % 3]
        weights = {"version": f"v{self.turn}", "uri": self.written[self.serves].uri}
        await self.world.apply(weight_rollout(self.name, weights, swap=swap, strategy=strategy))
        return before, self.serves

    async def complete(self) -> Json:
        return await self.world.until_phase(self.name, "Complete", DONE_S)

    async def pod(self, index: int) -> Json:
        return (await self.world.pods(self.name))[index]

    @asynccontextmanager
    async def clients(self) -> AsyncIterator[Traffic]:
        """New streams all the time, of less than a second. None fails, and there is always a pod for it."""
        app = f"app={self.name}"
        async with (
            ReadyPods(self.world.api, self.world.namespace, app, ENGINE_HTTP) as backends,
            Traffic(backends, known=self.known, clients=3, max_tokens=20) as traffic,
        ):
            await traffic.more(PODS)
            yield traffic
            await traffic.more(2 * PODS)
        tally = traffic.tally
        assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints


class _Unready(PodWatch):
    """How often a pod was seen that is not Ready."""

    def __init__(self, world: World, app: str) -> None:
        super().__init__(world.api, world.namespace, f"app={app}")
        self.times = 0

    def _look(self, pod: Json) -> None:
        self.times += not is_ready(pod.get("status") or {})

    def _gone(self, pod: Json) -> None:
        self.times += 1


@pytest.fixture(scope="module", params=[True, False], ids=["gated", "probed"])
async def ground(
    request: pytest.FixtureRequest,
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Checkpoint],
) -> Ground:
    """With the readiness gate, and with the readiness probe alone."""
    spec = FleetSpec(
        *("gated" if request.param else "probed", written["a"].folder, PODS),
        gated=request.param,
        node_selector=machine.selector,
        engine_args=("--token-seconds=0.02",),
    )
    await deployed(world, spec)
    return Ground(world, spec.name, written)


async def given_up(pod: Json) -> float:
    """How often its agent has put it back because its requests ran on."""
    url = f"http://{pod['status']['podIP']}:{names.DEFAULT_HTTP_PORT}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        text = await answer.text()
    found = [line for line in text.splitlines() if GAVE_UP in line]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


async def pauses(pod: Json) -> int:
    return int((await state_of(pod))["calls"].get("PauseGeneration", 0))


async def test_drain_that_is_long_enough_shows_clients_nothing_but_whole_answers(
    ground: Ground,
) -> None:
    async with ground.clients() as traffic:
        before, after = await ground.declare_next(SERVING, maxUnavailable=1)
        await ground.complete()
    assert set(traffic.tally.by_answer) == {before, after}, "no answer mixes versions"


async def test_stream_longer_than_the_drain_goes_on_and_its_pod_is_swapped_when_it_has_ended(
    ground: Ground,
) -> None:
    pod = await ground.pod(0)
    pauses_before, given_up_before = await pauses(pod), await given_up(pod)
    async with ground.clients() as traffic, HeldStream(url_of(pod)) as stream:
        before, after = await ground.declare_next(GIVE_UP, maxUnavailable=1)
        status = await ground.world.until(
            *(ground.name, waits_for(pod["metadata"]["name"]), DONE_S, "it says what it waits for")
        )
        assert status["updated"] == f"{PODS - 1}/{PODS}", "the others did not wait"

        async def again() -> bool:
            return await given_up(pod) >= given_up_before + 2

        await eventually(again, DONE_S, "it was tried again")
        await stream.more(20)
        assert stream.came_from(ground.known) == (before,), "it was not mixed"
        assert await pauses(pod) == pauses_before, "it was not frozen"
        assert not stream.cut
        await ground.world.until_ready(ground.name, PODS, DONE_S)
        assert not (await ground.world.status(ground.name)).get("failures")
    await ground.complete()
    assert await pauses(pod) == pauses_before + 1
    assert set(traffic.tally.by_answer) == {before, after}


def waits_for(pod: str) -> Callable[[Json], bool]:
    def waits(status: Json) -> bool:
        hold = status.get("hold") or {}
        return (hold.get("reason"), hold.get("pods")) == ("RequestsRunning", [pod])

    return waits


async def test_without_take_out_no_pod_leaves_and_streams_stall_and_go_on(
    ground: Ground, record_testsuite_property: Callable[[str, object], None]
) -> None:
    async with AsyncExitStack() as stack:
        unready = await stack.enter_async_context(_Unready(ground.world, ground.name))
        streams = [
            await stack.enter_async_context(HeldStream(url_of(pod)))
            for pod in await ground.world.pods(ground.name)
        ]
        async with ground.clients():
            before, after = await ground.declare_next(TRAINING, maxUnavailable="100%")
            await ground.complete()
        for stream in streams:
            await stream.more(20)
        assert [stream.came_from(ground.known) for stream in streams] == [(before, after)] * PODS
        assert unready.times == 0
    stalls = [round(1000 * stream.stall_s) for stream in streams]
    status = await ground.world.status(ground.name)
    record_testsuite_property(f"stall_millis of {ground.name}", stalls)
    log.warning("streams stalled for %s ms; pauses: %s", stalls, status["pauseMillis"])
