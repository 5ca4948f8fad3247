"""An RL loop in forty lines: sample from pods that are new enough, learn, publish, wait for the fleet.

    python toy_trainer.py chat --run exp7 --base /models/chat/base --out /models/chat/exp7 --steps 3

The learning is a toy (all weights move a little); everything about the fleet is real.
"""

import argparse
import asyncio
from pathlib import Path

import aiohttp
import numpy as np
from safetensors.numpy import load_file

from weightrollout import sdk


async def sample(session: aiohttp.ClientSession, pod: sdk.Endpoint) -> str:
    body = {"prompt": "tell me", "max_tokens": 8}
    async with session.post(f"{pod.url}/v1/completions", json=body) as response:
        response.raise_for_status()
        return str((await response.json())["choices"][0]["text"])


async def train(arguments: argparse.Namespace) -> None:
    files = sorted(arguments.base.glob("*.safetensors"))
    weights = {name: each for file in files for name, each in load_file(file).items()}
    storage = sdk.Folder(arguments.out, arguments.base)
    async with (
        sdk.connect(
            arguments.name,
            run=arguments.run,
            namespace=arguments.namespace,
            kubeconfig=arguments.kubeconfig,
        ) as fleet,
        aiohttp.ClientSession() as session,
    ):
        for step in range(1, arguments.steps + 1):
            weights = {name: each * np.float32(1.001) for name, each in weights.items()}
            await fleet.publish(step, tensors=weights, storage=storage)
            state = await fleet.wait(step, timeout_s=120)
            pods = await fleet.endpoints(step)
            answers = await asyncio.gather(*(sample(session, pod) for pod in pods))
            print(
                f"step {step}: {state.updated} of {state.pods} pods, {len(answers)} answers",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the WeightRollout")
    parser.add_argument("--run", required=True)
    parser.add_argument("--base", type=Path, required=True, help="checkpoint to begin with")
    parser.add_argument("--out", type=Path, required=True, help="folder that agents mount")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--namespace")
    parser.add_argument("--kubeconfig", type=Path)
    asyncio.run(train(parser.parse_args()))
