"""A real vLLM in a pod, injected, is rolled by one apply, and then answers as a pod that was started on those weights.

There is no image of it: its packages lie on a volume, and work with the Python of our images (tests/images/README.md).
"""

import asyncio
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from localcluster.api import ApiError
from localcluster.waiting import eventually
from node.product import HTTP, MODELS, PROXY, engines, volume
from node.site import Site
from realvllm import tier, tiny, venv
from realvllm.families import FAMILIES
from realvllm.launch import KV_CACHE_BYTES, MAX_MODEL_TOKENS, Launch, variables
from tiers import unavailable

Json = dict[str, Any]

pytestmark = [pytest.mark.real_engine, pytest.mark.timeout(900)]

#: Tied embeddings, which vLLM's own update leaves wrong on CPU.
FAMILY: Final = FAMILIES["qwen3_tied"]
PACKAGES: Final = "/packages"
#: vLLM's CPU kernels load it, and our images have none.
LIBRARY: Final = "libnuma.so.1"
PROMPT: Final = "tell me a story about a fleet"
START_S: Final = 300.0


def engine_on(site: Site, name: str, version: str) -> Json:
    """A Deployment of one vLLM on loopback behind the proxy, before injection."""
    workload = engines(name, site.images, version, 1, ())
    spec = workload["spec"]["template"]["spec"]
    [container] = spec["containers"]
    own = variables(Launch(Path(MODELS, version)), Path(PACKAGES), Path("/tmp/vllm"))
    own |= FAMILY.environment
    # No name belongs to the user of these images, and Python's getpass asks for one.
    own |= {"HOME": "/tmp", "LOGNAME": "vllm", "LD_LIBRARY_PATH": f"{MODELS}/lib"}
    own |= {"TORCHDYNAMO_DISABLE": "1"}  # nor have they a compiler, with which it would sample
    container["command"] = ["/usr/bin/python3", "-m", "vllm.entrypoints.cli.main", "serve"]
    container["args"] = [
        *(f"{MODELS}/{version}", "--host=127.0.0.1", f"--port={HTTP}", "--dtype=bfloat16"),
        *(f"--max-model-len={MAX_MODEL_TOKENS}", "--enforce-eager"),
        f"--kv-cache-memory-bytes={KV_CACHE_BYTES}",
        *FAMILY.engine_flags(None),
    ]
    container["env"] = [{"name": key, "value": value} for key, value in own.items()]
    container["volumeMounts"] += [
        {"name": "packages", "mountPath": PACKAGES, "readOnly": True},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "shm", "mountPath": "/dev/shm"},
    ]
    spec["volumes"] += [
        {"name": "packages", "persistentVolumeClaim": {"claimName": "packages", "readOnly": True}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]
    return workload


@pytest.fixture(scope="module")
async def prepared(site: Site) -> Site:
    """Both checkpoints and vLLM's packages are on volumes."""
    tier.require()
    found = next(Path("/usr/lib").glob(f"*/{LIBRARY}"), None)
    if found is None:
        unavailable(f"{LIBRARY} is not here: install Debian's libnuma1")
    pair = await asyncio.to_thread(tiny.pair, FAMILY)
    folder = site.ground.shared / site.world.namespace
    for name, version in (("real-a", pair.a), ("real-b", pair.b)):
        await asyncio.to_thread(shutil.copytree, version.target, folder / name)
        for path in (folder / name).iterdir():
            path.chmod(0o644)  # safetensors writes for its own user alone; an engine is another
    (folder / "lib").mkdir()
    shutil.copy(found, folder / "lib" / LIBRARY)
    for each in volume("packages", venv.packages(), site.world.namespace):
        await site.world.api.apply(each)
    return site


async def answer(site: Site, app: str, model: str) -> Json:
    """Tokens and their log-probabilities. LookupError while it does not answer."""
    [pod] = await site.world.pods(app)
    body = {"model": f"{MODELS}/{model}", "prompt": PROMPT, "max_tokens": 24, "temperature": 0}
    body |= {"logprobs": 3, "return_tokens_as_token_ids": True, "ignore_eos": True}
    path = f"{site.pods.path(pod['metadata']['name'])}:{PROXY}/proxy/v1/completions"
    try:
        said = await site.world.api.create(path, body)
    except ApiError as refused:
        raise LookupError(str(refused)) from refused
    logprobs: Json = said["choices"][0]["logprobs"]
    return {name: logprobs[name] for name in ("tokens", "token_logprobs")}


async def test_it_answers_as_one_that_was_started_on_the_new_weights(prepared: Site) -> None:
    site = prepared
    await site.world.apply(engine_on(site, "fresh", "real-b"))  # as its owner wrote it
    injected = site.injected(engine_on(site, "real", "real-a"), "--bytes", "16Mi")
    await site.deploy(injected)
    told: dict[str, Json] = {}

    async def answers() -> bool:
        told["fresh"] = await answer(site, "fresh", "real-b")
        told["before"] = await answer(site, "real", "real-a")
        return True

    await eventually(answers, START_S, "both engines answer", every_s=1.0)
    assert told["before"] != told["fresh"]

    await site.roll("real", "real-b")
    status = await site.rolled("real")

    assert status["updated"] == "1/1"
    assert await answer(site, "real", "real-a") == told["fresh"]
    [pod] = await site.world.pods("real")
    assert (await site.container(pod["metadata"]["name"], "vllm"))["restartCount"] == 0
