"""Each thing that an API server, or what stands before it, does on a bad day, in the middle of a rollout.

One fleet of two pods and one operator, which reaches the API server through a proxy of ours and never
restarts. Durations are shorter than in life ("503 for a minute" is some seconds): the code paths are the same.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from apiproxy import faults as f
from apiproxy.proxy import ApiProxy, api_proxy, watch_counts
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from localcluster.api import Mirror
from localcluster.kubeconfig import read_kubeconfig
from localcluster.waiting import eventually

pytestmark = pytest.mark.faults

DONE_S: Final = 90.0
HITS: Final = 3
WRITES: Final = 90  # a rollout of two pods needs 25 to 35 without any fault, and is refused some
WATCHES_PER_S: Final = 4  # of one kind, on average; a loop without a pause opens hundreds

FAULTS: Final = {
    "conflict_on_every_write": (f.Refuse(f.writes, 409, "Conflict"), 3.0),
    "gone_on_every_watch": (f.Refuse(f.watches, 410, "Expired"), 2.0),
    "gone_in_the_stream": (f.ErrorInTheStream(code=410, reason="Expired"), 2.0),
    "invalid_on_every_write": (f.Refuse(f.writes, 422, "Invalid"), 2.0),
    "too_many_requests": (f.Refuse(f.everything, 429, "TooManyRequests", "1"), 3.0),
    "server_errors": (f.Refuse(f.everything, 500, "InternalError"), 2.0),
    "server_error_in_the_stream": (f.ErrorInTheStream(), 2.0),
    "away_for_longer_than_the_lease": (f.Refuse(f.everything, 503), 6.0),
    "hung_streams": (f.HungStreams(), 2.0),
    "watches_that_close_at_once": (f.ClosedAtOnce(), 4.0),
    "five_seconds_late": (f.Delay(f.everything, 5.0), 6.0),
    "events_reordered_and_doubled": (f.Shuffled(), 6.0),
    "answers_cut_in_the_middle": (f.Truncated(f.everything), 2.0),
}


@dataclass
class Ground:
    world: World
    proxy: ApiProxy
    operator: OperatorProcess
    checkpoints: dict[str, Any]
    rollouts: int = 0

    def weights(self) -> dict[str, str]:
        """The next version: b and c in turn, for pods start with a."""
        self.rollouts += 1
        return {
            "version": f"v{self.rollouts}",
            "uri": self.checkpoints["bc"[self.rollouts % 2]].uri,
        }


@pytest.fixture(scope="module")
async def proxy(world: World) -> AsyncIterator[ApiProxy]:
    async with api_proxy(read_kubeconfig(world.cluster.kubeconfig)) as found:
        yield found


@pytest.fixture(scope="module")
async def operator(world: World, proxy: ApiProxy) -> AsyncIterator[OperatorProcess]:
    """Through the proxy, and with less patience for silent streams."""
    kubeconfig = proxy.kubeconfig(await world.operator_kubeconfig(), "proxied.kubeconfig")
    process = OperatorProcess(
        kubeconfig,
        world.namespace,
        world.folder / "operator",
        how=OperatorRun("apiproxy.impatient_operator"),
    )
    process.start()
    yield process
    await process.stop()


@pytest.fixture(scope="module")
async def ground(
    world: World,
    proxy: ApiProxy,
    operator: OperatorProcess,
    fleet: FleetSpec,
    written: dict[str, Any],
) -> Ground:
    found = Ground(world, proxy, operator, written)
    await world.apply(rollout(found.weights()))
    await world.until_phase("chat", "Complete", DONE_S)
    return found


def rollout(weights: dict[str, str]) -> dict[str, Any]:
    return weight_rollout("chat", weights, swap={"settleSeconds": 0})


@pytest.fixture
async def out(ground: Ground) -> AsyncIterator[list[int]]:
    """How many pods of the fleet were not Ready, at each change."""
    seen: list[int] = []
    ready: dict[str, bool] = {}

    def note(pod: dict[str, Any]) -> None:
        conditions = pod.get("status", {}).get("conditions", [])
        ready[pod["metadata"]["name"]] = any(
            each["type"] == "Ready" and each["status"] == "True" for each in conditions
        )
        seen.append(sum(not each for each in ready.values()))

    path = f"/api/v1/namespaces/{ground.world.namespace}/pods"
    mirror = Mirror(ground.world.api, path, note, labelSelector="app=chat")
    task = asyncio.create_task(mirror.run())
    await asyncio.wait_for(mirror.synced.wait(), 10)
    yield seen
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def ghost(ground: Ground) -> str:
    """A pod that no scheduler places: it is there only for the API server. Its path, once it is counted."""
    pods = f"/api/v1/namespaces/{ground.world.namespace}/pods"
    name = f"ghost-{ground.rollouts}"
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"weightrollout.dev/name": "chat"}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "engine", "image": "x"}]},
    }
    await ground.world.api.create(pods, body)
    await ground.world.until("chat", lambda said: selected(said) == 3, 30, "the pod is counted")
    return f"{pods}/{name}"


def selected(status: dict[str, Any]) -> int:
    return int(status.get("pods", {}).get("selected", 0))


@pytest.mark.parametrize("name", FAULTS)
async def test_rollout_survives(name: str, ground: Ground, out: list[int]) -> None:
    world, proxy = ground.world, ground.proxy
    fault, lasts_s = FAULTS[name]
    pid, doomed, weights = ground.operator.pid, await ghost(ground), ground.weights()
    said_before = ground.operator.log.stat().st_size
    loop = asyncio.get_running_loop()
    begun = loop.time()
    with proxy.fault(fault):
        await world.apply(rollout(weights))
        await world.api.delete(doomed, gracePeriodSeconds="0")
        await eventually(lambda: fault.hits >= HITS, DONE_S, "the fault was met")
        await asyncio.sleep(lasts_s)  # how long the fault lasts
    under_fault = proxy.since(begun)
    fault_s = loop.time() - begun
    done = await world.until(
        "chat",
        lambda said: (
            said["phase"] == "Complete" and said["desired"]["version"] == weights["version"]
        ),
        DONE_S,
        "the rollout is complete",
    )
    log = (await asyncio.to_thread(ground.operator.log.read_text))[said_before:]
    await eventually(lambda: proxy.watched("weightrollouts"), DONE_S, "kopf watches again")
    made = [call for call in proxy.since(begun) if f.writes(call)]
    print(f"{name}: {len(made)} writes, watches {watch_counts(under_fault)} in {fault_s:.1f} s")

    assert done["updated"] == "2/2"
    assert selected(done) == 2, "a pod that was deleted during the fault is still counted"
    assert max(out, default=0) <= 1, "the budget was exceeded"
    assert len(made) <= WRITES, Counter((call.verb, call.path) for call in made)
    opened = max(watch_counts(under_fault).values(), default=0)
    assert opened <= HITS + WATCHES_PER_S * fault_s, watch_counts(under_fault)
    assert (ground.operator.exit_code, ground.operator.pid) == (None, pid), log[-2000:]
    assert "Traceback" not in log, f"see {ground.operator.log}"
