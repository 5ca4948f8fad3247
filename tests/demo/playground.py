"""The tutorial's ground: a fleet that serves, in the foreground until Ctrl-C: `make playground`."""

import asyncio
import os
import shutil
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from demo.cast import Checkpoints
from demo.ground import BUILD, end_in_order, set_up
from demo.screen import Screen, fail
from demo.simulated import SimulatedCast
from localcluster.build import kubectl_binary
from localcluster.waiting import NeverCame

CAST: Final = SimulatedCast(4, False, "a tiny model")

#: What the reader applies. Fields that are left out keep their defaults.
FIRST: Final = """\
apiVersion: weightrollout.dev/v1alpha1
kind: WeightRollout
metadata: {{name: chat}}
spec:
  weights: {{version: {version}, uri: "{uri}"}}
  strategy: {{maxUnavailable: 2}}
  swap: {{settleSeconds: 1}}
  verify: {{prompts: [{{prompt: "2+2=", maxTokens: 1, expect: {{contains: "4"}}}}]}}
"""
#: From the second version on one pod goes first, and a person looks at it.
CANARY: Final = FIRST.replace(
    "maxUnavailable: 2", "maxUnavailable: 2, steps: [{{updated: 1}}, {{pause: {{}}}}]"
)


async def open_ground(stack: AsyncExitStack, screen: Screen, folder: Path) -> list[str]:
    """A fleet, and the manifests in `folder`. Out: the commands that make a shell ready for it."""
    folder.mkdir(parents=True, exist_ok=True)
    made = await CAST.make(folder, screen)
    await asyncio.to_thread(write_manifests, folder, made)
    stage = await set_up(stack, screen, CAST, made.v1, folder)
    kubeconfig = folder / "kubeconfig"
    stack.callback(kubeconfig.unlink, missing_ok=True)
    await asyncio.to_thread(shutil.copy, stage.world.cluster.kubeconfig, kubeconfig)
    programs = [Path(sys.executable).parent]
    if shutil.which("kubectl") is None:
        programs.append((await asyncio.to_thread(kubectl_binary)).parent)
    return [
        f"cd {folder}",
        f"export KUBECONFIG={kubeconfig}",
        f"export PATH={os.pathsep.join(map(str, programs))}:$PATH",
    ]


def write_manifests(folder: Path, made: Checkpoints) -> None:
    for text, weights in ((FIRST, made.v2), (CANARY, made.v3), (CANARY, made.wrong)):
        path = folder / f"{weights.version}.yaml"
        path.write_text(text.format(version=weights.version, uri=weights.uri))


def invite(screen: Screen, commands: list[str]) -> None:
    screen.say(f"{CAST.pods} pods serve; Ctrl-C here ends it all. In another terminal:")
    for command in commands:
        print(command, flush=True)


async def playground() -> int:
    end_in_order()
    async with AsyncExitStack() as stack:
        screen = Screen()
        try:
            invite(screen, await open_ground(stack, screen, BUILD / "tutorial"))
        except NeverCame as never:
            fail(str(never))
            return 1
        await asyncio.Event().wait()
    return 0


def main() -> int:
    try:
        return asyncio.run(playground())
    except asyncio.CancelledError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
