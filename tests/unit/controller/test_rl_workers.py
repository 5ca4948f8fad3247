"""The list of workers, as Dynamo's clients read it: exact keys, one order, the same while nothing changed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weightrollout.controller.rl_workers import Door, Worker, instance_id, listing

DOOR = Door(9612, False, ("update/b", "control/a", "control/a"), 2, "qwen")
ONE = Worker("chat", "chat-0", "uid-0", "10.0.0.7", DOOR, "engine-1")
KEYS = {
    *("namespace", "component", "endpoint", "instance_id", "transport", "request_plane_url"),
    *("routes", "system_url", "model", "world_size"),
}


def only(worker: Worker) -> dict[str, object]:
    (body,) = listing("ml", [worker])["workers"]
    return dict(body)


def test_worker_has_exactly_the_keys_that_clients_know() -> None:
    assert listing("ml", [ONE]).keys() == {"protocol_version", "namespace", "workers"}
    body = only(ONE)
    assert body.keys() == KEYS
    assert body["routes"] == ["control/a", "update/b"]
    assert body["system_url"] == "http://10.0.0.7:9612"
    assert body["transport"] == {"tcp": "10.0.0.7:9612"}
    assert body["request_plane_url"] == "dyn://ml.chat.rl"
    assert (body["world_size"], body["model"]) == (2, "qwen")


def test_address_of_ipv6_stands_in_brackets_and_tls_in_the_url() -> None:
    body = only(replace(ONE, ip="fd00::7", door=replace(DOOR, tls=True)))
    assert body["system_url"] == "https://[fd00::7]:9612"


def test_backend_is_named_only_where_the_operator_is_told_to() -> None:
    named = replace(ONE, door=replace(DOOR, backend="nccl"))
    assert only(named).keys() == KEYS
    (body,) = listing("ml", [named], with_backend=True)["workers"]
    assert (body.keys() - KEYS, body["weight_transfer_backend"]) == (
        {"weight_transfer_backend"},
        "nccl",
    )
    (body,) = listing("ml", [replace(named, trouble="silent")], with_backend=True)["workers"]
    assert "weight_transfer_backend" not in body


@pytest.mark.parametrize(
    "worker",
    [
        replace(ONE, trouble="the agent was silent for 6 s"),
        replace(ONE, instance=""),
        replace(ONE, door=replace(DOOR, model="")),
    ],
)
def test_worker_that_cannot_be_driven_now_stays_listed_with_its_error(worker: Worker) -> None:
    body = only(worker)
    assert body["routes"] == []
    assert body["error"]
    assert not {"system_url", "world_size"} & body.keys()


def test_worker_in_trouble_is_still_of_its_model_so_that_clients_wait_for_it() -> None:
    body = only(replace(ONE, trouble="the agent was silent for 6 s"))
    # As ai-dynamo 1.6.1 lists one that does not answer.
    assert body.keys() == {*KEYS, "error"} - {"system_url", "world_size"}
    assert body["model"] == DOOR.model


def test_pod_without_the_routes_is_no_worker() -> None:
    assert listing("ml", [replace(ONE, door=None)])["workers"] == []


@given(st.permutations([replace(ONE, pod_uid=f"u{n}", instance=f"e{n}") for n in range(5)]))
def test_list_is_the_same_in_whatever_order_it_was_gathered(found: list[Worker]) -> None:
    body = listing("ml", [*found, found[0]])
    assert body == listing("ml", sorted(found, key=lambda each: each.pod_uid))
    numbers = [each["instance_id"] for each in body["workers"]]
    assert numbers == sorted(set(numbers))


@given(st.text())
def test_number_of_an_engine_is_exact_also_in_a_browser(instance: str) -> None:
    assert 0 <= instance_id(instance) < 2**53


def test_engine_that_restarted_is_another_worker() -> None:
    assert only(ONE)["instance_id"] != only(replace(ONE, instance="engine-2"))["instance_id"]
