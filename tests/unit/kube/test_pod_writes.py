"""One write to a pod must keep what is ours, touch nothing else, and never bless a pod of the same name."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apifront import ApiFront, api_front
from weightrollout.clock import SystemClock
from weightrollout.kube.client import Client
from weightrollout.kube.errors import Conflict
from weightrollout.kube.pods import MEMBERS, Gate, Pod, pod_source, trim_pod
from weightrollout.kube.podwrites import Ours, PodGone, PodWriter, apply_body
from weightrollout.kube.store import Store

PODS = "/api/v1/namespaces/ns/pods"
NAMED = {"weightrollout.dev/name": "chat"}


def nothing_to_ask() -> None:
    """The guard of a process that leads."""


def labelled(version: str) -> Any:
    return lambda pod, ours: replace(ours, version_label=version)


def known_pod(front: ApiFront, client: Client) -> tuple[Store[Pod], Pod]:
    body = front.put(
        PODS, {"metadata": {"name": "chat-0", "labels": NAMED}, "spec": {"containers": []}}
    )
    store = Store(client, pod_source(client, "pods", MEMBERS))
    store.learn(body)
    return store, trim_pod(body)


async def test_write_carries_uid_and_resource_version(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        _, pod = known_pod(front, client)
        gate = Gate(True, "PutIn", "serves v2", "2026-11-29T10:00:00Z")
        body = apply_body(pod, Ours("v2", '{"txn":"t"}', gate))
        assert body["metadata"] == {
            "name": "chat-0",
            "uid": pod.uid,
            "resourceVersion": str(pod.resource_version),
            "labels": {"weightrollout.dev/version": "v2"},
            "annotations": {"weightrollout.dev/swap": '{"txn":"t"}'},
        }
        assert [each["type"] for each in body["status"]["conditions"]] == [
            "weightrollout.dev/Serving"
        ]


async def test_take_out_keeps_label_and_note_that_an_earlier_put_in_wrote(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        _, pod = known_pod(front, client)
        before = replace(pod, version_label="v1", swap_annotation='{"txn":"t"}')
        writer = PodWriter(client, SystemClock())
        closed = writer.flip(None, False, "TakeOut", "swap to v2")
        body = apply_body(before, Ours(before.version_label, before.swap_annotation, closed))
        assert body["metadata"]["labels"] == {"weightrollout.dev/version": "v1"}
        assert body["metadata"]["annotations"] == {"weightrollout.dev/swap": '{"txn":"t"}'}


async def test_same_write_again_sends_nothing(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)
        writer = PodWriter(client, SystemClock())
        for _ in range(2):
            await writer.write(store, pod.name, pod.uid, labelled("v2"), nothing_to_ask)
        assert [verb for verb, _ in front.requests] == ["PATCH"]


async def test_kubelet_that_wrote_first_costs_a_second_try_and_nothing_else(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)
        front.put(PODS, {**front.objects[f"{PODS}/chat-0"], "status": {"phase": "Running"}})
        await PodWriter(client, SystemClock()).write(
            store, pod.name, pod.uid, labelled("v2"), nothing_to_ask
        )
        assert (
            front.objects[f"{PODS}/chat-0"]["metadata"]["labels"]["weightrollout.dev/version"]
            == "v2"
        )


async def test_recreated_pod_of_the_same_name_is_never_blessed(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)
        front.remove(f"{PODS}/chat-0")
        new = front.put(
            PODS, {"metadata": {"name": "chat-0", "labels": NAMED}, "spec": {"containers": []}}
        )
        with pytest.raises(PodGone):
            await PodWriter(client, SystemClock()).write(
                store, pod.name, pod.uid, labelled("v2"), nothing_to_ask
            )
        assert front.objects[f"{PODS}/chat-0"] == new
        assert store.get("chat-0") is None


async def test_process_that_lost_the_lease_between_two_tries_sends_no_second_one(
    tmp_path: Path,
) -> None:
    class Lost(Exception):
        pass

    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)
        front.put(PODS, {**front.objects[f"{PODS}/chat-0"], "status": {"phase": "Running"}})
        asked = iter([False, True])

        def allowed() -> None:
            if next(asked):
                raise Lost

        with pytest.raises(Lost):
            await PodWriter(client, SystemClock()).write(
                store, pod.name, pod.uid, labelled("v2"), allowed
            )
        assert [verb for verb, _ in front.requests] == ["PATCH", "GET"]


async def test_writer_that_is_always_too_late_gives_up(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)

        def write_first(request: Any) -> None:
            if request.method == "PATCH":
                front.put(PODS, {**front.objects[f"{PODS}/chat-0"], "status": {}})

        front.fault = write_first
        with pytest.raises(Conflict, match="4 times in a row"):
            await PodWriter(client, SystemClock()).write(
                store, pod.name, pod.uid, labelled("v2"), nothing_to_ask
            )


async def test_two_writes_to_one_pod_at_once_lose_nothing(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        store, pod = known_pod(front, client)
        writer = PodWriter(client, SystemClock())

        def noted(pod: Pod, ours: Ours) -> Ours:
            return replace(ours, swap_annotation="{}")

        await asyncio.gather(
            writer.write(store, pod.name, pod.uid, labelled("v2"), nothing_to_ask),
            writer.write(store, pod.name, pod.uid, noted, nothing_to_ask),
        )
        known = store.get("chat-0")
        assert known is not None
        assert (known.version_label, known.swap_annotation) == ("v2", "{}")


def test_gate_that_says_the_same_again_keeps_its_transition_time() -> None:
    writer = PodWriter(Client(None, "ns"), SystemClock())  # type: ignore[arg-type]  # sends nothing
    gate = Gate(True, "PutIn", "serves v1", "2020-01-01T00:00:00Z")
    assert writer.flip(gate, True, "PutIn", "serves v2") == gate
    assert writer.flip(gate, True, "Unmanaged", "no owner").since == gate.since
    assert writer.flip(gate, False, "TakeOut", "swap").since != gate.since
