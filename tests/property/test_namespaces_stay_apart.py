"""Whatever happens in other namespaces, the view of one shows the same: no rule could mix two fleets."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.kube.client import EVERYWHERE, Client
from weightrollout.kube.picture import Key
from weightrollout.kube.pods import MEMBERS, Pod, pod_source
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store

NAMESPACES = ("blue", "green", "")  # the last: what a name alone must never mean
NAMES = ("chat-0", "chat-1")
FLEETS = ("chat", "other")

steps = st.lists(
    st.tuples(
        st.sampled_from(("learn", "list", "drop", "delete")),
        st.sampled_from(NAMESPACES[:2]),
        st.sampled_from(NAMES),
        st.sampled_from(FLEETS),
        st.integers(0, 2),  # which of the pods that had this name
    ),
    max_size=30,
)


def nobody() -> Client:
    """learn() sends nothing."""
    return Client(None, EVERYWHERE)  # type: ignore[arg-type]


def pod(namespace: str, name: str, fleet: str, uid: str, version: int) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": uid,
            "resourceVersion": str(version),
            "labels": {"weightrollout.dev/name": fleet},
        },
        "spec": {"containers": []},
        "status": {"phase": "Running"},
    }


def play(done: list[Any], only: str | None) -> Store[Pod]:
    """The store after these steps, or after those of one namespace."""
    client = nobody()
    store = Store(client, pod_source(client, "pods", MEMBERS))
    for version, (step, namespace, name, fleet, which) in enumerate(done, 1):
        if only not in (None, namespace):
            continue
        uid = f"{namespace}/{name}/{which}"
        body = pod(namespace, name, fleet, uid, version)
        match step:
            case "learn":
                store.learn(body)
            case "drop":
                store.within(namespace).drop(name, uid)
            case "delete":
                store._gone(Key(namespace, name), uid, version)
            case "list":
                here = {Key(each.namespace, each.name): each for each in store.all()}
                store.learn(body)
                store._swap(here, version)
    return store


def shown(store: Store[Pod], namespace: str) -> Mapping[str, Pod]:
    shelf = store.within(namespace)
    found = {each.name: each for each in shelf.all()}
    assert all(shelf.get(name) == each for name, each in found.items())
    return found


@settings(deadline=None)
@given(steps)
def test_one_namespace_looks_the_same_whatever_happens_in_the_others(done: list[Any]) -> None:
    together = play(done, None)
    for namespace in NAMESPACES[:2]:
        assert shown(together, namespace) == shown(play(done, namespace), namespace)


@settings(deadline=None)
@given(steps)
def test_no_pod_is_seen_from_another_namespace(done: list[Any]) -> None:
    store = play(done, None)
    for namespace in NAMESPACES:
        assert {each.namespace for each in shown(store, namespace).values()} <= {namespace}
    assert not any(store.get(name) for name in NAMES), "a name alone means no namespace"
    assert set(store.namespaces()) == {each.namespace for each in store.all()}


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(NAMESPACES[:2]), st.sampled_from(FLEETS))))
def test_rollouts_of_one_name_come_and_go_by_themselves(done: list[tuple[bool, str, str]]) -> None:
    rollouts, expected = Rollouts(nobody()), dict[Key, int]()
    for version, (comes, namespace, name) in enumerate(done, 1):
        uid = f"{namespace}/{name}"
        if comes:
            about = {"uid": uid, "resourceVersion": str(version)}
            rollouts.learn({"metadata": {"namespace": namespace, "name": name, **about}})
            expected[Key(namespace, name)] = version
        else:
            rollouts.within(namespace).forget(name, uid)
            expected.pop(Key(namespace, name), None)
    assert set(rollouts.known()) == set(expected)
    for namespace in NAMESPACES:
        names = {key.name for key in expected if key.namespace == namespace}
        assert set(rollouts.within(namespace).names()) == names
