"""What is kept of each object, and what is written of ours, must survive a round trip and bad hands."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from apifront import api_front
from localcluster.waiting import eventually
from weightrollout.api.names import AGENT_CONTAINER
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft, Weights
from weightrollout.clock import SystemClock
from weightrollout.kube.configmaps import Stable, publish_stable, stable_source, trim_stable
from weightrollout.kube.errors import Conflict
from weightrollout.kube.events import Event, Events, about_pod
from weightrollout.kube.picture import Key
from weightrollout.kube.pods import trim_pod
from weightrollout.kube.revisions import (
    Content,
    Facts,
    Owner,
    canonical_data,
    create_revision,
    remove_revision,
    reread_revision,
    revision_source,
    revisions_path,
    trim_revision,
    write_revision,
)
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store
from weightrollout.rollout.revisions import canonical

META = {"namespace": "ns", "name": "chat-0", "uid": "u", "resourceVersion": "7"}
DIGEST = "sha256:" + "a" * 64
KEY = "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"
OWNER = Owner("chat", "uid-1")
EVENTS = "/apis/events.k8s.io/v1/namespaces/ns/events"
CHAT = Key("ns", "chat")
ROLLOUTS = "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts"


def facts(verdict: str = "", pinned: str = "") -> Facts:
    return Facts(1, pinned, verdict, "", "", "2026-11-29T10:00:00Z")


def test_agent_is_found_as_a_native_sidecar_with_its_own_port() -> None:
    ports = [{"name": "wr-http", "containerPort": 1}, {"name": "wr-grpc", "containerPort": 4711}]
    sidecar = {"name": "weightrollout-agent", "ports": ports}
    pod = trim_pod({"metadata": META, "spec": {"initContainers": [sidecar], "containers": []}})
    assert pod.agent_port == 4711


def test_pod_without_an_agent_is_told_from_one_whose_agent_is_silent() -> None:
    pod = trim_pod({"metadata": META, "spec": {"containers": [{"name": "engine"}]}})
    assert pod.agent_port is None


@pytest.mark.parametrize("kind", ["initContainerStatuses", "containerStatuses"])
def test_restart_of_the_agent_is_told_by_its_containers_id(kind: str) -> None:
    spec: dict[str, Any] = {"containers": []}
    others = [{"name": "engine", "containerID": "containerd://e"}]

    def seen(**agent: str) -> str:
        status = {kind: [*others, {"name": AGENT_CONTAINER, **agent}]}
        return trim_pod({"metadata": META, "spec": spec, "status": status}).agent_container

    assert seen() == ""
    assert seen(containerID="containerd://1") != seen(containerID="containerd://2") != ""


def test_pod_that_was_never_seen_by_a_kubelet_is_pending_and_not_ready() -> None:
    pod = trim_pod({"metadata": META, "spec": {"containers": []}})
    assert (pod.phase, pod.ready, pod.gate) == ("Pending", False, None)


@pytest.mark.parametrize("digest", [None, DIGEST])
@pytest.mark.parametrize("metadata", ["", "Ignore"])
@pytest.mark.parametrize(
    "draft", [None, {"from": "Target"}, {"uri": "file:///d/", "digest": DIGEST}]
)
@pytest.mark.parametrize(
    "signature",
    [
        None,
        {"key": KEY},
        {"file": "b.sig", "keyless": {"identity": "release@acme.example", "issuer": "https://i/"}},
    ],
)
def test_revision_data_is_the_form_that_its_name_was_hashed_from(
    digest: str | None,
    metadata: str,
    draft: dict[str, str] | None,
    signature: dict[str, Any] | None,
) -> None:
    given: dict[str, Any] = {"version": "v1", "uri": "file:///m/"}
    if digest:
        given["digest"] = digest
    if metadata:
        given["metadata"] = metadata
    if draft:
        given["draft"] = draft
    if signature:
        given["signature"] = signature
    read = Draft.model_validate(draft) if draft else None
    signed = Signature.model_validate(signature) if signature else None
    data = canonical_data(Content("v1", "file:///m/", digest or "", metadata, read, signed))
    assert data == json.loads(canonical(Weights(**given)))
    body = {"metadata": META, "data": data, "revision": 1}
    assert trim_revision(body).draft == read
    assert trim_revision(body).signature == signed


@pytest.mark.parametrize("signature", ["x", {}, {"key": "x"}, {"key": KEY, "hash": "md5"}, []])
def test_revision_whose_signature_cannot_be_read_is_not_taken_for_an_unsigned_one(
    signature: Any,
) -> None:
    weights = {"version": "v1", "uri": "file:///m/", "signature": signature}
    body = {"metadata": META, "data": {"schema": 1, "weights": weights}, "revision": 1}
    assert trim_revision(body).version == ""


@pytest.mark.parametrize("draft", ["x", {}, {"from": "Elsewhere"}, {"uri": "file:///d/"}, []])
def test_revision_whose_draft_cannot_be_read_is_not_ours(draft: Any) -> None:
    weights = {"version": "v1", "uri": "file:///m/", "draft": draft}
    body = {"metadata": META, "data": {"schema": 1, "weights": weights}, "revision": 1}
    assert trim_revision(body).version == ""


async def test_a_revision_that_ignores_metadata_stays_one_when_it_is_written_again(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, revision_source(client))
        content = Content("v1", "file:///m/", DIGEST, "Ignore")
        await create_revision(client, store, "chat-1", OWNER, content, facts())
        read = store.get("chat-1")
        assert read is not None
        await write_revision(client, store, read, OWNER, facts("Verified"))
        (body,) = front.objects.values()
        assert body["data"] == canonical_data(content)


async def test_digest_is_pinned_once_by_whoever_was_first(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (_, client):
        store = Store(client, revision_source(client))
        await create_revision(
            client, store, "chat-1", OWNER, Content("v1", "file:///m/", ""), facts()
        )
        read = store.get("chat-1")
        assert read is not None
        await write_revision(client, store, read, OWNER, facts(pinned=DIGEST))
        with pytest.raises(Conflict):
            await write_revision(client, store, read, OWNER, facts(pinned="sha256:" + "b" * 64))
        known = store.get("chat-1")
        assert known is not None
        assert known.pinned_digest == DIGEST


async def test_verdict_that_is_taken_back_leaves_no_trace(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, revision_source(client))
        content = Content("v1", "file:///m/", DIGEST)
        await create_revision(client, store, "chat-1", OWNER, content, facts("Rejected"))
        read = store.get("chat-1")
        assert read is not None
        assert read.verdict == "Rejected"
        await write_revision(client, store, read, OWNER, facts())
        (body,) = front.objects.values()
        assert not any("verdict" in key for key in body["metadata"]["annotations"])


def test_history_of_a_statefulset_is_not_ours_though_it_carries_our_label() -> None:
    """It has the labels of the pod template. Taken for an orphan of ours it would be deleted."""
    labels = {"weightrollout.dev/name": "chat"}
    for owners in ([{"kind": "StatefulSet", "uid": "s"}], []):
        metadata = {**META, "labels": labels, "ownerReferences": owners}
        body = {"metadata": metadata, "data": {"spec": {"template": {}}}, "revision": 1}
        assert trim_revision(body).rollout == ""


async def test_revision_that_was_written_since_is_not_deleted(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, revision_source(client))
        content = Content("v1", "file:///m/", DIGEST)
        await create_revision(client, store, "chat-1", OWNER, content, facts())
        read = store.get("chat-1")
        assert read is not None
        await write_revision(client, store, read, OWNER, facts("Verified"))
        with pytest.raises(Conflict):
            await remove_revision(client, store, read)
        assert len(front.objects) == 1


async def test_revision_that_is_gone_is_no_ghost(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, revision_source(client))
        content = Content("v1", "file:///m/", DIGEST)
        for name in ("chat-1", "chat-2"):
            await create_revision(client, store, name, OWNER, content, facts())
            front.remove(f"{revisions_path(client)}/{name}", silently=True)
        read = store.get("chat-1")
        assert read is not None
        await remove_revision(client, store, read)
        assert not await reread_revision(client, store, "chat-2")
        assert list(store.all()) == []


async def test_published_stable_is_read_back_as_it_was_meant(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, stable_source(client))
        stable = Stable("uid-1", 4, "chat-1", "v1", "file:///m/", DIGEST)
        await publish_stable(client, store, "chat", stable)
        known = store.get("chat.weightrollout")
        assert known is not None
        assert (known.owner_uid, known.revision, known.digest) == ("uid-1", "chat-1", DIGEST)
        (body,) = front.objects.values()
        assert "ownerReferences" not in body["metadata"]


async def test_stable_is_not_written_over_what_we_have_not_read(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store = Store(client, stable_source(client))
        stable = Stable("uid-1", 4, "chat-1", "v1", "file:///m/", DIGEST)
        await publish_stable(client, store, "chat", stable)
        newer = front.objects["/api/v1/namespaces/ns/configmaps/chat.weightrollout"]
        front.put("/api/v1/namespaces/ns/configmaps", newer)
        with pytest.raises(Conflict):
            await publish_stable(client, store, "chat", None)


def test_stable_that_was_spoilt_by_hand_counts_as_not_published() -> None:
    metadata = {"name": "chat.weightrollout", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    for text in ("not json", "[]", "{}"):
        assert trim_stable({"metadata": metadata, "data": {"stable.json": text}}).revision == ""


async def test_same_event_again_raises_a_count_and_makes_no_second_object(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        events = Events(client, SystemClock(), "me", lambda reason: None)
        event = Event(about_pod("ns", "chat-0", "u"), True, "SwapFailed", "it broke")
        for _ in range(3):
            await events._write(event)
        (body,) = front.objects.values()
        assert body["series"]["count"] == 3


async def test_event_of_an_earlier_leader_is_counted_on(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        event = Event(about_pod("ns", "chat-0", "u"), True, "SwapFailed", "it broke")
        for instance in ("first", "second"):
            await Events(client, SystemClock(), instance, lambda reason: None)._write(event)
        (body,) = front.objects.values()
        assert body["series"]["count"] == 2


async def test_events_that_nobody_can_post_never_block_a_pass(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (_, client):
        dropped: list[str] = []
        events = Events(client, SystemClock(), "me", dropped.append)
        for number in range(300):
            events.post(Event(about_pod("ns", "chat-0", "u"), False, "Note", str(number)))
        assert dropped == ["QueueFull"] * 44


async def test_rollout_that_was_deleted_unseen_is_found_out_by_the_sweep(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        front.put(ROLLOUTS, {"metadata": {"name": "other"}})
        assert not rollouts.complete
        await rollouts.sweep()
        front.remove(f"{ROLLOUTS}/chat")
        told: list[Key] = []
        rollouts.subscribe(told.append)
        await rollouts.sweep()
        assert list(rollouts.known()) == [Key("ns", "other")]
        assert (told, rollouts.complete) == ([CHAT], True)


async def test_late_event_does_not_bring_an_old_status_back(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        rollouts.learn(old)
        await rollouts.write_status(old, {"epoch": 3})
        rollouts.learn(old)
        body = rollouts.get(CHAT)
        assert body is not None
        assert body["status"] == {"epoch": 3}


async def test_status_on_top_of_an_old_body_is_refused(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        front.put(ROLLOUTS, {"metadata": {"name": "chat"}, "spec": {"mode": "Paused"}})
        with pytest.raises(Conflict):
            await rollouts.write_status(old, {"epoch": 3})


async def test_posted_event_arrives_by_itself(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        events = Events(client, SystemClock(), "me", lambda reason: None)
        task = asyncio.create_task(events.run())
        events.post(Event(about_pod("ns", "chat-0", "u"), True, "SwapFailed", "x" * 2000))
        await eventually(lambda: front.objects, 5, "the event was posted")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        (body,) = front.objects.values()
        assert len(body["note"]) == 1024


async def test_rollout_of_a_restored_server_replaces_the_newer_one_that_we_knew(
    tmp_path: Path,
) -> None:
    """Else every write would be on top of a resourceVersion that never comes back."""
    async with api_front(tmp_path) as (front, client):
        told: list[str] = []
        rollouts = Rollouts(client, on_restore=lambda: told.append("restored"))
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}, "status": {"epoch": 1}})
        front.put(ROLLOUTS, {"metadata": {"name": "chat"}, "status": {"epoch": 2}})
        front.put(ROLLOUTS, {"metadata": {"name": "born-after-the-snapshot"}})
        await rollouts.sweep()
        front.restore({f"{ROLLOUTS}/chat": old}, 50)
        await rollouts.reread(CHAT)
        known = rollouts.get(CHAT)
        assert known is not None
        assert known["status"] == {"epoch": 1}
        assert told == ["restored"]
        await rollouts.sweep()
        assert list(rollouts.known()) == [CHAT]


async def test_what_we_learn_while_a_list_is_under_way_is_newer_than_the_list(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}, "status": {"epoch": 1}})
        await rollouts.sweep()
        newer = {**old, "metadata": {**old["metadata"], "resourceVersion": "900"}}

        def meanwhile(request: object) -> None:
            rollouts.learn(newer)

        front.fault = meanwhile
        await rollouts.sweep()
        assert rollouts.get(CHAT) is newer


async def test_rollout_that_was_recreated_while_a_list_was_under_way_stays_the_new_one(
    tmp_path: Path,
) -> None:
    """The old one would take its place, and the epoch of the new one would be raised once more."""
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        await rollouts.sweep()
        new = {"metadata": {**old["metadata"], "uid": "another", "resourceVersion": "900"}}
        front.fault = lambda request: rollouts.learn(new)
        await rollouts.sweep()
        assert rollouts.get(CHAT) is new


async def test_late_event_of_a_deleted_rollout_does_not_hide_its_successor(tmp_path: Path) -> None:
    """It would be left and entered again, and its epoch raised once more."""
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        old = front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        new = {"metadata": {**old["metadata"], "uid": "another", "resourceVersion": "900"}}
        late = {**old, "metadata": {**old["metadata"], "resourceVersion": "800"}}
        for body in (old, new, late):
            rollouts.learn(body)
        rollouts.forget(CHAT, old["metadata"]["uid"])
        assert rollouts.get(CHAT) is new


async def test_other_rollout_of_a_restored_server_is_believed_though_it_counts_lower(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        rollouts = Rollouts(client)
        front.put(ROLLOUTS, {"metadata": {"name": "chat"}})
        await rollouts.sweep()
        before = rollouts.get(CHAT)
        assert before is not None
        metadata = {**before["metadata"], "uid": "of-the-snapshot", "resourceVersion": "1"}
        front.restore({f"{ROLLOUTS}/chat": {**before, "metadata": metadata}}, 50)
        await rollouts.sweep()
        known = rollouts.get(CHAT)
        assert known is not None
        assert known["metadata"]["uid"] == "of-the-snapshot"
