"""Record the conversations of this release: a first rollout that fails, two that go well, a second
leader, a reservation that is given back."""

import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from checkpoints import write_checkpoint
from cluster_fixtures import PROGRAMS
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from gobinary import BuildFailed
from localcluster.access import make_namespace
from localcluster.build import control_plane_binary
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from onepod import SEEDS
from weightrollout import __version__
from weightrollout.api import names
from weightrollout.swap.journal import FILE as JOURNAL
from wirerecord.agent import RECORD
from wirerecord.line import CONVERSATION, RELEASES, calls, read

NAMESPACE: Final = "weightrollout"
PROMPTS: Final = [{"prompt": "2+2=", "maxTokens": 4, "expect": {"contains": "4"}}]
SOON_S: Final = 120.0


class Scene:
    def __init__(self, world: World, folder: Path, record: Path) -> None:
        self.world = world
        self.folder = folder
        self.record = record

    async def want(self, name: str, *, mode: str = "Run", settle_s: int = 0) -> None:
        weights = {"version": name, "uri": (self.folder / name).as_uri() + "/"}
        await self.world.apply(
            weight_rollout(
                *("chat", weights),
                mode=mode,
                swap={"settleSeconds": settle_s},
                verify={"prompts": PROMPTS},
            )
        )

    async def asked(self, call: str, version: str) -> None:
        def found() -> bool:
            return any(
                each.name == call and each.request.weights.version == version
                for each in calls(read(self.record))
            )

        await eventually(found, SOON_S, f"{call} of {version} is asked for", every_s=0.02)

    async def play(self, operator: OperatorProcess) -> None:
        await self.want("wrong")
        await self.world.until_phase("chat", "RolledBack", SOON_S)
        await self.want("b")
        await self.world.until_phase("chat", "Complete", SOON_S)
        operator.kill(signal.SIGKILL)
        operator.start()
        await self.want("c", settle_s=5)
        await self.asked("Reserve", "c")
        await self.want("c", mode="Suspended", settle_s=5)
        await self.world.until_phase("chat", "Suspended", SOON_S)
        await self.world.until_ready("chat", 1, SOON_S)
        await self.want("c")
        await self.world.until_phase("chat", "Complete", SOON_S)


async def record(into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="weightrollout-record-") as scratch:
        folder = Path(scratch)
        for name, seed in SEEDS.items():
            write_checkpoint(folder / name, seed=seed, arithmetic=name != "wrong")
        said = folder / CONVERSATION
        async with LocalCluster() as cluster, cluster.api() as api:
            await make_namespace(api, NAMESPACE)
            world = World(cluster, api, NAMESPACE, folder / "world")
            await world.install_crd()
            environment = python_environment(*PROGRAMS)
            async with VirtualNode(cluster, environment=environment, folder=folder) as node:
                fleet = FleetSpec(
                    *("chat", folder / "a", 1),
                    agent_command=("python", "-m", "wirerecord.agent"),
                    environment={RECORD: str(said)},
                    node_selector=node.selector,
                )
                await world.deploy(fleet)
                await world.until_ready("chat", 1, SOON_S)
                operator = await world.operator()
                try:
                    await Scene(world, folder, said).play(operator)
                finally:
                    await operator.stop()
                keep(into, said, node, await stable_of(world))


async def stable_of(world: World) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{names.stable_configmap('chat')}"
    data: dict[str, Any] = (await world.api.get(path))["data"]
    return str(data[names.STABLE_KEY])


def keep(into: Path, said: Path, node: VirtualNode, stable: str) -> None:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    shutil.copy(said, into / CONVERSATION)
    (into / names.STABLE_KEY).write_text(stable)
    staging = node.volume(NAMESPACE, "chat-0", names.VOLUME_STAGING)
    shutil.copy(staging / JOURNAL, into / JOURNAL)
    handover = node.volume(NAMESPACE, "chat-0", names.VOLUME_HANDOVER)
    shutil.copy(handover / "report-rank0.json", into)


def main() -> int:
    try:
        control_plane_binary()
    except BuildFailed as failed:
        print(f"no cluster: the control plane could not be built: {failed}", file=sys.stderr)
        return 1
    into = RELEASES / __version__
    asyncio.run(record(into))
    print(f"{len(calls(read(into / CONVERSATION)))} calls of release {__version__} in {into.name}/")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
