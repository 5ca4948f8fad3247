"""Between `kubectl apply` and the operator's first word nobody may read "done"."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT
from typing import Any

import pytest

from crd_install import collection, install_crd, weight_rollout
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.build import kubectl_binary
from sights import condition
from weightrollout.api.names import API_VERSION, FIELD_MANAGER, KIND
from weightrollout.reading import read_status

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

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
        kubectl = await asyncio.create_subprocess_exec(
            *(str(kubectl_binary()), *self._access, *arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
        )
        out, _ = await asyncio.wait_for(kubectl.communicate(said.encode()), ANSWER_S)
        return kubectl.returncode, out.decode()

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
