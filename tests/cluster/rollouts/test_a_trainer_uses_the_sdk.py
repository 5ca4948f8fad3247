"""A trainer with the SDK drives a real fleet: it publishes tensors, waits for proof, and takes a version back."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest
from safetensors.numpy import load_file

import checkpoints
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.access import Cluster
from localcluster.virtual_node import VirtualNode
from pages import DOCS, ROOT, fences
from weightrollout import sdk
from weightrollout.sdk import Fleet, FleetState, Folder, sync

pytestmark = pytest.mark.cluster

SOON = 60.0
NAME = "learner"
EXAMPLE = DOCS / "examples" / "toy_trainer.py"
OPERATOR = ROOT / "operator"
POLICY = {"swap": {"takeOut": "None", "drainSeconds": 0}, "strategy": {"maxUnavailable": "100%"}}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shapes = {name: ("F32", shape) for name, (_, shape) in checkpoints.tiny_shapes().items()}
    folder = tmp_path_factory.mktemp("base")
    return checkpoints.write_checkpoint(folder, seed=7, tensors=shapes)


@pytest.fixture(scope="module")
def storage(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("published"), base, shard_bytes=20_000)


@pytest.fixture(scope="module")
async def trained(
    cluster: Cluster, world: World, machine: VirtualNode, operator: OperatorProcess, base: Path
) -> AsyncIterator[Fleet]:
    await world.apply(weight_rollout(NAME, None, **POLICY))
    await world.deploy(
        FleetSpec(NAME, base, replicas=2, gated=True, node_selector=machine.selector)
    )
    await world.until_ready(NAME, 2, SOON)
    async with sdk.connect(
        NAME, run="exp", namespace=world.namespace, kubeconfig=cluster.kubeconfig
    ) as fleet:
        yield fleet


def tensors(base: Path, step: int) -> dict[str, np.ndarray]:
    """What a trainer would have: each step moves every weight a little."""
    found: dict[str, np.ndarray] = {}
    for file in sorted(base.glob("*.safetensors")):
        found.update(load_file(file))
    return {name: each * np.float32(1 + step / 100) for name, each in found.items()}


async def test_tensors_are_published_served_and_found(
    trained: Fleet, storage: Folder, base: Path
) -> None:
    seen: list[FleetState] = []
    asked = await trained.publish(1, tensors=tensors(base, 1), storage=storage)
    assert (asked.version, asked.changed) == ("exp.1", True)
    assert len(list((storage.path / "exp.1").glob("*.safetensors"))) > 1, "sharded"
    served = await trained.wait(1, timeout_s=SOON, progress=seen.append)
    assert (served.stable, served.updated, served.pods) == ("exp.1", 2, 2)
    assert seen[-1] == served
    found = await trained.endpoints(1)
    assert len(found) == 2
    assert {each.version for each in found} == {"exp.1"}
    assert await trained.endpoints(2) == []


async def test_same_step_is_asked_for_once_and_never_with_other_content(
    trained: Fleet, storage: Folder, base: Path
) -> None:
    await trained.publish(2, tensors=tensors(base, 2), storage=storage)
    again = await trained.publish(2, tensors=tensors(base, 2), storage=storage)
    assert not again.changed
    with pytest.raises(sdk.NotPublished, match="VersionReused"):
        await trained.publish(2, tensors=tensors(base, 3), storage=storage)
    with pytest.raises(sdk.NotPublished, match="VersionReused"):
        await trained.publish(2, "file:///elsewhere/")
    with pytest.raises(sdk.NotPublished, match="OlderStep"):
        await trained.publish(1, (storage.path / "exp.1").as_uri() + "/")
    assert (await trained.wait(1, pods="50%", timeout_s=SOON)).target == "exp.2"


async def test_step_that_the_fleet_rejects_is_told_with_its_reason(
    trained: Fleet, storage: Folder, base: Path
) -> None:
    await trained.wait(2, timeout_s=SOON)
    stored = await storage.put("exp.3", tensors(base, 3))
    await trained.publish(3, stored.uri, digest="sha256:" + "0" * 64)
    with pytest.raises(sdk.Rejected) as rejected:
        await trained.wait(3, timeout_s=SOON)
    assert rejected.value.state is not None
    assert rejected.value.state.stable == "exp.2"


async def test_newest_of_many_steps_is_what_is_waited_for(
    trained: Fleet, storage: Folder, base: Path
) -> None:
    waiting = asyncio.create_task(trained.wait(4, timeout_s=SOON))
    for step in (4, 5, 6, 7):
        await trained.publish(step, tensors=tensors(base, step), storage=storage)
    assert (await trained.wait(7, timeout_s=SOON)).stable == "exp.7"
    assert (await waiting).pods == 2


async def test_rollback_goes_to_what_was_verified_before(trained: Fleet) -> None:
    before = (await trained.state()).stable
    await trained.rollback()
    with pytest.raises(sdk.Rejected):
        await trained.wait(7, timeout_s=SOON)
    state = await trained.state()
    assert state.asked == before == "exp.7", "the spec is untouched"
    assert state.target != "exp.7"


async def test_another_manager_of_the_weights_is_named(
    trained: Fleet, world: World, cluster: Cluster, storage: Folder
) -> None:
    path = f"/apis/weightrollout.dev/v1alpha1/namespaces/{world.namespace}/weightrollouts/{NAME}"
    weights = {"version": "theirs", "uri": (storage.path / "exp.1").as_uri() + "/"}
    manifest = weight_rollout(NAME, weights)
    await world.api.patch(path, manifest, "apply", fieldManager="argocd-controller", force="true")
    with pytest.raises(sdk.Superseded):
        await trained.wait(7, timeout_s=SOON)
    with pytest.raises(sdk.NotPublished, match=r"OwnedByAnother.*argocd-controller"):
        await trained.publish(8, weights["uri"])
    assert (await trained.publish(8, weights["uri"], force=True)).changed


async def test_code_without_a_loop_does_the_same(
    trained: Fleet, world: World, cluster: Cluster
) -> None:
    def work() -> FleetState:
        with sync.connect(
            NAME, run="exp", namespace=world.namespace, kubeconfig=cluster.kubeconfig
        ) as fleet:
            with pytest.raises(sdk.TimedOut):
                fleet.wait(99, timeout_s=0.001)
            assert len(fleet.endpoints()) == 2
            return fleet.wait(8, timeout_s=SOON)

    assert (await asyncio.to_thread(work)).stable == "exp.8"


async def test_example_of_a_training_loop_runs_as_it_is_written(
    trained: Fleet, world: World, cluster: Cluster, base: Path, tmp_path: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLE), NAME, "--run", "loop", "--steps", "2"),
        *("--base", str(base), "--out", str(tmp_path), "--namespace", world.namespace),
        *("--kubeconfig", str(cluster.kubeconfig)),
        env={**os.environ, "PYTHONPATH": str(OPERATOR)},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 2 * SOON)
    assert process.returncode == 0
    lines = said.decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["step 1", "step 2"]
    assert all(" 0 answers" not in line for line in lines), lines


async def test_snippet_of_the_page_runs_as_it_is_written(
    trained: Fleet, world: World, cluster: Cluster, storage: Folder, base: Path, tmp_path: Path
) -> None:
    paper = (DOCS / "sdk.md").read_text()
    [snippet] = [each.text for each in fences(paper) if "fleet.publish(" in each.text]
    uri = (await storage.put("exp7.12", tensors(base, 12))).uri
    for said, ours in {'"chat"': f'"{NAME}"', "file:///models/chat/step-12/": uri}.items():
        assert said in snippet
        snippet = snippet.replace(said, ours)
    kubeconfig = cluster.kubeconfig_in(world.namespace, tmp_path)
    program = "import asyncio\nasync def main():\n" + indent(snippet, " ") + "asyncio.run(main())"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        env={**os.environ, "PYTHONPATH": str(OPERATOR), "KUBECONFIG": str(kubeconfig)},
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await asyncio.wait_for(process.communicate(), 2 * SOON)
    assert process.returncode == 0
    assert [line.split()[1] for line in told.decode().splitlines()] == ["exp7.12"] * 2


async def test_fleet_that_is_not_there_is_named(world: World, cluster: Cluster) -> None:
    async with sdk.connect(
        "nobody", run="exp", namespace=world.namespace, kubeconfig=cluster.kubeconfig
    ) as fleet:
        with pytest.raises(sdk.FleetNotFound, match="nobody"):
            await fleet.publish(1, "file:///models/")
        with pytest.raises(sdk.FleetNotFound):
            await fleet.wait(1, timeout_s=SOON)
