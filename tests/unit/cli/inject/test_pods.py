"""What a pod is after inject: what is kept, what the agent can reach, and what it costs."""

from pathlib import Path
from typing import Any, cast

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
from weightrollout.agent.http import HttpDoor
from weightrollout.agent.service import Desk
from weightrollout.agent.settings import check, parse
from weightrollout.api import names
from weightrollout.cli.inject.report import Options, Reason, Staging
from weightrollout.cli.inject.workloads import take_back_all


def agent_of(workload: Json) -> Json:
    return named(pod_spec(workload)["initContainers"], names.AGENT_CONTAINER)


def told_to(container: Json, pod_ip: str = "127.0.0.5") -> dict[str, str]:
    """By the downward API."""
    fields = {
        "status.podIP": pod_ip,
        "status.podIPs": pod_ip,
        "metadata.namespace": "serving",
        "metadata.name": "chat-0",
        "metadata.uid": "uid-of-the-pod",
    }
    return {
        each["name"]: fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
        for each in container["env"]
        if "fieldRef" in each.get("valueFrom", {})
    }


def flags_of(container: Json, pod_ip: str = "127.0.0.5") -> list[str]:
    """As the kubelet expands them."""
    flags = list(container["args"])
    for name, value in told_to(container, pod_ip).items():
        flags = [each.replace(f"$({name})", value) for each in flags]
    return flags


def reasons(workload: Json, options: Options | None = None) -> set[Reason]:
    _, report = inject_one(workload, options or Options(IMAGE))
    return {each.reason for each in report.unknown}


def test_the_agent_takes_every_flag_that_it_is_given() -> None:
    settings = parse(flags_of(agent_of(injected(deployment()))))
    assert settings.engine_grpc == "127.0.0.1:50051"
    assert settings.engine_http == "http://127.0.0.1:8000"
    assert settings.stable == Path(names.MOUNT_STABLE)


def test_the_agent_may_listen_on_the_pods_address_because_it_asks_who_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_of(injected(deployment()))
    for name, value in told_to(agent).items():
        monkeypatch.setenv(name, value)
    flags = flags_of(agent, pod_ip="10.0.0.5")
    here = (f"--staging={tmp_path}", f"--handover={tmp_path}", "--jwks=/keys.json")
    settings = parse([*flags, *here])
    check(settings)
    assert settings.callers.accounts == ("system:serviceaccount:serving:weightrollout-operator",)
    assert settings.callers.pod_namespace == "serving"
    assert settings.callers.pod_uid == "uid-of-the-pod"
    assert str(settings.callers.cluster) == names.MOUNT_CLUSTER


@pytest.mark.parametrize(
    ("options", "accounts"),
    [
        ({"operator_account": "system:serviceaccount:ops:me"}, ("system:serviceaccount:ops:me",)),
        ({"agent_args": ("--client-name=operator",)}, ()),
    ],
)
def test_another_account_may_call_and_certificates_may_do_without(
    options: dict[str, Any], accounts: tuple[str, ...]
) -> None:
    flags = flags_of(agent_of(injected(deployment(), Options(IMAGE, **options))))
    assert parse(flags).callers.accounts == accounts


def test_no_probe_or_hook_asks_the_agent_for_what_it_does_not_serve() -> None:
    door = HttpDoor(cast("Desk", None))
    served = {route.resource.canonical for route in door.app().router.routes() if route.resource}
    probe = {"httpGet": {"path": "/health", "port": 8000}}
    args = ["m", "--host=127.0.0.1"]
    workload = deployment(
        engine(args=args, livenessProbe=probe, startupProbe=probe, readinessProbe=probe)
    )
    spec = pod_spec(injected(workload))
    asked = paths_on(names.DEFAULT_HTTP_PORT, spec["containers"])
    assert sorted(asked) == ["/livez", "/prestop?seconds=25", "/readyz", "/startupz"]
    assert {path.partition("?")[0] for path in asked} <= served


def paths_on(port: int, node: Any) -> list[str]:
    """Of every httpGet below."""
    if isinstance(node, list):
        return [path for each in node for path in paths_on(port, each)]
    if not isinstance(node, dict):
        return []
    here = [node["path"]] if node.get("port") == port and "path" in node else []
    return here + [path for each in node.values() for path in paths_on(port, each)]


def test_a_python_path_is_appended_to_and_not_replaced() -> None:
    workload = deployment(engine(env=[{"name": "PYTHONPATH", "value": "/a:/b"}]))
    env = named(pod_spec(injected(workload))["containers"][0]["env"], "PYTHONPATH")
    assert env["value"] == f"/a:/b:{names.MOUNT_PLUGIN}"


def test_the_engine_cannot_write_to_staging_or_plugin() -> None:
    mounts = pod_spec(injected(deployment()))["containers"][0]["volumeMounts"]
    read_only = {each["name"] for each in mounts if each.get("readOnly")}
    assert read_only == {names.VOLUME_STAGING, names.VOLUME_PLUGIN}


def test_what_somebody_changed_after_the_injection_survives_taking_it_back() -> None:
    after = injected(deployment(engine(readinessProbe={"exec": {"command": ["true"]}})))
    spec = pod_spec(after)
    spec["containers"][0]["image"] = "vllm/vllm-openai:v0.33.0"
    spec["containers"][0]["args"].append("--max-model-len=4096")
    spec["containers"][0]["env"].append({"name": "OWN", "value": "1"})
    spec["volumes"].append({"name": "own", "emptyDir": {}})
    spec["initContainers"].append({"name": "own", "image": "x"})

    back = pod_spec(taken_back(after))
    container = back["containers"][0]
    assert container["image"] == "vllm/vllm-openai:v0.33.0"
    assert container["args"] == ["--model=/models/chat/base", "--max-model-len=4096"]
    assert container["env"] == [{"name": "OWN", "value": "1"}]
    assert container["readinessProbe"] == {"exec": {"command": ["true"]}}
    assert [each["name"] for each in back["volumes"]] == ["own"]
    assert [each["name"] for each in back["initContainers"]] == ["own"]


def test_a_container_that_was_renamed_since_is_named_as_not_taken_back() -> None:
    after = injected(deployment())
    pod_spec(after)["containers"][0]["name"] = "renamed"
    [report] = take_back_all([after]).reports
    [said] = report.unknown
    assert said.reason is Reason.TAKEN_BACK_IN_PART
    assert "containers.vllm.readinessProbe" in said.message
    assert not take_back_all([injected(deployment())]).reports[0].unknown


def test_a_new_agent_image_takes_the_place_of_the_old_one() -> None:
    newer = injected(injected(deployment()), Options("registry.example/agent:2"))
    assert newer == injected(deployment(), Options("registry.example/agent:2"))


def test_injecting_again_without_a_name_keeps_the_name() -> None:
    again = injected(injected(deployment(), Options(IMAGE, name="other")), Options(IMAGE))
    labels = again["spec"]["template"]["metadata"]["labels"]
    assert labels[names.LABEL_NAME] == "other"


def test_memory_staging_is_paid_by_the_agent_and_by_the_pods_own_limit() -> None:
    workload = deployment(resources={"limits": {"memory": "40Gi"}})
    options = Options(IMAGE, staging=Staging.MEMORY, checkpoint_bytes=10 << 30)
    spec = pod_spec(injected(workload, options))
    volume = named(spec["volumes"], names.VOLUME_STAGING)["emptyDir"]
    agent = named(spec["initContainers"], names.AGENT_CONTAINER)["resources"]
    assert volume == {"medium": "Memory", "sizeLimit": "30784Mi"}
    assert agent["limits"]["memory"] == agent["requests"]["memory"] == "31296Mi"
    assert spec["resources"]["limits"]["memory"] == f"{40 * 1024 + 31296}Mi"


@pytest.mark.parametrize(
    ("limits", "limited"), [({"memory": "1Gi"}, False), ({"ephemeral-storage": "9Gi"}, True)]
)
def test_a_disk_limit_is_only_set_where_the_pod_has_one_already(
    limits: Json, limited: bool
) -> None:
    """One container's limit limits the whole pod: the engine's own files would be evicted by ours."""
    workload = deployment(engine(resources={"limits": limits}))
    agent = agent_of(injected(workload, Options(IMAGE, checkpoint_bytes=10 << 30)))
    assert agent["resources"]["requests"]["ephemeral-storage"] == "30784Mi"
    assert ("ephemeral-storage" in agent["resources"]["limits"]) is limited


def test_a_guaranteed_pod_stays_guaranteed() -> None:
    fixed = {"limits": {"cpu": 4, "memory": "8Gi"}}
    spec = pod_spec(injected(deployment(engine(resources=fixed))))
    for container in spec["initContainers"]:
        assert container["resources"]["limits"] == container["resources"]["requests"]
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}


def test_the_agent_reads_checkpoints_from_the_engines_deepest_volume_that_holds_them() -> None:
    mounts = [
        {"name": "all", "mountPath": "/models"},
        {"name": "chat", "mountPath": "/models/chat", "subPath": "v1"},
        {"name": "other", "mountPath": "/models/ch"},
    ]
    workload = deployment(engine(volumeMounts=mounts))
    agent = agent_of(injected(workload, Options(IMAGE, folder="/models/chat/step-1200")))
    assert agent["volumeMounts"][-1] == {**mounts[1], "readOnly": True}
    assert Reason.CHECKPOINT_NOT_MOUNTED not in reasons(
        workload, Options(IMAGE, folder="/models/chat/step-1200")
    )
    assert Reason.CHECKPOINT_NOT_MOUNTED in reasons(workload, Options(IMAGE, folder="/else"))


@pytest.mark.parametrize(
    ("args", "http", "grpc"),
    [
        (["m", "--host", "::", "--port", "80"], "http://127.0.0.1:80", "127.0.0.1:50051"),
        (["m", "--host=10.0.0.9"], "http://10.0.0.9:8000", "10.0.0.9:50051"),
        (["m", "--host=fd00::9", "--grpc_port=9"], "http://[fd00::9]:8000", "[fd00::9]:9"),
    ],
)
def test_the_agent_asks_the_engine_where_it_listens(args: list[str], http: str, grpc: str) -> None:
    settings = parse(flags_of(agent_of(injected(deployment(engine(args=args))))))
    assert (settings.engine_http, settings.engine_grpc) == (http, grpc)


def test_an_engine_over_tls_is_taken_where_the_agent_knows_whom_to_trust() -> None:
    workload = deployment(
        engine(args=["m", "--ssl-certfile=/c", "--ssl-keyfile=/k"]), volumes=[{"name": "ca"}]
    )
    options = Options(IMAGE, agent_args=("--engine-ca=/ca/ca.pem",), agent_mounts=(("ca", "/ca"),))
    settings = parse(flags_of(agent_of(injected(workload, options))))
    assert settings.engine_http == "https://127.0.0.1:8000"


def test_a_named_container_is_the_engine_even_if_nothing_says_vllm() -> None:
    own = {"name": "llm", "image": "registry.example/own:1", "args": ["--model=/m"]}
    after, report = inject_one(deployment(own, engine()), Options(IMAGE, container="llm"))
    assert "readinessProbe" in pod_spec(after)["containers"][0]
    assert "readinessProbe" not in pod_spec(after)["containers"][1]
    assert Reason.ENTRY_POINT_ASSUMED in {each.reason for each in report.unknown}


def test_keys_of_a_store_reach_the_agent_and_not_the_engine() -> None:
    after = injected(deployment(engine()), Options(IMAGE, agent_secrets=("weights-reader",)))
    assert agent_of(after)["envFrom"] == [{"secretRef": {"name": "weights-reader"}}]
    assert "envFrom" not in pod_spec(after)["containers"][0]
