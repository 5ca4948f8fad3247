"""The one write to a pod, and the revision's compare-and-swap, against the rules of a real API server."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crd_install import install_crd
from fleet.manifests import weight_rollout
from localcluster.access import Cluster
from localcluster.api import Api
from weightrollout.clock import SystemClock
from weightrollout.kube.client import ENDING, Client, connect
from weightrollout.kube.errors import Conflict, NamespaceEnds
from weightrollout.kube.pods import MEMBERS, Pod, pod_source
from weightrollout.kube.podwrites import Ours, PodGone, PodWriter
from weightrollout.kube.revisions import (
    Content,
    Facts,
    Owner,
    create_revision,
    revision_source,
    write_revision,
)
from weightrollout.kube.store import Store

GATE = "weightrollout.dev/Serving"
ANOTHER_UID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


def allowed() -> None:
    """The guard of a process that leads."""


@pytest.fixture
async def client(cluster: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[Client]:
    async with connect(namespace, cluster.kubeconfig) as found:
        yield found


@pytest.fixture
async def pod(api: Api, namespace: str) -> dict[str, Any]:
    """A gated pod that a kubelet has written conditions to."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    await api.create(
        path,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "chat-0", "labels": {"weightrollout.dev/name": "chat"}},
            "spec": {
                "schedulerName": "nobody",
                "readinessGates": [{"conditionType": GATE}],
                "containers": [{"name": "engine", "image": "x"}],
            },
        },
    )
    ready = {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}
    body = {"status": {"phase": "Running", "conditions": [ready]}}
    return await api.patch(f"{path}/chat-0/status", body)


@pytest.fixture
async def owner(api: Api, namespace: str) -> Owner:
    """A real one: the garbage collector takes what an owner that never was is said to own."""
    await install_crd(api)
    body = weight_rollout("chat", {"version": "v1", "uri": "file:///m/"})
    made = await api.apply({**body, "metadata": {**body["metadata"], "namespace": namespace}})
    return Owner("chat", made["metadata"]["uid"])


async def test_write_into_a_namespace_that_is_deleted_is_told_from_a_missing_right(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> None:
    """It is held open by a finalizer of its own, as one with pods that take long to end."""
    held = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    await api.create(maps, held)
    await api.delete(f"/api/v1/namespaces/{namespace}")
    seen: list[tuple[str, int | str]] = []
    try:
        async with connect(
            namespace, cluster.kubeconfig, lambda *said: seen.append(said)
        ) as client:
            with pytest.raises(NamespaceEnds):
                await client.create(maps, {"metadata": {"name": "new"}})
    finally:
        await api.patch(f"{maps}/held", {"metadata": {"finalizers": None}}, "merge")
    assert seen == [("POST", ENDING)]


async def stored(client: Client, pod: dict[str, Any]) -> tuple[Store[Pod], str]:
    store = Store(client, pod_source(client, "pods", MEMBERS))
    store.learn(pod)
    return store, pod["metadata"]["uid"]


async def test_one_write_sets_label_note_and_condition_and_leaves_the_kubelets_alone(
    api: Api, client: Client, pod: dict[str, Any]
) -> None:
    store, uid = await stored(client, pod)
    writer = PodWriter(client, SystemClock())
    opened = writer.flip(None, True, "Swapped", "serves v2")
    await writer.write(store, "chat-0", uid, lambda *_: Ours("v2", '{"txn":"t"}', opened), allowed)

    found = await api.get(f"/api/v1/namespaces/{client.namespace}/pods/chat-0")
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert conditions == {"Ready": "False", GATE: "True"}
    assert found["metadata"]["labels"]["weightrollout.dev/version"] == "v2"
    assert found["metadata"]["annotations"]["weightrollout.dev/swap"] == '{"txn":"t"}'


async def test_take_out_after_put_in_keeps_label_and_note(
    api: Api, client: Client, pod: dict[str, Any]
) -> None:
    store, uid = await stored(client, pod)
    writer = PodWriter(client, SystemClock())
    opened = writer.flip(None, True, "Swapped", "serves v2")
    await writer.write(store, "chat-0", uid, lambda *_: Ours("v2", '{"txn":"t"}', opened), allowed)
    await writer.write(
        store,
        "chat-0",
        uid,
        lambda _, ours: replace(ours, gate=writer.flip(ours.gate, False, "Reserved", "to v3")),
        allowed,
    )

    found = await api.get(f"/api/v1/namespaces/{client.namespace}/pods/chat-0")
    assert found["metadata"]["labels"]["weightrollout.dev/version"] == "v2"
    assert found["metadata"]["annotations"]["weightrollout.dev/swap"] == '{"txn":"t"}'
    gate = next(each for each in found["status"]["conditions"] if each["type"] == GATE)
    assert (gate["status"], gate["reason"]) == ("False", "Reserved")


async def test_write_meant_for_a_pod_that_was_recreated_is_refused(
    api: Api, client: Client, pod: dict[str, Any]
) -> None:
    store, _ = await stored(client, pod)
    record = store.get("chat-0")
    assert record is not None
    older = {**pod, "metadata": {**pod["metadata"], "uid": ANOTHER_UID}}
    store.learn(older)  # as if the picture were behind: the name is the same, the pod is not
    with pytest.raises(PodGone):
        await PodWriter(client, SystemClock()).write(
            store, "chat-0", ANOTHER_UID, lambda _, ours: replace(ours, version_label="v2"), allowed
        )
    found = await api.get(f"/api/v1/namespaces/{client.namespace}/pods/chat-0")
    assert "weightrollout.dev/version" not in found["metadata"]["labels"]


async def test_kubelet_that_wrote_in_between_costs_a_second_try(
    api: Api, client: Client, pod: dict[str, Any]
) -> None:
    store, uid = await stored(client, pod)
    path = f"/api/v1/namespaces/{client.namespace}/pods/chat-0/status"
    await api.patch(path, {"status": {"message": "written by the kubelet"}})
    await PodWriter(client, SystemClock()).write(
        store, "chat-0", uid, lambda _, ours: replace(ours, version_label="v2"), allowed
    )
    record = store.get("chat-0")
    assert record is not None
    assert record.version_label == "v2"


async def test_revision_takes_a_digest_and_a_verdict_after_its_birth(
    client: Client, owner: Owner
) -> None:
    """Data that came by POST would be refused as immutable here, for its white space alone."""
    store = Store(client, revision_source(client))
    content = Content("v1", "file:///models/a&b <ü>/", "")
    await create_revision(client, store, "chat-1", owner, content, Facts(1, "", "", "", "", ""))
    first = store.get("chat-1")
    assert first is not None
    pinned = Facts(1, "sha256:" + "a" * 64, "", "DigestPinned", "found by chat-0", "")
    await write_revision(client, store, first, owner, pinned)
    second = store.get("chat-1")
    assert second is not None
    verdict = replace(pinned, verdict="Verified", time="2026-11-29T10:00:00Z", number=2)
    await write_revision(client, store, second, owner, verdict)
    third = store.get("chat-1")
    assert third is not None
    assert (third.number, third.verdict, third.pinned_digest) == (
        2,
        "Verified",
        pinned.pinned_digest,
    )
    with pytest.raises(Conflict):
        await write_revision(client, store, second, owner, pinned)


async def test_revision_that_exists_is_learned_and_not_written_over(
    client: Client, owner: Owner
) -> None:
    store = Store(client, revision_source(client))
    content = Content("v1", "file:///m/", "")
    pinned = Facts(1, "sha256:" + "a" * 64, "", "", "", "")
    await create_revision(client, store, "chat-1", owner, content, pinned)
    late = Store(client, revision_source(client))
    await create_revision(client, late, "chat-1", owner, content, Facts(1, "", "", "", "", ""))
    known = late.get("chat-1")
    assert known is not None
    assert known.pinned_digest == pinned.pinned_digest
