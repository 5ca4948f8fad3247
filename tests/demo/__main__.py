"""Run the demo: `make demo`; with `PAYLOAD=qwen3-0.6b`, `ENGINE=vllm` or `SOURCE=s3` another one."""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack

from demo import scenes
from demo.cast import Cast, Checkpoints
from demo.ground import BUILD, NAMESPACE, end_in_order, set_up
from demo.origin import SOURCES
from demo.real import RealCast
from demo.screen import INDENT, Screen, Watch, fail, run
from demo.simulated import PAYLOADS
from fleet.manifests import ENGINE_HTTP
from fleet.traffic import Tally, Traffic
from localcluster.router import ReadyPods
from localcluster.waiting import NeverCame


async def demo(cast: Cast, source: str) -> int:
    end_in_order()
    screen = Screen()
    folder = BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    made = await cast.make(folder, screen)
    async with AsyncExitStack() as stack:
        stage = await set_up(stack, screen, cast, made.v1, folder, source=source)
        screen.say(f"{cast.pods} pods serve what their engines loaded at start; traffic begins")
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
        "source": stage.origin.name,
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


def chosen_source() -> str | None:
    """As `chosen`."""
    source = os.environ.get("SOURCE", "file")
    if source in SOURCES:
        return source
    fail(f"SOURCE={source} is not one of {', '.join(SOURCES)}")
    return None


def main() -> int:
    cast, source = chosen(), chosen_source()
    if cast is None or source is None:
        return 2
    try:
        return asyncio.run(demo(cast, source))
    except asyncio.CancelledError:
        fail("it was told to end")
        return 130


if __name__ == "__main__":
    sys.exit(main())
