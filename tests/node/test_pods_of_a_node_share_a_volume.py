"""The how-to about node volumes under a real kubelet: its manifests and its commands as they stand, but for their placeholders."""

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from fleet.manifests import weight_rollout
from localcluster.access import remove_namespace
from localcluster.api import ApiError
from localcluster.build import kubectl_binary
from localcluster.waiting import eventually
from node import counted
from node.conftest import RESTRICTED
from node.counted import Store
from node.product import engines
from node.site import READY_S, ROLL_S, Site
from nodevolumepage import AGENT_IMAGE, inject_flags, manifests
from weightrollout.api import names
from weightrollout.weights.digest import digest_of

pytestmark = pytest.mark.timeout(900)

Json = dict[str, Any]

NODES: Final = "weights-nodes"  # the page's namespace
CLAIM: Final = "by-claim"
FOLDER: Final = "by-folder"
PODS: Final = 2
SHAPES: Final = checkpoints.qwen3_shapes(  # 33 MB: four ranges of a source behind a network
    hidden=256, layers=12, heads=4, kv_heads=4, head_dim=64, mlp=1024, vocab=8000
)
VERSIONS: Final = "abcdef"
SIZE: Final = "64Mi"
#: What each pod reads for itself, headers and small files, is far less.
HARDLY_MORE: Final = 1.1
WAITS: Final = re.compile(r"; (\S+) waits for another pod of its node, which has read [1-9]")
#: What a fleet has on the volume, and the kind of what it has there.
LIST: Final = """
import json, os, sys
folder = sys.argv[1]
print(json.dumps({each: sorted(os.listdir(f"{folder}/{each}")) for each in ("entries", "filling")}))
"""
WRITE: Final = """
import os
try:
    open("/weightrollout/staging/mine", "w")
except OSError as refused:
    print(refused.strerror)
print(os.path.exists("/weightrollout/node"))
"""


def model(site: Site, version: str) -> Path:
    return site.ground.shared / site.world.namespace / f"shared-{version}"


@pytest.fixture(scope="module")
async def store(site: Site) -> AsyncIterator[Store]:
    for version in VERSIONS:
        folder = model(site, version)
        await asyncio.to_thread(
            checkpoints.write_checkpoint, folder, seed=ord(version), tensors=SHAPES
        )
        counted.write_sums(folder)
    yield await counted.serve(site)
    await site.pods.delete(counted.NAME, grace_s=0)


@pytest.fixture(scope="module")
async def nodes(site: Site) -> AsyncIterator[None]:
    """Prepared by the page's DaemonSet."""
    api = site.world.api
    for each in manifests("nodes", {AGENT_IMAGE: site.images.agent}):
        await api.apply(each)

    async def prepared() -> bool:
        path = f"/apis/apps/v1/namespaces/{NODES}/daemonsets/weights-folder"
        return bool((await api.get(path))["status"].get("numberReady"))

    await eventually(prepared, READY_S, "the folder is on the node", every_s=0.5)
    yield
    await remove_namespace(api, NODES)


@pytest.fixture(scope="module")
async def by_claim(site: Site, store: Store, nodes: None) -> AsyncIterator[None]:
    """A fleet with a claim of a `local` volume, in a namespace under the restricted profile."""
    api = site.world.api
    [node] = (await api.list("/api/v1/nodes"))[0]
    name = node["metadata"]["labels"]["kubernetes.io/hostname"]
    volume, claim = manifests("claim", {"NAMESPACE": site.world.namespace, "NODE": name})
    for each in (volume, claim):
        await api.apply(each)
    await deploy(site, CLAIM, *inject_flags(SIZE, folder=False), fs_group=2000)
    yield
    with suppress(ApiError):
        await api.delete(f"/api/v1/persistentvolumes/{volume['metadata']['name']}")


@pytest.fixture(scope="module")
async def by_folder(site: Site, store: Store, nodes: None) -> AsyncIterator[None]:
    """A fleet with a folder of its node, in a namespace that allows it."""
    path = f"/api/v1/namespaces/{site.world.namespace}"
    allowed = dict.fromkeys(RESTRICTED, "privileged")
    await site.world.api.patch(path, {"metadata": {"labels": allowed}})
    await deploy(site, FOLDER, *inject_flags(SIZE, folder=True))
    yield
    await site.world.api.patch(path, {"metadata": {"labels": RESTRICTED}})


async def deploy(site: Site, name: str, *flags: str, fs_group: int | None = None) -> None:
    workload = counted.trusting(
        engines(name, site.images, "shared-a", PODS, ["--token-seconds=0.01"])
    )
    if fs_group is not None:
        workload["spec"]["template"]["spec"]["securityContext"] = {"fsGroup": fs_group}
    await site.deploy(site.injected(workload, "--container", "vllm", *flags, *counted.FLAGS))


async def roll(site: Site, store: Store, name: str, version: str, **staging: Any) -> None:
    """All pods stage at once; returns at once."""
    digest = await asyncio.to_thread(digest_of, model(site, version), threads=1)
    weights = {"version": version, "uri": store.uri(f"shared-{version}"), "digest": digest}
    rollout = weight_rollout(name, weights, staging={"maxConcurrent": "100%", **staging})
    await site.world.apply(rollout)


async def rolled(site: Site, name: str) -> None:
    status = await site.rolled(name)
    assert status["updated"] == f"{PODS}/{PODS}"


async def read(site: Site, store: Store, version: str) -> float:
    """How often the source has been read."""
    tensors = sum(file.stat().st_size for file in model(site, version).glob("*.safetensors"))
    return await store.given(f"shared-{version}") / tensors


async def inside(site: Site, pod: str, container: str, program: str, *arguments: str) -> str:
    """What a program prints in there."""
    access = (f"--kubeconfig={site.ground.kubeconfig}", f"--namespace={site.world.namespace}")
    run = ("exec", pod, f"--container={container}", "--", "python", "-c", program, *arguments)
    done = await asyncio.to_thread(
        subprocess.run,
        [str(kubectl_binary()), *access, *run],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def kept(site: Site, name: str) -> dict[str, list[str]]:
    """Names of what a fleet has on the volume."""
    pod = (await site.world.pods(name))[0]["metadata"]["name"]
    folder = f"{names.MOUNT_NODE}/{site.world.namespace}.{name}"
    found: dict[str, list[str]] = json.loads(
        await inside(site, pod, names.AGENT_CONTAINER, LIST, folder)
    )
    return found


def entry(site: Site, version: str) -> str:
    return digest_of(model(site, version), threads=1).removeprefix("sha256:")


async def test_claim_of_the_page_lets_pods_under_the_restricted_profile_read_once(
    site: Site, store: Store, by_claim: None
) -> None:
    await roll(site, store, CLAIM, "b")
    await rolled(site, CLAIM)
    assert 1 <= await read(site, store, "b") < HARDLY_MORE
    assert (await kept(site, CLAIM))["entries"] == [entry(site, "b")]


async def test_engine_can_neither_write_its_image_nor_see_the_volume(
    site: Site, by_claim: None
) -> None:
    for pod in await site.world.pods(CLAIM):
        said = await inside(site, pod["metadata"]["name"], "vllm", WRITE)
        assert said.splitlines() == ["Read-only file system", "False"]


async def test_volume_that_the_kubelet_opens_for_the_pods_group_is_used_on(
    site: Site, store: Store, by_claim: None
) -> None:
    """It does so when the first pod mounts it, with all folders that are there."""
    await site.scale(CLAIM, 0)
    await site.replaced(CLAIM, set(), 0)
    await site.scale(CLAIM, PODS)
    await site.world.until_ready(CLAIM, PODS, READY_S)
    await roll(site, store, CLAIM, "c")
    await rolled(site, CLAIM)
    assert 1 <= await read(site, store, "c") < HARDLY_MORE
    # What they served before was there for them, too.
    assert await read(site, store, "b") < HARDLY_MORE


async def test_pod_that_is_deleted_while_it_reads_is_in_nobodys_way(
    site: Site, store: Store, by_folder: None
) -> None:
    await roll(site, store, FOLDER, "d", maxBytesPerSecond="512Ki")
    status = await site.world.until(
        FOLDER, lambda seen: WAITS.search(seen["message"]), ROLL_S, "one of them waits"
    )
    waiting = WAITS.search(status["message"])
    assert waiting is not None
    pods = [pod["metadata"]["name"] for pod in await site.world.pods(FOLDER)]
    [reader] = set(pods) - {waiting[1]}
    await site.pods.delete(reader, grace_s=1)
    await site.pods.gone(reader, 60)

    await roll(site, store, FOLDER, "d")
    await rolled(site, FOLDER)
    assert 1 < await read(site, store, "d") < 1 + HARDLY_MORE
    left = await kept(site, FOLDER)
    assert entry(site, "d") in left["entries"]
    assert [each for each in left["filling"] if not each.endswith(".lock")] == []


async def test_weights_that_nobody_takes_any_more_are_collected(
    site: Site, store: Store, by_folder: None
) -> None:
    for version in "efbc":
        await roll(site, store, FOLDER, version)
        await rolled(site, FOLDER)
    left = (await kept(site, FOLDER))["entries"]
    assert {entry(site, version) for version in "fbc"} <= set(left)
    assert entry(site, "d") not in left
