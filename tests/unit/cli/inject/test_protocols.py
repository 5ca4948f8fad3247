"""A pod is prepared for one protocol: what the agent is told fits what the engine is started with, or it is refused."""

from dataclasses import replace

import pytest

from injecting import (
    IMAGE,
    Json,
    deployment,
    engine,
    inject_one,
    injected,
    named,
    pod_spec,
    taken_back,
)
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Options, Reason, Refused, Report
from weightrollout.cli.inject.workloads import inject_all
from weightrollout.handover import files
from weightrollout.plugin import guard

HTTP = Options(IMAGE, protocol=EngineProtocol.HTTP, engine_token=("engines", "bearer"))
DYNAMO = Options(IMAGE, protocol=EngineProtocol.DYNAMO)
SIDECAR: Json = {
    "name": "main",
    "image": "registry.example/dynamo-vllm-sidecar:1.3.0",
    "command": ["dynamo-vllm-sidecar"],
    "args": ["--grpc-endpoint", "127.0.0.1:50051", "--enable-rl"],
    "env": [{"name": "DYN_SYSTEM_PORT", "value": "9090"}],
}
LOOPBACK = engine(args=["--model=/m", "--host=127.0.0.1"])


def with_args(*args: str, **fields: object) -> Json:
    return deployment(engine(args=["--model=/m", *args], **fields))


def beside(engine_container: Json | None = None, **sidecar: object) -> Json:
    """A pod with Dynamo's sidecar; `sidecar`: its fields that differ, None to leave one out."""
    fields = {name: each for name, each in {**SIDECAR, **sidecar}.items() if each is not None}
    return deployment(engine_container or LOOPBACK, fields)


def agent_of(after: Json) -> Json:
    return named(pod_spec(after)["initContainers"], names.AGENT_CONTAINER)


def engine_of(after: Json) -> Json:
    return named(pod_spec(after)["containers"], "vllm")


def said(report: Report) -> set[Reason]:
    return {each.reason for each in report.unknown}


def refused(workload: Json, options: Options) -> tuple[Reason, str]:
    with pytest.raises(Refused) as found:
        inject_all([workload], options)
    return found.value.reason, f"{found.value.message} {found.value.hint}"


# Over HTTP.


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
    assert Reason.CONTROL_PORT_EXPOSED not in said(report)
    assert Reason.TOKEN_UNSEEN in said(report)
    assert engine_of(after)["livenessProbe"] == probe


def test_pythons_own_server_is_taken_and_several_of_them_are_said() -> None:
    command = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
    _, report = inject_one(with_args("--api-server-count=4", command=command), HTTP)
    assert Reason.ANSWERS_UNNAMED in said(report)
    assert Reason.ANSWERS_UNNAMED not in said(inject_one(deployment(), HTTP)[1])


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


# Through Dynamo's sidecar.


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
    assert Reason.CONTROL_PORT_EXPOSED not in said(report)
    assert Reason.SIDECAR_UNSEEN not in said(report)


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


def test_address_that_is_given_is_believed_and_said() -> None:
    given = replace(DYNAMO, sidecar="http://127.0.0.1:7070")
    after, report = inject_one(deployment(), given)
    assert "--engine-sidecar=http://127.0.0.1:7070" in agent_of(after)["args"]
    assert Reason.SIDECAR_UNSEEN in said(report)


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


def test_sidecar_that_the_agent_goes_past_is_said() -> None:
    assert Reason.SIDECAR_BYPASSED in said(inject_one(beside(), Options(IMAGE))[1])
    assert Reason.SIDECAR_BYPASSED not in said(inject_one(deployment(), Options(IMAGE))[1])


def test_engine_that_is_a_native_sidecar_is_named_where_none_is_found() -> None:
    native = {**LOOPBACK, "restartPolicy": "Always"}
    reason, text = refused(deployment(SIDECAR, initContainers=[native]), DYNAMO)
    assert reason is Reason.NO_ENGINE
    assert "native sidecar vllm" in text
    assert "among the containers" in text


# Options.

MISUSED: dict[str, tuple[Options, Reason, str]] = {
    "http without a token": (
        replace(HTTP, engine_token=None),
        Reason.TOKEN_MISSING,
        "--engine-token-secret",
    ),
    "a token for gRPC": (
        replace(HTTP, protocol=EngineProtocol.GRPC),
        Reason.FLAG_CONFLICT,
        "--engine-protocol=http",
    ),
    "a sidecar for HTTP": (
        replace(HTTP, sidecar="http://127.0.0.1:9090"),
        Reason.FLAG_CONFLICT,
        "--engine-protocol=dynamo",
    ),
    "a protocol for the agent alone": (
        Options(IMAGE, agent_args=("--engine-protocol=http",)),
        Reason.FLAG_CONFLICT,
        "both say it",
    ),
    "a trusted root twice": (
        Options(
            IMAGE,
            trusted_root=("sigstore", "root.json"),
            agent_args=("--sigstore-trusted-root=/r",),
        ),
        Reason.FLAG_CONFLICT,
        "both say it",
    ),
}


@pytest.mark.parametrize("case", MISUSED)
def test_options_that_contradict_one_another_are_refused(case: str) -> None:
    options, reason, word = MISUSED[case]
    found, text = refused(deployment(), options)
    assert found is reason
    assert word in text


def test_another_protocol_replaces_the_first_one_whole_and_taking_back_is_exact() -> None:
    before = deployment()
    assert injected(injected(before, HTTP), Options(IMAGE)) == injected(before, Options(IMAGE))
    assert injected(injected(before, Options(IMAGE)), HTTP) == injected(before, HTTP)
    assert taken_back(injected(before, HTTP)) == before


# Sigstore.


def test_trusted_root_is_where_the_agent_reads_it_and_the_engine_never_sees_it() -> None:
    after = injected(deployment(), Options(IMAGE, trusted_root=("sigstore", "root.json")))
    spec = pod_spec(after)
    settings = parse([each for each in agent_of(after)["args"] if "$(" not in each])
    assert str(settings.sigstore_trusted_root) == f"{names.MOUNT_SIGSTORE}/trusted_root.json"
    assert named(spec["volumes"], names.VOLUME_SIGSTORE)["configMap"] == {
        "name": "sigstore",
        "items": [{"key": "root.json", "path": "trusted_root.json"}],
    }
    mounts = {each["name"] for each in engine_of(after)["volumeMounts"]}
    assert names.VOLUME_SIGSTORE not in mounts
    assert names.VOLUME_SIGSTORE in {each["name"] for each in agent_of(after)["volumeMounts"]}
