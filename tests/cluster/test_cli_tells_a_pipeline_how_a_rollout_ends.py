"""`kubectl weightrollout status -w` against a real API server: a pipeline waits on it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest

from crd_install import collection, install_crd, weight_rollout
from localcluster.access import Cluster
from localcluster.api import Api
from sights import V8, condition
from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND, LABEL_NAME, LABEL_VERSION

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

ANSWER_S = 30.0
OPERATOR = Path(__file__).parents[2] / "operator"


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


@pytest.fixture
async def rollout(api: Api, namespace: str) -> str:
    """A WeightRollout without status, and one pod of its fleet that never runs."""
    spec = {"weights": {"version": "v8", "uri": "file:///models/chat/"}}
    await api.create(collection(namespace), weight_rollout("chat", spec))
    labels = {LABEL_NAME: "chat", LABEL_VERSION: "v7"}
    container = {"name": "engine", "image": "none"}
    await api.create(
        f"/api/v1/namespaces/{namespace}/pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "chat-0", "labels": labels},
            "spec": {"schedulerName": "nobody", "containers": [container]},
        },
    )
    return "chat"


async def say(api: Api, namespace: str, **status: Any) -> None:
    """Write status as the operator does."""
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "chat"},
        "status": {"observedGeneration": 1, **status},
    }
    path = f"{collection(namespace)}/chat/status"
    await api.patch(path, body, "apply", fieldManager=FIELD_MANAGER, force="true")


def told(kind: str, status: str) -> Json:
    return {
        **condition(kind, status, generation=1),
        "lastTransitionTime": "2026-11-29T12:00:00Z",
    }


async def start(cluster: Cluster, namespace: str, *arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "weightrollout.cli.main", "status", *arguments),
        *("-n", namespace, "--kubeconfig", str(cluster.kubeconfig)),
        stdout=PIPE,
        stderr=PIPE,
        cwd=OPERATOR,
    )


async def end(process: Process) -> tuple[int | None, str, str]:
    out, err = await asyncio.wait_for(process.communicate(), ANSWER_S)
    return process.returncode, out.decode(), err.decode()


async def next_block(process: Process) -> str:
    assert process.stdout is not None
    found = await asyncio.wait_for(process.stdout.readuntil(b"chat-0   Starting\n"), ANSWER_S)
    return found.decode()


@pytest.mark.parametrize(
    ("phase", "kind", "code"), [("Complete", "Ready", 0), ("RolledBack", "Stalled", 1)]
)
async def test_a_watch_ends_with_the_rollout_and_its_exit_code_says_how(
    cluster: Cluster, api: Api, namespace: str, rollout: str, phase: str, kind: str, code: int
) -> None:
    process = await start(cluster, namespace, rollout, "-w")
    assert "no status yet" in await next_block(process)
    progressing = [told("Ready", "False"), told("Stalled", "False")]
    await say(api, namespace, phase="Progressing", target=V8, conditions=progressing)
    assert "ROLLOUT chat   Progressing   v8" in await next_block(process)
    await say(api, namespace, phase=phase, target=V8, conditions=[told(kind, "True")])
    ended, out, _ = await end(process)
    assert ended == code
    assert f"ROLLOUT chat   {phase}   v8" in out


async def test_one_look_says_what_each_pod_serves(
    cluster: Cluster, namespace: str, rollout: str
) -> None:
    code, out, err = await end(await start(cluster, namespace, rollout))
    assert (code, err) == (3, "")
    assert out.splitlines()[2:] == ["`-- v7   (1 pod)", "    `-- chat-0   Starting"]


async def test_a_deleted_rollout_is_not_a_failed_one(
    cluster: Cluster, api: Api, namespace: str, rollout: str
) -> None:
    process = await start(cluster, namespace, rollout, "-w")
    await next_block(process)
    await api.delete(f"{collection(namespace)}/{rollout}")
    code, _, err = await end(process)
    assert code == 2
    assert f"WeightRollout chat was deleted from namespace {namespace}" in err


async def test_a_name_that_is_not_there_is_named(cluster: Cluster, namespace: str) -> None:
    code, _, err = await end(await start(cluster, namespace, "chatt"))
    assert code == 2
    assert f"no WeightRollout chatt in namespace {namespace}" in err


async def test_a_person_without_rights_is_told_which(
    cluster: Cluster, namespace: str, rollout: str, tmp_path: Path
) -> None:
    kubeconfig = await cluster.kubeconfig_for_serviceaccount(namespace, "nobody", tmp_path)
    lesser = Cluster(kubeconfig, "a person without rights")
    code, _, err = await end(await start(lesser, namespace, rollout, "-w"))
    assert code == 2
    assert "cannot get resource" in err
