"""Run the demo: `make demo`, `make demo PAYLOAD=qwen3-0.6b`, or `make demo ENGINE=vllm`."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from demo import scenes
from demo.cast import Cast, Checkpoint, Checkpoints
from demo.real import RealCast
from demo.screen import INDENT, Screen, Watch, fail, run
from demo.simulated import PAYLOADS
from fleet.manifests import ENGINE_HTTP
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


async def demo(cast: Cast) -> int:
    _end_in_order()
    screen = Screen()
    folder = BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    made = await cast.make(folder, screen)
    async with AsyncExitStack() as stack:
        stage = await set_up(stack, screen, cast, made.v1, folder)
        backends = await stack.enter_async_context(
            ReadyPods(stage.world.api, NAMESPACE, f"app={scenes.NAME}", ENGINE_HTTP)
        )
        try:
            async with Traffic(backends, known=made.language, prompts=cast.asked) as traffic:
                await play(stage, made)
            equal = await cast.compare(stage.world, scenes.NAME, made)
        except (scenes.WentWrong, NeverCame) as wrong_end:
            fail(str(wrong_end))
            summarise(stage, traffic.tally)
            return 1
        return summarise(stage, traffic.tally, equal)


def _end_in_order() -> None:
    """A signal ends what we started too: real engines have children that outlive them."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


async def set_up(
    stack: AsyncExitStack, screen: Screen, cast: Cast, base: Checkpoint, folder: Path
) -> scenes.Stage:
    work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weightrollout-demo-")))
    screen.say("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler")
    cluster = await stack.enter_async_context(LocalCluster())
    api = await stack.enter_async_context(cluster.api())
    world = World(cluster, api, NAMESPACE, work)
    await world.install_crd()
    environment = python_environment(ROOT / "operator", ROOT / "tests")
    logs = BUILD / "demo" / cast.name
    shutil.rmtree(logs / "logs", ignore_errors=True)
    node = await stack.enter_async_context(
        VirtualNode(cluster, environment=environment, folder=logs)
    )
    screen.say(f"starting {cast.pods} engine pods with agents, and the operator")
    await world.deploy(cast.fleet(scenes.NAME, base))
    operator = await world.operator()
    stack.push_async_callback(operator.stop)
    async with screen.patience(f"still starting (logs in build/demo/{cast.name}/logs)"):
        await world.until_ready(scenes.NAME, cast.pods, cast.start_s)
    screen.say(f"{cast.pods} pods serve what their engines loaded at start; traffic begins")
    return scenes.Stage(world, node, screen, folder, cast)


async def play(stage: scenes.Stage, made: Checkpoints) -> None:
    kubeconfig = stage.world.cluster.kubeconfig
    async with Watch(stage.screen, kubeconfig, NAMESPACE):
        stage.screen.scene(1, "new weights for every pod, in place")
        await scenes.roll(stage, made.v2)
        stage.screen.scene(2, "an engine is killed in mid-rollout")
        await scenes.kill_an_engine(stage, made.v3)
        stage.screen.scene(3, "a checkpoint whose upload was cut")
        await scenes.corrupt_checkpoint(stage, made.v3)
        stage.screen.scene(4, "weights that load but answer wrong")
        await scenes.failing_prompts(stage, made.wrong, made.v3)
    await run(stage.screen, kubeconfig, NAMESPACE, "kubectl", "weightrollout", "status", "chat")


def summarise(stage: scenes.Stage, tally: Tally, equal: str = "") -> int:
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
    if equal:
        print(f"{INDENT}{equal}")
    for complaint in tally.complaints:
        print(f"{INDENT}! {complaint}")
    record = {
        "engine": stage.cast.name,
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


def chosen() -> Cast | None:
    """By the environment; None, with the reason printed, where there is no such thing."""
    name, payload = os.environ.get("ENGINE", "simulator"), os.environ.get("PAYLOAD", "tiny")
    if name not in ("simulator", "vllm"):
        fail(f"ENGINE={name} is not one of simulator, vllm")
    elif payload not in PAYLOADS:
        fail(f"PAYLOAD={payload} is not one of {', '.join(PAYLOADS)}")
    elif name == "simulator":
        return PAYLOADS[payload]
    elif payload == "tiny":
        return RealCast()
    else:
        fail("PAYLOAD is for simulated engines: real ones load a tiny Qwen3")
    return None


def main() -> int:
    cast = chosen()
    if cast is None:
        return 2
    try:
        return asyncio.run(demo(cast))
    except asyncio.CancelledError:
        fail("it was told to end")
        return 130


if __name__ == "__main__":
    sys.exit(main())
