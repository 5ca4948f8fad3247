"""A pod for vLLM's guarded Python frontend: the agent is told what the engine is started with, or it is refused."""

import pytest

from injecting import (
    IMAGE,
    Json,
    agent_of,
    beside,
    deployment,
    engine,
    engine_of,
    inject_one,
    injected,
    named,
    pod_spec,
    reasons,
    refused,
    with_args,
)
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Options, Reason
from weightrollout.handover import files
from weightrollout.plugin import guard

HTTP = Options(IMAGE, protocol=EngineProtocol.HTTP, engine_token=("engines", "bearer"))


def test_names_of_the_guard_are_those_that_the_plugin_has() -> None:
    assert f"{guard.Guard.__module__}.{guard.Guard.__qualname__}" == names.GUARD_MIDDLEWARE
    assert guard.TOKEN_FILE == files.GUARD_TOKEN_VARIABLE


def test_engine_gets_the_guard_its_token_and_the_routes_and_no_grpc() -> None:
    container = engine_of(injected(deployment(), HTTP))
    assert f"--middleware={names.GUARD_MIDDLEWARE}" in container["args"]
    assert not [each for each in container["args"] if "grpc" in each]
    values = {each["name"]: each["value"] for each in container["env"]}
    assert values["VLLM_SERVER_DEV_MODE"] == "1"
    assert values["VLLM_USE_RUST_FRONTEND"] == "0"
    token = values[files.GUARD_TOKEN_VARIABLE]
    assert token.startswith(f"{names.MOUNT_GUARD}/")


def test_token_is_one_file_of_one_secret_in_engine_and_agent_and_nowhere_else() -> None:
    after = injected(deployment(), HTTP)
    spec = pod_spec(after)
    secret = named(spec["volumes"], names.VOLUME_GUARD)["secret"]
    assert secret == {"secretName": "engines", "items": [{"key": "bearer", "path": "token"}]}
    mount = {"name": names.VOLUME_GUARD, "mountPath": names.MOUNT_GUARD, "readOnly": True}
    holding = [
        each["name"]
        for each in [*spec["containers"], *spec["initContainers"]]
        if mount in each["volumeMounts"]
    ]
    assert holding == ["vllm", names.AGENT_CONTAINER]
    values = {each["name"]: each["value"] for each in engine_of(after)["env"]}
    arguments = agent_of(after)["args"]
    assert f"--engine-token-file={values[files.GUARD_TOKEN_VARIABLE]}" in arguments


def test_agent_is_told_the_protocol_and_takes_what_it_is_told() -> None:
    arguments = agent_of(injected(with_args("--port=8100"), HTTP))["args"]
    settings = parse([each for each in arguments if "$(" not in each])
    assert settings.engine.protocol is EngineProtocol.HTTP
    assert settings.engine_http == "http://127.0.0.1:8100"
    assert settings.engine.token is not None


def test_guard_that_is_there_already_stays_the_only_one() -> None:
    for form in (
        (f"--middleware={names.GUARD_MIDDLEWARE}",),
        ("--middleware", names.GUARD_MIDDLEWARE),
    ):
        arguments = engine_of(injected(with_args(*form), HTTP))["args"]
        assert sum(names.GUARD_MIDDLEWARE in each for each in arguments) == 1


def test_guard_is_the_last_middleware_because_vllm_puts_that_outermost() -> None:
    arguments = engine_of(injected(with_args("--middleware=acme.Traces"), HTTP))["args"]
    middlewares = [each for each in arguments if each.startswith("--middleware")]
    assert middlewares[-1] == f"--middleware={names.GUARD_MIDDLEWARE}"


def test_guarded_engine_on_the_pods_address_is_not_called_exposed_and_keeps_its_probes() -> None:
    probe = {"httpGet": {"path": "/health", "port": 8000}}
    after, report = inject_one(with_args(livenessProbe=probe), HTTP)
    assert Reason.CONTROL_PORT_EXPOSED not in reasons(report)
    assert Reason.TOKEN_UNSEEN in reasons(report)
    assert engine_of(after)["livenessProbe"] == probe


def test_pythons_own_server_is_taken_and_several_of_them_are_reasons() -> None:
    command = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    _, report = inject_one(with_args("--api-server-count=4", command=command), HTTP)
    assert Reason.ANSWERS_UNNAMED in reasons(report)
    assert Reason.ANSWERS_UNNAMED not in reasons(inject_one(deployment(), HTTP)[1])


#: What contradicts the Python frontend -> the workload, the reason, what is said.
AGAINST_HTTP: dict[str, tuple[Json, Reason, tuple[str, ...]]] = {
    "a port of the Rust frontend": (
        with_args("--grpc-port=50051"),
        Reason.FLAG_CONFLICT,
        ("container vllm", "--grpc-port", "Rust frontend", "take --grpc-port out"),
    ),
    "the Rust frontend by its name": (
        with_args(command=["vllm-rs", "serve"]),
        Reason.FLAG_CONFLICT,
        ("container vllm", "vllm-rs", "vllm serve"),
    ),
    "the Rust frontend by its variable": (
        with_args(env=[{"name": "VLLM_USE_RUST_FRONTEND", "value": "1"}]),
        Reason.ENVIRONMENT_CONFLICT,
        ("VLLM_USE_RUST_FRONTEND", "--engine-protocol=http", "take it out"),
    ),
    "development mode switched off": (
        with_args(env=[{"name": "VLLM_SERVER_DEV_MODE", "value": "0"}]),
        Reason.ENVIRONMENT_CONFLICT,
        ("VLLM_SERVER_DEV_MODE", "'0'", "take it out"),
    ),
    "a token file of their own": (
        with_args(env=[{"name": files.GUARD_TOKEN_VARIABLE, "value": "/run/guard/token"}]),
        Reason.ENVIRONMENT_CONFLICT,
        ("/run/guard/token", names.MOUNT_GUARD),
    ),
    "gRPC instead of HTTP": (with_args("--grpc"), Reason.FLAG_CONFLICT, ("--grpc",)),
    "a port for each rank": (
        with_args("--data-parallel-multi-port-external-lb"),
        Reason.FLAG_CONFLICT,
        ("each rank",),
    ),
    "a shell": (
        deployment(engine(command=["sh", "-c", "vllm serve /m"], args=None)),
        Reason.SHELL_COMMAND,
        (f"--middleware='{names.GUARD_MIDDLEWARE}'",),
    ),
    "a volume of that name": (
        deployment(volumes=[{"name": names.VOLUME_GUARD, "emptyDir": {}}]),
        Reason.NAME_TAKEN,
        (names.VOLUME_GUARD,),
    ),
    "Dynamo's sidecar, which needs gRPC": (
        beside(),
        Reason.FLAG_CONFLICT,
        ("container main", "Dynamo", "--engine-protocol=dynamo"),
    ),
}


@pytest.mark.parametrize("case", AGAINST_HTTP)
def test_manifest_that_contradicts_the_guarded_frontend_is_refused(case: str) -> None:
    workload, reason, words = AGAINST_HTTP[case]
    found, text = refused(workload, HTTP)
    assert found is reason
    for word in words:
        assert word in text
