"""Run the demo: `make demo`, or `PAYLOAD=qwen3-0.6b make demo`."""

import asyncio
import json
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from demo import payload, scenes
from demo.payload import Checkpoint, Size
from demo.screen import INDENT, Screen, Watch, fail, run
from fleet.manifests import ENGINE_HTTP, FleetSpec
from fleet.traffic import Tally, Traffic
from fleet.world import World
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import NeverCame

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build"
NAMESPACE: Final = "default"


async def demo(size: Size) -> int:
    screen = Screen()
    folder = BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    screen.say(f"four checkpoints ({size.bandwidth}) in build/demo")
    make = [
        ("v1", 1, True),
        ("v2", 2, True),
        ("v3", 3, True),
        ("v5-wrong", 5, False),
    ]
    v1, v2, v3, wrong = await asyncio.gather(
        *(
            asyncio.to_thread(payload.make, folder, size, version, seed=seed, arithmetic=good)
            for version, seed, good in make
        )
    )
    corrupt = await asyncio.to_thread(payload.truncated, folder, v3)
    async with AsyncExitStack() as stack:
        stage = await set_up(stack, screen, size, v1, folder)
        backends = await stack.enter_async_context(
            ReadyPods(stage.world.api, NAMESPACE, f"app={scenes.NAME}", ENGINE_HTTP)
        )
        known = {each.version: each.fingerprint for each in (v1, v2, v3, wrong)}
        try:
            async with Traffic(backends, known=known) as traffic:
                await play(stage, v2, v3, corrupt, wrong)
        except (scenes.WentWrong, NeverCame) as wrong_end:
            fail(str(wrong_end))
            summarise(stage, traffic.tally)
            return 1
        return summarise(stage, traffic.tally)


async def set_up(
    stack: AsyncExitStack, screen: Screen, size: Size, base: Checkpoint, folder: Path
) -> scenes.Stage:
    work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weightrollout-demo-")))
    screen.say("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler")
    cluster = await stack.enter_async_context(LocalCluster())
    api = await stack.enter_async_context(cluster.api())
    world = World(cluster, api, NAMESPACE, work)
    await world.install_crd()
    environment = python_environment(ROOT / "operator", ROOT / "tests")
    node = await stack.enter_async_context(VirtualNode(cluster, environment=environment))
    screen.say(f"starting {size.pods} engine pods with agents, and the operator")
    speed = ("--token-seconds=0.01",)
    await world.deploy(FleetSpec(scenes.NAME, base.folder, size.pods, engine_args=speed))
    operator = await world.operator()
    stack.push_async_callback(operator.stop)
    await world.until_ready(scenes.NAME, size.pods, 120)
    screen.say(f"{size.pods} pods serve what their engines loaded at start; traffic begins")
    prompts = [{"prompt": "2+2=", "maxTokens": 1, "expect": {"contains": "4"}}]
    return scenes.Stage(world, node, screen, folder, size.pods, 300 if size.large else 90, prompts)


async def play(
    stage: scenes.Stage, v2: Checkpoint, v3: Checkpoint, corrupt: Path, wrong: Checkpoint
) -> None:
    kubeconfig = stage.world.cluster.kubeconfig
    async with Watch(stage.screen, kubeconfig, NAMESPACE):
        stage.screen.scene(1, "new weights for every pod, in place")
        await scenes.roll(stage, v2)
        stage.screen.scene(2, "an engine is killed in mid-rollout")
        await scenes.kill_an_engine(stage, v3)
        stage.screen.scene(3, "a checkpoint whose upload was cut")
        await scenes.corrupt_checkpoint(stage, corrupt, v3)
        stage.screen.scene(4, "weights that load but answer wrong")
        await scenes.failing_prompts(stage, wrong, v3)
    await run(stage.screen, kubeconfig, NAMESPACE, "kubectl", "weightrollout", "status", "chat")


def summarise(stage: scenes.Stage, tally: Tally) -> int:
    print(f"\n{INDENT}--- summary ---")
    for title, result, seconds in stage.results:
        print(f"{INDENT}{title:36} {result:32} {seconds:5.1f} s")
    for version, pause in stage.pauses.items():
        print(f"{INDENT}paused for {version}: p50 {pause['p50']} ms, max {pause['max']} ms")
    print(
        f"{INDENT}requests {tally.requests}   failed {tally.failed}   "
        f"unexplained {tally.unexplained}   no pod ready {tally.nowhere}"
    )
    print(f"{INDENT}answers by weights: {dict(tally.by_answer)}")
    for complaint in tally.complaints:
        print(f"{INDENT}! {complaint}")
    record = {
        "requests": tally.requests,
        "failed": tally.failed,
        "unexplained": tally.unexplained,
        "pauseMillis": stage.pauses,
        "versions": dict(tally.by_answer),
        "seconds": round(stage.screen.seconds, 1),
    }
    path = BUILD / "demo-summary.json"
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(f"{INDENT}written to build/{path.name}")
    complete = len(stage.results) == 4 and tally.requests > 0
    return 0 if complete and not (tally.failed or tally.unexplained or tally.nowhere) else 1


def main() -> int:
    name = os.environ.get("PAYLOAD", "tiny")
    if name not in payload.SIZES:
        fail(f"PAYLOAD={name} is not one of {', '.join(payload.SIZES)}")
        return 2
    return asyncio.run(demo(payload.SIZES[name]))


if __name__ == "__main__":
    sys.exit(main())
