"""Between `kubectl apply` and the operator's first word nobody may read "done"."""

import asyncio
import re
import shlex
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest

from crd_install import collection, install_crd, weight_rollout
from gitops.judge import HEALTH
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.build import kubectl_binary
from sights import condition
from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND
from weightrollout.reading import read_status

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "docs" / "gitops.md"
ANSWER_S = 30.0
UNSEEN: Json = {"observedGeneration": 0}
MANIFEST = f"""
apiVersion: {API_VERSION}
kind: {KIND}
metadata: {{name: chat}}
spec: {{weights: {{version: %s, uri: "file:///models/chat/"}}}}
"""


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


class Person:
    """Has the real kubectl, and nothing else."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._access = (f"--kubeconfig={cluster.kubeconfig}", f"--namespace={namespace}")

    async def kubectl(self, *arguments: str, said: str = "") -> tuple[int | None, str]:
        """Exit code and all that it printed."""
        return await self._run(str(kubectl_binary()), *self._access, *arguments, said=said)

    async def bash(self, script: str) -> tuple[int | None, str]:
        """The same for a script that calls kubectl."""
        ours = shlex.join((str(kubectl_binary()), *self._access))
        return await self._run("bash", "-c", f'kubectl() {{ {ours} "$@"; }}\n{script}')

    async def _run(self, *command: str, said: str = "") -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=ROOT
        )
        out, _ = await asyncio.wait_for(process.communicate(said.encode()), ANSWER_S)
        return process.returncode, out.decode()

    async def apply(self, version: str) -> None:
        code, out = await self.kubectl("apply", "-f", "-", said=MANIFEST % version)
        assert code == 0, out

    async def sees_ready(self) -> bool:
        """What `kubectl wait` says at its first look."""
        wait = ("wait", "--for=condition=Ready", "weightrollout/chat", "--timeout=0")
        code, out = await self.kubectl(*wait)
        assert code == 0 or "condition" in out, out
        return code == 0


@pytest.fixture
def person(cluster: Cluster, namespace: str) -> Person:
    return Person(cluster, namespace)


async def say(api: Api, namespace: str, generation: int) -> None:
    """Ready, as the operator says it about this generation."""
    ready = condition("Ready", "True", generation=generation)
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": "chat"},
        "status": {"observedGeneration": generation, "epoch": 1, "conditions": [ready]},
    }
    path = f"{collection(namespace)}/chat/status"
    await api.patch(path, body, "apply", fieldManager=FIELD_MANAGER)


async def test_what_was_just_applied_says_that_nobody_has_seen_it(
    api: Api, namespace: str, person: Person
) -> None:
    await person.apply("v1")
    path = f"{collection(namespace)}/chat"
    assert (await api.get(path))["status"] == UNSEEN
    assert [each["status"] for each in (await api.get(collection(namespace)))["items"]] == [UNSEEN]


async def test_it_says_so_in_the_answer_to_its_creation_whatever_status_it_brings(
    api: Api, namespace: str
) -> None:
    spec = {"weights": {"version": "v1", "uri": "file:///models/chat/"}}
    ready = {"observedGeneration": 1, "conditions": [condition("Ready", "True", generation=1)]}
    body = {**weight_rollout("chat", spec), "status": ready}
    made = await api.create(collection(namespace), body)
    assert made.get("status", UNSEEN) == UNSEEN
    assert (await api.get(f"{collection(namespace)}/chat"))["status"] == UNSEEN


async def test_a_status_that_was_wiped_is_unseen_again(
    api: Api, namespace: str, person: Person
) -> None:
    await person.apply("v1")
    await say(api, namespace, generation=1)
    path = f"{collection(namespace)}/chat"
    await api.patch(f"{path}/status", {"status": None}, "merge")
    wiped = await api.get(path)
    assert wiped["status"] == UNSEEN
    assert read_status(wiped) == read_status({})


async def test_the_default_never_overwrites_what_the_operator_said(
    api: Api, namespace: str, person: Person
) -> None:
    await person.apply("v1")
    await say(api, namespace, generation=1)
    before = (await api.get(f"{collection(namespace)}/chat"))["status"]
    await person.apply("v2")
    assert (await api.get(f"{collection(namespace)}/chat"))["status"] == before


async def test_wait_does_not_return_before_the_operator_has_seen_the_newest_spec(
    api: Api, namespace: str, person: Person
) -> None:
    await person.apply("v1")
    assert not await person.sees_ready()
    await say(api, namespace, generation=1)
    assert await person.sees_ready()
    await person.apply("v2")
    assert not await person.sees_ready()  # Ready is True, and about the spec before
    await say(api, namespace, generation=2)
    assert await person.sees_ready()


async def test_waiting_for_a_field_is_what_the_documentation_warns_of(
    api: Api, namespace: str, person: Person
) -> None:
    await person.apply("v1")
    path = f"{collection(namespace)}/chat/status"
    named = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "chat"}}
    status = {"observedGeneration": 1, "phase": "Complete"}
    await api.patch(path, {**named, "status": status}, "apply", fieldManager=FIELD_MANAGER)
    await person.apply("v2")
    field = "--for=jsonpath={.status.phase}=Complete"
    code, out = await person.kubectl("wait", field, "weightrollout/chat", "--timeout=0")
    assert code == 0, out


async def test_the_health_check_of_argo_cd_goes_beside_what_its_configmap_holds(
    api: Api, namespace: str, person: Person
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm"}}
    await api.create(path, {**config, "data": {"url": "https://argo"}})
    (script,) = re.findall(r"```bash\n(key=.*?)```", PAPER.read_text(), re.DOTALL)
    code, out = await person.bash(script.replace("-n argocd", ""))
    assert code == 0, out
    health = "resource.customizations.health.weightrollout.dev_WeightRollout"
    data = (await api.get(f"{path}/argocd-cm"))["data"]
    assert data == {"url": "https://argo", health: HEALTH.read_text()}
