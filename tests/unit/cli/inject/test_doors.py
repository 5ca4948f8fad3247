"""What the kubelet asks the agent in the engine's place, and for how long."""

from typing import Any

import pytest

from injecting import IMAGE, Json, deployment, engine, inject_one, injected, pod_spec, taken_back
from weightrollout.agent.exposure_flags import PodAddress
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.cli.inject.doors import AGENT_AWAY_S
from weightrollout.cli.inject.report import Options, Reason

HEALTH: Json = {"httpGet": {"path": "/health", "port": 8000}}
LOOPBACK = ["m", "--host=127.0.0.1"]
MUTUAL = ["m", "--ssl-certfile=/c", "--ssl-keyfile=/k", "--ssl-cert-reqs=2"]
TRUSTED = Options(IMAGE, agent_args=("--engine-ca=/ca/ca.pem",), agent_mounts=(("ca", "/ca"),))


def container(args: list[str], **fields: Any) -> Json:
    """The engine's, after inject."""
    options = TRUSTED if args is MUTUAL else Options(IMAGE)
    workload = deployment(engine(args=args, **fields), volumes=[{"name": "ca"}])
    after = injected(workload, options)
    assert taken_back(after) == workload
    found: Json = pod_spec(after)["containers"][0]
    return found


def notes(workload: Json, options: Options | None = None) -> dict[Reason, str]:
    _, report = inject_one(workload, options or Options(IMAGE))
    return {each.reason: f"{each.message} {each.hint}" for each in report.unknown}


@pytest.mark.parametrize("args", [LOOPBACK, MUTUAL], ids=["loopback", "mutual TLS"])
@pytest.mark.parametrize(
    "probe", [HEALTH, {"tcpSocket": {"port": 8000}}, {"grpc": {"port": 50051}}]
)
def test_probes_that_the_kubelet_cannot_ask_are_the_agents(args: list[str], probe: Json) -> None:
    found = container(args, livenessProbe=probe, startupProbe={**probe, "failureThreshold": 99})
    agent = {"port": names.DEFAULT_HTTP_PORT}
    assert found["livenessProbe"]["httpGet"] == {"path": "/livez", **agent}
    assert found["startupProbe"] == {
        "httpGet": {"path": "/startupz", **agent},
        "failureThreshold": 99,
    }


def test_probes_that_reach_the_engine_are_left() -> None:
    found = container(["m"], livenessProbe=HEALTH, startupProbe=HEALTH)
    assert (found["livenessProbe"], found["startupProbe"]) == (HEALTH, HEALTH)
    inside = {"exec": {"command": ["curl", "localhost:8000/health"]}}
    found = container(LOOPBACK, livenessProbe=inside, startupProbe=inside)
    assert (found["livenessProbe"], found["startupProbe"]) == (inside, inside)


def test_no_engine_is_ended_because_its_agent_is_away_for_as_long_as_a_back_off_takes() -> None:
    for period in ({}, {"periodSeconds": 5}, {"periodSeconds": 7, "failureThreshold": 1000}):
        found = container(LOOPBACK, livenessProbe={**HEALTH, **period})["livenessProbe"]
        lasts_s = found.get("periodSeconds", 10) * found["failureThreshold"]
        assert lasts_s >= AGENT_AWAY_S > 300
    assert found["failureThreshold"] == 1000


def test_engine_that_loads_is_given_as_long_as_its_liveness_probe_gave_it() -> None:
    """Silence of an engine that loads is no reason to end it, and /livez can't tell it from a hang."""
    slow = {"initialDelaySeconds": 600, "periodSeconds": 20, "failureThreshold": 6}
    found = container(LOOPBACK, livenessProbe={**HEALTH, **slow})["startupProbe"]
    assert found["httpGet"]["path"] == "/startupz"
    assert found["periodSeconds"] * found["failureThreshold"] == 600 + 6 * 20
    assert "startupProbe" not in container(LOOPBACK)
    assert "livenessProbe" not in container(LOOPBACK)


@pytest.mark.parametrize(
    ("grace", "seconds"), [(None, 25), (90, 85), (600, 595), (5, 3), (1, 1), (0, 1)]
)
def test_hook_ends_before_the_pods_grace_does(grace: int | None, seconds: int) -> None:
    workload = deployment()
    if grace is not None:
        pod_spec(workload)["terminationGracePeriodSeconds"] = grace
    found = pod_spec(injected(workload))["containers"][0]["lifecycle"]["preStop"]
    path = f"/prestop?seconds={seconds}"
    assert found == {"httpGet": {"path": path, "port": names.DEFAULT_HTTP_PORT}}


def test_grace_that_is_shorter_than_a_drain_is_named() -> None:
    assert "is 30: requests that take longer than 25 s" in notes(deployment())[Reason.GRACE_SHORT]
    assert Reason.GRACE_SHORT in notes(deployment(terminationGracePeriodSeconds=69))
    assert Reason.GRACE_SHORT not in notes(deployment(terminationGracePeriodSeconds=70))


def test_hook_of_its_own_is_kept_and_named() -> None:
    own = {"preStop": {"sleep": {"seconds": 10}}}
    workload = deployment(engine(lifecycle=own))
    assert pod_spec(injected(workload))["containers"][0]["lifecycle"] == own
    assert "preStop (sleep)" in notes(workload)[Reason.PRE_STOP_KEPT]
    assert Reason.PRE_STOP_KEPT not in notes(deployment())


def test_agent_is_told_every_address_of_its_pod() -> None:
    agent = pod_spec(injected(deployment()))["initContainers"][1]
    fields = {
        each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"]
        for each in agent["env"]
        if "valueFrom" in each
    }
    said = next(each for each in agent["args"] if each.startswith("--pod-ip="))
    [name] = [each for each in fields if f"$({each})" in said]
    assert fields[name] == "status.podIPs"
    flags = [each.replace(f"$({name})", "10.0.0.5,fd00::5") for each in agent["args"]]
    assert parse(flags).pod == PodAddress("10.0.0.5,fd00::5", acknowledged=False)


def test_open_control_port_is_named_with_the_ways_out_unless_it_is_closed() -> None:
    said = notes(deployment())[Reason.CONTROL_PORT_EXPOSED]
    for word in ("refuse every swap", "--host=127.0.0.1", "--ssl-cert-reqs=2", "NetworkPolicy"):
        assert word in said
    for args, options in ((LOOPBACK, None), (MUTUAL, TRUSTED)):
        workload = deployment(engine(args=args), volumes=[{"name": "ca"}])
        assert Reason.CONTROL_PORT_EXPOSED not in notes(workload, options)
    assert Reason.ENGINE_ON_LOOPBACK in notes(deployment(engine(args=LOOPBACK)))


def test_open_control_port_that_was_acknowledged_is_so_towards_the_agent() -> None:
    options = Options(IMAGE, acknowledge_exposed=True)
    agent = pod_spec(injected(deployment(), options))["initContainers"][1]
    assert parse([each for each in agent["args"] if "$(" not in each]).pod.acknowledged
    assert "acknowledged" in notes(deployment(), options)[Reason.CONTROL_PORT_EXPOSED]
