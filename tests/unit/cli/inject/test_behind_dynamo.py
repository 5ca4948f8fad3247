"""A pod with NVIDIA Dynamo's sidecar: the agent is told where that listens, or it is refused."""

from dataclasses import replace

import pytest

from injecting import (
    BEHIND_IT,
    IMAGE,
    SIDECAR,
    Json,
    agent_of,
    beside,
    deployment,
    engine,
    engine_of,
    inject_one,
    injected,
    reasons,
    refused,
)
from weightrollout.agent.settings import parse
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Options, Reason

DYNAMO = Options(IMAGE, protocol=EngineProtocol.DYNAMO)


def test_agent_is_told_where_the_sidecar_listens_and_takes_it() -> None:
    after, report = inject_one(
        beside(
            env=[
                {"name": "DYN_SYSTEM_PORT", "value": "9090"},
                {"name": "DYN_SYSTEM_HOST", "value": "127.0.0.1"},
            ]
        ),
        DYNAMO,
    )
    settings = parse([each for each in agent_of(after)["args"] if "$(" not in each])
    assert settings.engine.protocol is EngineProtocol.DYNAMO
    assert settings.engine.sidecar == "http://127.0.0.1:9090"
    assert settings.engine_grpc == "127.0.0.1:50051"
    assert Reason.CONTROL_PORT_EXPOSED not in reasons(report)
    assert Reason.SIDECAR_UNSEEN not in reasons(report)


def test_sidecar_is_no_engine_although_its_name_says_vllm() -> None:
    assert "--grpc-port=50051" in engine_of(injected(beside(), DYNAMO))["args"]


@pytest.mark.parametrize(
    "how",
    [
        {"command": ["python", "-m", "dynamo.vllm.sidecar"], "image": "dynamo-runtime"},
        {"command": None},
        {"command": ["sh", "-c", "exec dynamo-vllm-sidecar --enable-rl"], "args": None},
        {
            "args": None,
            "env": [
                {"name": "DYN_SYSTEM_PORT", "value": "9090"},
                {"name": "DYN_ENABLE_RL", "value": "true"},
            ],
        },
    ],
)
def test_sidecar_is_found_however_it_is_started(how: Json) -> None:
    arguments = agent_of(injected(beside(**how), DYNAMO))["args"]
    assert "--engine-sidecar=http://127.0.0.1:9090" in arguments


def test_routes_on_the_pods_address_are_called_exposed_until_that_is_acknowledged() -> None:
    _, report = inject_one(beside(), DYNAMO)
    (exposed,) = (each for each in report.unknown if each.reason is Reason.CONTROL_PORT_EXPOSED)
    assert "9090" in exposed.message
    assert "50051" not in exposed.message  # on loopback
    assert "DYN_SYSTEM_HOST=127.0.0.1" in exposed.hint


def test_address_that_is_given_is_believed_and_reasons() -> None:
    given = replace(DYNAMO, sidecar="http://127.0.0.1:7070")
    after, report = inject_one(deployment(), given)
    assert "--engine-sidecar=http://127.0.0.1:7070" in agent_of(after)["args"]
    assert Reason.SIDECAR_UNSEEN in reasons(report)


#: What contradicts Dynamo's sidecar -> the workload, the reason, what is said.
AGAINST_DYNAMO: dict[str, tuple[Json, Reason, tuple[str, ...]]] = {
    "no sidecar": (
        deployment(),
        Reason.NO_SIDECAR,
        ("dynamo-vllm-sidecar", "--engine-sidecar", "add its container"),
    ),
    "a sidecar without the routes": (
        beside(args=["--grpc-endpoint=127.0.0.1:50051"]),
        Reason.FLAG_CONFLICT,
        ("container main", "--enable-rl in its args"),
    ),
    "a sidecar without a system server": (
        beside(env=None),
        Reason.ENVIRONMENT_CONFLICT,
        ("DYN_SYSTEM_PORT", "container main", "--engine-sidecar"),
    ),
    "a system server on any port": (
        beside(env=[{"name": "DYN_SYSTEM_PORT", "value": "0"}]),
        Reason.ENVIRONMENT_CONFLICT,
        ("DYN_SYSTEM_PORT", "'0'"),
    ),
    "a sidecar of another engine": (
        beside(engine(args=["--model=/m", "--grpc-port=6000"])),
        Reason.FLAG_CONFLICT,
        ("container main", "127.0.0.1:50051", "6000", "--grpc-port=50051"),
    ),
    "the Python frontend": (
        beside(engine(env=[{"name": "VLLM_USE_RUST_FRONTEND", "value": "0"}])),
        Reason.ENVIRONMENT_CONFLICT,
        ("VLLM_USE_RUST_FRONTEND", "--engine-protocol=dynamo"),
    ),
}


@pytest.mark.parametrize("case", AGAINST_DYNAMO)
def test_manifest_that_contradicts_dynamos_sidecar_is_refused(case: str) -> None:
    workload, reason, words = AGAINST_DYNAMO[case]
    found, text = refused(workload, DYNAMO)
    assert found is reason
    for word in words:
        assert word in text


def test_sidecar_that_the_agent_goes_past_is_reasons() -> None:
    assert Reason.SIDECAR_BYPASSED in reasons(inject_one(beside(), Options(IMAGE))[1])
    assert Reason.SIDECAR_BYPASSED not in reasons(inject_one(deployment(), Options(IMAGE))[1])


def test_engine_that_is_a_native_sidecar_is_named_where_none_is_found() -> None:
    native = {**BEHIND_IT, "restartPolicy": "Always"}
    reason, text = refused(deployment(SIDECAR, initContainers=[native]), DYNAMO)
    assert reason is Reason.NO_ENGINE
    assert "native sidecar vllm" in text
    assert "among the containers" in text
