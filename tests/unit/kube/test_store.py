"""The picture of the cluster must be complete, current and without ghosts, whatever the watch does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from apifront import ApiFront, api_front, refusal
from localcluster.waiting import eventually
from weightrollout.kube import store as store_module
from weightrollout.kube.client import Client
from weightrollout.kube.pods import MEMBERS, Pod, pod_source
from weightrollout.kube.store import Store

PODS = "/api/v1/namespaces/ns/pods"
SOON = 5.0


def pod(name: str, **status: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"weightrollout.dev/name": "chat"}}
    return {"metadata": metadata, "spec": {"containers": []}, "status": status}


def names(store: Store[Pod]) -> list[str]:
    return sorted(each.name for each in store.all())


@asynccontextmanager
async def watching(client: Client, hung_s: float = 60.0) -> AsyncIterator[Store[Pod]]:
    store = Store(client, pod_source(client, "pods", MEMBERS), hung_s=hung_s)
    task = asyncio.create_task(store.run())
    try:
        yield store
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BACKOFF_S", (0.01, 0.05))


async def test_store_is_not_synced_before_the_last_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "PAGE", 2)
    async with api_front(tmp_path) as (front, client):
        for number in range(5):
            front.put(PODS, pod(f"chat-{number}"))
        front.fault = lambda request: refusal(503, "Busy") if "continue" in request.query else None
        async with watching(client) as store:
            await eventually(lambda: len(front.requests) > 3, SOON, "it lists again and again")
            assert not store.synced.is_set()
            assert names(store) == []
            front.fault = None
            await asyncio.wait_for(store.synced.wait(), SOON)
            assert len(names(store)) == 5


async def test_pod_deleted_while_the_watch_was_too_old_is_no_ghost(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        front.put(PODS, pod("chat-0"))
        front.put(PODS, pod("chat-1"))
        async with watching(client) as store:
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.remove(f"{PODS}/chat-1", silently=True)
            gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
            front.send(PODS, {"type": "ERROR", "object": gone})
            await eventually(lambda: names(store) == ["chat-0"], SOON, "the ghost is gone")


async def test_pod_recreated_under_the_same_name_is_told_as_gone_and_new(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        front.put(PODS, pod("chat-0"))
        told: list[tuple[bool, bool]] = []
        async with watching(client) as store:
            store.subscribe(lambda before, after: told.append((before is None, after is None)))
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.remove(f"{PODS}/chat-0", silently=True)
            front.put(PODS, pod("chat-0"))
            await eventually(lambda: len(told) == 3, SOON, "all was told")
            assert told == [(True, False), (False, True), (True, False)]


async def test_late_watch_event_does_not_undo_what_our_own_write_returned(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        old = front.put(PODS, pod("chat-0", phase="Pending"))
        async with watching(client) as store:
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            new = {**old, "status": {"phase": "Running"}}
            new["metadata"] = {**old["metadata"], "resourceVersion": "9999"}
            store.learn(new)
            front.send(PODS, {"type": "MODIFIED", "object": old})
            front.put(PODS, pod("chat-1"))
            await eventually(lambda: len(names(store)) == 2, SOON, "the later event arrived")
            known = store.get("chat-0")
            assert known is not None
            assert known.phase == "Running"


async def test_hung_watch_is_given_up_and_opened_again(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client), watching(client, hung_s=0.05) as store:
        await eventually(
            lambda: front.requests.count(("WATCH", PODS)) >= 2, SOON, "a second watch was opened"
        )
        assert store.synced.is_set()


async def test_watch_that_ends_at_once_is_not_opened_in_a_tight_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "BACKOFF_S", (0.05, 0.05))
    closed = lambda request: web.Response() if "watch" in request.query else None  # noqa: E731
    async with api_front(tmp_path) as (front, client):
        front.fault = closed
        begun = asyncio.get_running_loop().time()
        async with watching(client):
            await eventually(
                lambda: front.requests.count(("WATCH", PODS)) >= 4, SOON, "four watches"
            )
        assert asyncio.get_running_loop().time() - begun >= 3 * 0.05


async def test_cut_watch_goes_on_from_where_it_was(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client), watching(client) as store:
        await eventually(lambda: front.watchers(PODS), SOON, "it watches")
        front.cut(PODS)
        await eventually(lambda: front.requests.count(("WATCH", PODS)) >= 2, SOON, "it tries")
        await eventually(lambda: front.watchers(PODS), SOON, "it watches again")
        assert front.requests.count(("GET", PODS)) == 1
        assert store.synced.is_set()


async def test_server_that_was_away_is_listed_anew_for_it_may_be_an_older_one(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        kept = front.put(PODS, pod("chat-0", phase="Pending"))
        async with watching(client) as store:
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.put(PODS, pod("chat-0", phase="Running"))
            front.put(PODS, pod("born-after-the-snapshot"))
            await eventually(lambda: len(names(store)) == 2, SOON, "both are known")
            front.fault = lambda request: refusal(503, "Away")
            front.cut(PODS)
            await eventually(lambda: len(front.requests) >= 5, SOON, "it tries")
            front.restore({f"{PODS}/chat-0": kept}, 50)
            front.fault = None
            await eventually(lambda: names(store) == ["chat-0"], SOON, "the ghost is gone")
            known = store.get("chat-0")
            assert known is not None
            assert (known.phase, known.resource_version) == ("Pending", front.version)


async def goes_back(front: ApiFront, store: Store[Pod], kept: dict[str, Any]) -> None:
    """The server is restored to when there was `kept` alone; the store knows a pod more."""
    await eventually(lambda: front.watchers(PODS), SOON, "it watches")
    front.put(PODS, pod("chat-1"))
    await eventually(lambda: len(names(store)) == 2, SOON, "both are known")
    front.restore({f"{PODS}/chat-0": kept}, 50)


async def test_bookmark_from_the_past_means_a_restored_server_and_a_new_list(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        kept = front.put(PODS, pod("chat-0"))
        async with watching(client) as store:
            await goes_back(front, store, kept)
            then = {"metadata": {"resourceVersion": str(front.version)}}
            front.send(PODS, {"type": "BOOKMARK", "object": then})
            await eventually(lambda: names(store) == ["chat-0"], SOON, "the ghost is gone")


async def test_silent_watch_of_a_restored_server_is_left_at_once_when_somebody_knows(
    tmp_path: Path,
) -> None:
    """It waits for a version that the server has yet to reach; a bookmark may be a minute away."""
    async with api_front(tmp_path) as (front, client):
        kept = front.put(PODS, pod("chat-0"))
        async with watching(client) as store:
            await goes_back(front, store, kept)
            store.list_again()
            await eventually(lambda: names(store) == ["chat-0"], SOON, "the ghost is gone")
            known = store.get("chat-0")
            assert known is not None
            assert known.resource_version == front.version


@pytest.mark.parametrize(
    "line",
    [b'{"type": "MODIF', b"<html>Bad Gateway</html>", b"[]", b'{"type": "ADDED", "object": {}}'],
)
async def test_line_that_is_no_event_only_costs_a_new_watch(tmp_path: Path, line: bytes) -> None:
    async with api_front(tmp_path) as (front, client), watching(client) as store:
        await eventually(lambda: front.watchers(PODS), SOON, "it watches")
        front.send_line(PODS, line)
        await eventually(lambda: front.requests.count(("WATCH", PODS)) >= 2, SOON, "a new watch")
        front.put(PODS, pod("chat-0"))
        await eventually(lambda: names(store) == ["chat-0"], SOON, "it still sees")


async def test_event_that_comes_twice_or_after_a_newer_one_changes_nothing(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        old = front.put(PODS, pod("chat-0", phase="Pending"))
        async with watching(client) as store:
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.put(PODS, pod("chat-0", phase="Running"))
            gone = front.put(PODS, pod("chat-1"))
            front.remove(f"{PODS}/chat-1")
            for late in (old, gone, gone):
                front.send(PODS, {"type": "MODIFIED", "object": late})
            front.put(PODS, pod("chat-2"))
            await eventually(lambda: "chat-2" in names(store), SOON, "the last event arrived")
            assert names(store) == ["chat-0", "chat-2"]
            known = store.get("chat-0")
            assert known is not None
            assert known.phase == "Running"


async def test_answer_to_our_own_write_does_not_bring_back_a_pod_that_was_deleted_meanwhile(
    tmp_path: Path,
) -> None:
    async with api_front(tmp_path) as (front, client):
        answer = front.put(PODS, pod("chat-0"))
        async with watching(client) as store:
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.remove(f"{PODS}/chat-0")
            await eventually(lambda: names(store) == [], SOON, "it is gone")
            store.learn(answer)
            assert names(store) == []


async def test_pod_whose_label_comes_back_is_seen_again(tmp_path: Path) -> None:
    """To our watch it was deleted when it lost the label; the pod is the same, and so is its uid."""
    async with api_front(tmp_path) as (front, client):
        labelled = front.put(PODS, pod("chat-0"))
        async with watching(client) as store:
            await eventually(lambda: names(store) == ["chat-0"], SOON, "it is known")
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.remove(f"{PODS}/chat-0")  # its label, as our watch tells it
            await eventually(lambda: names(store) == [], SOON, "it is no member")
            front.put(PODS, {**labelled, "status": {"phase": "Running"}})
            await eventually(lambda: names(store) == ["chat-0"], SOON, "it is a member again")
            store.learn(front.put(PODS, {**labelled, "status": {"phase": "Failed"}}))
            known = store.get("chat-0")
            assert known is not None
            assert (known.uid, known.phase) == (labelled["metadata"]["uid"], "Failed")


async def test_pod_that_lost_its_label_while_nobody_watched_is_seen_again(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        labelled = front.put(PODS, pod("chat-0"))
        async with watching(client) as store:
            await eventually(lambda: names(store) == ["chat-0"], SOON, "it is known")
            await eventually(lambda: front.watchers(PODS), SOON, "it watches")
            front.remove(f"{PODS}/chat-0", silently=True)
            front.send(PODS, {"type": "ERROR", "object": {"code": 410, "reason": "Expired"}})
            await eventually(lambda: names(store) == [], SOON, "it is no member")
            await eventually(lambda: front.watchers(PODS), SOON, "it watches again")
            front.put(PODS, labelled)
            await eventually(lambda: names(store) == ["chat-0"], SOON, "it is a member again")


async def test_busy_server_is_watched_again_when_it_says_so(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client), watching(client):
        await eventually(lambda: front.watchers(PODS), SOON, "it watches")
        begun = asyncio.get_running_loop().time()
        busy = iter([refusal(429, "Busy", Retry_After="1"), None, None])
        front.fault = lambda request: next(busy)
        front.cut(PODS)
        watch = ("WATCH", PODS)
        await eventually(lambda: front.requests.count(watch) == 3, SOON, "it watches again")
        assert asyncio.get_running_loop().time() - begun >= 1.0


def test_callback_can_be_ended() -> None:
    told: list[str] = []
    client = Client(None, "ns")  # type: ignore[arg-type]  # learn() sends nothing
    store = Store(client, pod_source(client, "pods", MEMBERS))
    end = store.subscribe(lambda before, after: told.append("told"))
    about = {"namespace": "ns", "uid": "u", "resourceVersion": "1"}
    body = {**pod("chat-0"), "metadata": {**pod("chat-0")["metadata"], **about}}
    store.learn(body)
    end()
    store.drop("chat-0", "u")
    assert told == ["told"]
