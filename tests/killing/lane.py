"""A namespace with an operator and two serving pods: version after version is rolled out in it, and
in each rollout processes die where they are told to.
"""

import asyncio
import itertools
import shutil
import signal
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiohttp

from fleet.agents import one_is_paced
from fleet.engine import set_faults, state_of
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.traffic import Traffic
from fleet.world import World
from killing.armed import VARIABLE, Armed
from killing.boundaries import Occasion, occasion_of, passed_at
from killing.budget import BudgetWatch
from killing.occasions import (
    DISRUPTIONS,
    FAULTS,
    FLEET,
    LOADS_NOTHING,
    ONE_FIRST,
    POLICIES,
    PROMPTS,
    SLOWLY,
)
from localcluster.access import Cluster, make_namespace, remove_namespace
from localcluster.api import Api
from localcluster.guard import marked
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.handover import files
from weightrollout.swap.journal import Journal

Json = dict[str, Any]

TESTS: Final = Path(__file__).resolve().parents[1]
READY_S: Final = 120.0
#: Far longer than anything takes on a machine that is busy with other tests.
STRUCK_S: Final = 120.0
SETTLED_S: Final = 240.0
#: A client that has not heard yet that a pod is not Ready may still send to it. Such a request waits
#: through the pause; where the engine dies it is lost, and this is what settleSeconds is for.
LATE_CLIENTS_S: Final = 2
#: How long a reservation lasts that is to be given back.
RESERVED_S: Final = 8
#: The next leader should not be waited for longer than the rest of a run takes.
LEASE: Final = ("--lease-seconds=3", "--renew-seconds=2.2", "--retry-seconds=0.4")


@dataclass(frozen=True)
class Weights:
    uri: str
    fingerprint: int
    signed: Json  # the same in a bucket, as spec.weights says it: uri and signature


@dataclass(frozen=True)
class Ground:
    """What all lanes share."""

    cluster: Cluster
    api: Api
    node: VirtualNode
    weights: Sequence[Weights]  # the first are what engines load at their start
    model: Path  # folder of the first
    folder: Path
    environment: Mapping[str, str]  # in which agents find the bucket


@dataclass(frozen=True)
class Outcome:
    points: tuple[str, ...]
    struck: int
    seconds: float  # from the first death until all is as it should be
    nowhere: int  # times that a client found no pod Ready


class Lane:
    """Use `open` and `close`. `run` may be called again and again, until it fails."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._namespace = f"chaos-{uuid.uuid4().hex[:8]}"
        self._folder = ground.folder / self._namespace
        self._armed = Armed(self._folder / "armed")
        self._volume = self._folder / "node-volume"
        self._world = World(ground.cluster, ground.api, self._namespace, self._folder)
        self._version = 0
        self._next_weights = itertools.cycle(ground.weights[1:])
        self._wanted = ground.weights[0]
        self._operator: OperatorProcess | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._ended: int | None = None  # exit code of an operator that nobody killed

    @property
    def mark(self) -> str:
        """In the environment of every process of this lane."""
        return f"{VARIABLE}={self._folder / 'armed'}"

    async def open(self) -> None:
        environment = dict([self.mark.split("=", 1)])
        await make_namespace(self._ground.api, self._namespace)
        await self._world.install_crd()
        on_path = {"PYTHONPATH": str(TESTS)}
        how = OperatorRun("killing.operator", LEASE, {**environment, **on_path})
        self._operator = await self._world.operator(how=how)
        self._keeper = asyncio.create_task(self._keep(self._operator), name="operator's keeper")
        spec = FleetSpec(
            FLEET,
            self._ground.model,
            replicas=2,
            gated=True,
            agent_args=(f"--node-volume={self._volume}", "--node-volume-keep-free=0"),
            node_selector=self._ground.node.selector,
            engine_args=("--token-seconds=0.01", "--speculative=mtp"),
            agent_command=("python", "-m", "killing.agent"),
            engine_command=("python", "-m", "killing.engine"),
            environment={**environment, **self._ground.environment},
        )
        await self._world.let_evict()
        await self._world.deploy(spec)
        await self._world.until_ready(FLEET, 2, READY_S)
        await self._roll_out(Occasion.ROLLOUT)
        await self._settle()

    async def close(self) -> None:
        """Raises AssertionError when a process is left."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})
        if self._operator is not None:
            await self._operator.stop()
        scale = {"spec": {"replicas": 0}}
        path = f"/apis/apps/v1/namespaces/{self._namespace}/statefulsets/{FLEET}"
        await self._ground.api.patch(path, scale, "merge")
        await remove_namespace(self._ground.api, self._namespace)
        await eventually(lambda: not marked(self.mark), 60, "no process is left behind")
        shutil.rmtree(self._folder, ignore_errors=True)

    async def run(self, points: tuple[str, ...]) -> Outcome:
        """Roll the next version out, kill at `points` one after the other, and see what becomes of it."""
        occasion = occasion_of(points[0])
        world, folder = self._world, self._armed
        faults = [FAULTS[occasion]] if occasion in FAULTS else []
        for pod in await world.pods(FLEET):
            await set_faults(pod, *faults)
        known = {str(number): each.fingerprint for number, each in enumerate(self._ground.weights)}
        before = await self._restarts()
        backends = ReadyPods(world.api, self._namespace, f"app={FLEET}", ENGINE_HTTP)
        budget = BudgetWatch(world.api, self._namespace, FLEET)
        async with backends, budget, Traffic(backends, known=known, clients=2) as traffic:
            engines_die = occasion is Occasion.POISONED or any(
                point.startswith("engine/") for point in points
            )
            settle_seconds = LATE_CLIENTS_S if engines_die else 0
            await self._lead_up_to(occasion)
            folder.arm([passed_at(point) for point in points])
            await self._roll_out(occasion, settle_seconds)
            await eventually(folder.struck, STRUCK_S, f"somebody comes by {points[0]}")
            died_at = time.time()
            struck = -1
            while struck != len(folder.struck()):  # one may die after the fleet has settled
                struck = len(folder.struck())
                await self._settle()
            folder.disarm()
            seconds = time.time() - died_at
            await traffic.more(4)
        tally = traffic.tally
        assert (tally.failed, tally.unexplained) == (0, 0), tally.complaints
        assert not budget.breaches, budget.breaches
        await self._explain_restarts(before, points[:struck], occasion)
        if occasion is Occasion.EVICTED:
            await world.api.delete(f"{self._budgets}/{FLEET}")
        return Outcome(points, struck, seconds, tally.nowhere)

    def story(self) -> str:
        """What a person wants to read when a run has failed."""
        logs = [*self._ground.node.logs.glob(f"{self._namespace}_*.log")]
        logs += (self._folder / "operator").glob("*.log")
        newest = sorted(logs, key=lambda log: log.stat().st_mtime)[-8:]
        return "\n".join(
            f"--- {log.name}\n" + "\n".join(log.read_text().splitlines()[-40:]) for log in newest
        )

    async def _restarts(self) -> Counter[tuple[str, str]]:
        """How often each kind of container was restarted, in each pod by its uid."""
        found: Counter[tuple[str, str]] = Counter()
        for pod in await self._world.pods(FLEET):
            status = pod["status"]
            for each in (*status["initContainerStatuses"], *status["containerStatuses"]):
                found[pod["metadata"]["uid"], each["name"]] += each["restartCount"]
        return found

    async def _explain_restarts(
        self, before: Counter[tuple[str, str]], struck: Sequence[str], occasion: Occasion
    ) -> None:
        """Nobody died but who was killed, and engines that were poisoned on purpose."""
        died = Counter(point.split("/")[0] for point in struck)

        async def explained() -> bool:
            now: Counter[str] = Counter()
            for (pod, container), count in (await self._restarts()).items():
                now[container] += count - before[pod, container]
            agents, engines = now[names.AGENT_CONTAINER], now["engine"]
            # Who died in a pod that was evicted is not counted any more.
            fewest = 0 if occasion is Occasion.EVICTED else died["agent"]
            assert fewest <= agents <= died["agent"], f"{agents} agents were restarted"
            enough = died["engine"] + 1 if occasion is Occasion.POISONED else died["engine"]
            most = died["engine"] + 2 if occasion is Occasion.POISONED else died["engine"]
            assert enough <= engines <= most, f"{engines} engines were restarted"
            return True

        await eventually(explained, 20, "every restart is explained", every_s=0.1)

    # -- what happens ---------------------------------------------------------------------

    async def _lead_up_to(self, occasion: Occasion) -> None:
        """What comes before anybody dies."""
        match occasion:
            case Occasion.SUPERSEDED:
                await self._publish(occasion, swap={"settleSeconds": RESERVED_S})
                await eventually(self._one_is_out, STRUCK_S, "a pod is reserved")
            case Occasion.PACED:
                await self._publish(occasion, staging=SLOWLY)
                paced = partial(one_is_paced, self._world, FLEET)
                await eventually(paced, STRUCK_S, "a pod reads slowly")
            case Occasion.SHARED:  # all that it may hold by now, so that it is filled once more
                for entry in (self._volume / "entries").glob("*"):
                    shutil.rmtree(entry, ignore_errors=True)
            case Occasion.EVICTED:
                await self._world.apply(DISRUPTIONS)
                strategy = {**POLICIES[occasion]["strategy"], **ONE_FIRST}
                await self._publish(occasion, strategy=strategy)
                await self._world.until_phase(FLEET, "Paused", SETTLED_S)
                for pod in await self._world.pods(FLEET):
                    if pod["metadata"]["labels"][names.LABEL_VERSION] != self._name:
                        await set_faults(pod, LOADS_NOTHING)
            case _:
                pass

    async def _roll_out(self, occasion: Occasion, settle_seconds: int = 0) -> None:
        assert self._operator is not None
        swap = {**POLICIES.get(occasion, {}).get("swap", {}), "settleSeconds": settle_seconds}
        if occasion in (Occasion.PACED, Occasion.EVICTED):
            await self._apply(occasion, swap=swap)
        else:
            await self._publish(occasion, swap=swap)
        if occasion is Occasion.TAKEOVER:
            self._operator.kill(signal.SIGKILL)

    async def _publish(self, occasion: Occasion, **policy: Json) -> None:
        """A name that was never used, so that it is recorded, read, staged and proven again."""
        self._version += 1
        self._wanted = next(self._next_weights)
        await self._apply(occasion, **policy)

    async def _apply(self, occasion: Occasion, **policy: Json) -> None:
        """The newest weights, again or for the first time."""
        shared = self._wanted.signed if occasion is Occasion.SHARED else {}
        weights = {"version": self._name, "uri": self._wanted.uri, **shared}
        said = {**POLICIES.get(occasion, {}), **policy, "verify": {"prompts": PROMPTS}}
        await self._world.apply(weight_rollout(FLEET, weights, **said))

    @property
    def _name(self) -> str:
        return f"v{self._version}"

    @property
    def _budgets(self) -> str:
        return f"/apis/policy/v1/namespaces/{self._namespace}/poddisruptionbudgets"

    async def _one_is_out(self) -> bool:
        return any(
            condition["type"] == names.GATE_SERVING and condition["status"] == "False"
            for pod in await self._world.pods(FLEET)
            for condition in pod["status"]["conditions"]
        )

    async def _keep(self, operator: OperatorProcess) -> None:
        """As a Deployment does: one that was killed is started again. None may end in another way."""
        while (code := await operator.ended()) == -signal.SIGKILL:
            operator.start()
        self._ended = code

    # -- how it must end ------------------------------------------------------------------

    async def _settle(self) -> None:
        await eventually(self._is_settled, SETTLED_S, "the fleet is as it should be", every_s=0.1)

    async def _is_settled(self) -> bool:
        """Raises AssertionError or LookupError with what is not so yet."""
        if self._ended is not None:
            raise RuntimeError(f"an operator that nobody killed ended with {self._ended}")
        version = self._name
        rollout = await self._world.rollout(FLEET)
        status = rollout.get("status", {})
        said = f"{status.get('phase')}: {status.get('message')}"
        assert status.get("observedGeneration") == rollout["metadata"]["generation"], said
        assert (status["phase"], status["updated"]) == ("Complete", "2/2"), said
        assert status["target"]["version"] == status["stable"]["version"] == version, said
        pods = await self._world.pods(FLEET)
        assert len(pods) == 2, f"{len(pods)} pods"
        for pod in pods:
            self._shows(pod, version)
            await self._serves(pod, version)
            try:
                await asyncio.to_thread(self._keeps_no_litter, pod["metadata"]["name"], version)
            except FileNotFoundError as vanished:
                raise LookupError(f"something is being removed: {vanished}") from vanished
        return True

    def _shows(self, pod: Json, version: str) -> None:
        metadata, name = pod["metadata"], pod["metadata"]["name"]
        conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
        assert conditions.get("Ready") == "True", f"{name} is not Ready"
        assert conditions.get(names.GATE_SERVING) == "True", f"{name} has its gate shut"
        shown = metadata["labels"].get(names.LABEL_VERSION)
        assert shown == version, f"{name} is labelled {shown}"

    async def _serves(self, pod: Json, version: str) -> None:
        name = pod["metadata"]["name"]
        try:
            state = await state_of(pod)
        except (OSError, aiohttp.ClientError) as lost:
            raise LookupError(f"the engine of {name} does not answer: {lost!r}") from lost
        holds = (state["version"], state["fingerprint"], state["paused"], state["halfLoaded"])
        assert holds == (version, self._wanted.fingerprint, None, False), f"{name} holds {holds}"
        assert state["unguardedUpdates"] == 0, f"{name} was updated while it was not paused"

    def _keeps_no_litter(self, pod: str, version: str) -> None:
        node, namespace = self._ground.node, self._namespace
        staging = node.volume(namespace, pod, names.VOLUME_STAGING)
        handover = node.volume(namespace, pod, names.VOLUME_HANDOVER)
        book = Journal.open(staging).book
        assert not book.lost, f"{pod} has lost its journal"
        assert book.running is None, f"{pod} has a transaction left"
        assert book.reservation is None, f"{pod} has a reservation left"
        assert book.serving is not None, f"{pod} proves nothing"
        serving, last_good = book.serving.content, book.last_good
        assert serving.version == version, f"{pod} has proven {serving.version}"
        assert last_good is not None, f"{pod} has no last good"
        hidden = [path for folder in (staging, handover) for path in folder.rglob(".*")]
        assert not hidden, f"{pod} has {hidden} left"
        images = {
            folder.name: [each for each in folder.iterdir() if each.is_dir()]
            for folder in (staging / files.IMAGES).iterdir()
        }
        assert serving.digest.removeprefix("sha256:") in images, f"{pod}: its image is gone"
        # What it serves, what it served before, and one that was given up while it was reserved
        # for it: the next staging removes that one.
        assert len(images) <= 3, f"{pod} keeps images of {sorted(images)}"
        # One of the target and one of its draft.
        assert all(len(plans) == 2 for plans in images.values()), f"{pod} keeps {images}"
        begun = [path for path in self._volume.glob("filling/*") if path.is_dir()]
        assert not begun, f"the volume of the node has {begun} left"
