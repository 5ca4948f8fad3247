"""A person finds that a rollout reads too slowly, or too fast: the new pace holds for what is being read, without a new start."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.build import kubectl_binary
from localcluster.virtual_node import VirtualNode
from weightrollout.weights.digest import digest_of

Json = dict[str, Any]

PODS: Final = 2
SLOW: Final = 256 << 10  # bytes per second of each agent: a minute and a half for the whole of it
SOON_S: Final = 40.0
#: One read goes through at once, and the rate is that of five seconds.
MOST_SHOWN: Final = PODS * (SLOW + (1 << 20) / 4)
SHAPES: Final = checkpoints.qwen3_shapes(  # 25 MB
    hidden=256, layers=8, heads=4, kv_heads=4, head_dim=64, mlp=1024, vocab=8000
)


@pytest.fixture(scope="module")
async def models(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The folder of a and b; pods serve a."""
    folder = tmp_path_factory.mktemp("models")
    for seed, version in enumerate("ab"):
        checkpoints.write_checkpoint(folder / version, seed=seed, tensors=SHAPES)
    spec = FleetSpec(
        "chat", folder / "a", replicas=PODS, gated=True, node_selector=machine.selector
    )
    await world.deploy(spec)
    await world.until_ready("chat", PODS, 60)
    return folder


async def apply(world: World, models: Path, **staging: Any) -> None:
    """By kubectl, as a person does."""
    # With a digest nobody reads ahead of the others.
    digest = digest_of(models / "b", threads=1)
    weights = {"version": "b", "uri": f"{models.as_uri()}/b/", "digest": digest}
    rollout = weight_rollout("chat", weights, staging=staging, swap={"settleSeconds": 0})
    access = ("--kubeconfig", str(world.cluster.kubeconfig), "--namespace", world.namespace)
    await asyncio.to_thread(
        subprocess.run,
        [str(kubectl_binary()), *access, "apply", "-f", "-"],
        input=json.dumps(rollout),
        text=True,
        check=True,
        capture_output=True,
        timeout=60,
    )


async def test_pace_that_is_raised_in_mid_staging_ends_the_staging_soon(
    world: World, models: Path
) -> None:
    await apply(world, models, maxConcurrent="100%", maxBytesPerSecond="256Ki")
    first = await world.until(
        "chat",
        lambda seen: 0 < seen["staging"]["bytesPerSecond"] <= MOST_SHOWN,
        SOON_S,
        "it reads as fast as it may",
    )
    read = first["staging"]["bytes"]
    later = await world.until(
        "chat", lambda seen: seen["staging"]["bytes"] > read, SOON_S, "it comes on"
    )
    assert later["staging"]["pods"] == PODS
    left = later["staging"]["total"] - later["staging"]["bytes"]
    assert left / PODS / SLOW > SOON_S, "it would end in time by itself"

    await apply(world, models, maxConcurrent="100%", maxBytesPerSecond="1Gi")
    status = await world.until_phase("chat", "Complete", SOON_S)
    assert status["updated"] == f"{PODS}/{PODS}"
    assert "staging" not in status
