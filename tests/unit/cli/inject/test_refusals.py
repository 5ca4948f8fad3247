"""What cannot be injected safely is refused with what to do, and nothing is printed."""

import json
from typing import Any

import pytest

from injecting import IMAGE, OPTIONS, Json, deployment, engine, injected
from weightrollout.api import names
from weightrollout.cli.inject.report import Options, Reason, Refused, Staging
from weightrollout.cli.inject.workloads import inject_all, take_back_all
from weightrollout.handover import files


def script(text: str) -> Json:
    return engine(command=["/bin/sh", "-ec", text], args=None)


def with_args(*args: str) -> Json:
    return deployment(engine(args=["--model=/m", *args]))


def group(size: int) -> Json:
    template = deployment()["spec"]["template"]
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "group"},
        "spec": {"leaderWorkerTemplate": {"size": size, "workerTemplate": template}},
    }


def claimed(name: str) -> Json:
    found = deployment()
    found["kind"] = "StatefulSet"
    found["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": name}}]
    return found


def recorded(record: str) -> Json:
    found = deployment()
    found["spec"]["template"]["metadata"]["annotations"] = {names.ANNOTATION_INJECTED: record}
    return found


#: What is wrong -> the workload, the reason, what the refusal must name.
REFUSED: dict[str, tuple[Json, Reason, str]] = {
    "two engines": (
        deployment(engine(), engine(name="second")),
        Reason.SEVERAL_ENGINES,
        "vllm, second",
    ),
    "no engine": (deployment({"name": "web", "image": "nginx"}), Reason.NO_ENGINE, "web"),
    "only an init container is vLLM": (
        deployment({"name": "web", "image": "nginx"}, initContainers=[engine()]),
        Reason.NO_ENGINE,
        "web",
    ),
    "no kind that holds pods": (
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "chat"}},
        Reason.NO_ENGINE,
        "Service/chat",
    ),
    "a kind of a version that is not known": (
        {**deployment(), "apiVersion": "apps/v1beta1"},
        Reason.NO_ENGINE,
        "Deployment/chat",
    ),
    "a shell that starts vLLM": (
        deployment(script("ulimit -l unlimited; exec vllm serve /m --port 80")),
        Reason.SHELL_COMMAND,
        "--grpc-port=50051",
    ),
    "a shell that runs a file": (
        deployment(engine(command=["bash", "start.sh"], args=None)),
        Reason.SHELL_COMMAND,
        "--weight-transfer-config",
    ),
    "arguments of the image": (deployment(engine(args=None)), Reason.NO_ARGUMENTS, "write"),
    "a server without gRPC": (
        deployment(engine(command=["python3", "-m", "vllm.entrypoints.openai.api_server"])),
        Reason.FLAG_CONFLICT,
        "vllm serve",
    ),
    "gRPC instead of HTTP": (with_args("--grpc"), Reason.FLAG_CONFLICT, "--grpc"),
    "HTTP on a unix socket": (with_args("--uds=/run/vllm"), Reason.FLAG_CONFLICT, "--uds"),
    "headless, with an underscore somewhere": (
        with_args("--data_parallel_multi_port_external_lb"),
        Reason.FLAG_CONFLICT,
        "gRPC",
    ),
    "a gRPC port nobody knows": (with_args("--grpc-port", "0"), Reason.FLAG_CONFLICT, "be 0"),
    "HTTP on the port of gRPC": (with_args("--port=50051"), Reason.FLAG_CONFLICT, "--grpc-port="),
    "several frontends": (
        with_args("--api-server-count=4"),
        Reason.FLAG_CONFLICT,
        "--api-server-count",
    ),
    "another backend": (
        with_args("--weight-transfer-config", '{"backend": "nccl"}'),
        Reason.FLAG_CONFLICT,
        "nccl",
    ),
    "another backend, dotted": (
        with_args("--weight-transfer-config.backend=ipc"),
        Reason.FLAG_CONFLICT,
        "ipc",
    ),
    "vLLM's default backend": (
        with_args("--weight-transfer-config", "{}"),
        Reason.FLAG_CONFLICT,
        "nccl",
    ),
    "one node of several": (with_args("--nnodes=2"), Reason.MULTI_POD_ENGINE, "2 nodes"),
    "a group of several pods": (group(2), Reason.MULTI_POD_ENGINE, "size is 2"),
    "TLS without anything to trust": (
        with_args("--ssl-certfile=/c", "--ssl-keyfile=/k"),
        Reason.ENGINE_OVER_TLS,
        "--engine-ca",
    ),
    "the other frontend": (
        deployment(engine(env=[{"name": "VLLM_USE_RUST_FRONTEND", "value": "0"}])),
        Reason.ENVIRONMENT_CONFLICT,
        "VLLM_USE_RUST_FRONTEND",
    ),
    "somebody else's handover": (
        deployment(engine(env=[{"name": files.HANDOVER_VARIABLE, "value": "/other"}])),
        Reason.ENVIRONMENT_CONFLICT,
        "/other",
    ),
    "a PYTHONPATH that cannot be read": (
        deployment(engine(env=[{"name": "PYTHONPATH", "valueFrom": {"configMapKeyRef": {}}}])),
        Reason.ENVIRONMENT_CONFLICT,
        "PYTHONPATH",
    ),
    "a PYTHONPATH twice": (
        deployment(engine(env=[{"name": "PYTHONPATH", "value": part} for part in "ab"])),
        Reason.ENVIRONMENT_CONFLICT,
        "2 times",
    ),
    "an address that cannot be resolved": (
        with_args("--port=$(PORT)"),
        Reason.ENVIRONMENT_CONFLICT,
        "PORT",
    ),
    "the node's network": (deployment(hostNetwork=True), Reason.HOST_NETWORK, "9610"),
    "a volume of our name": (
        deployment(volumes=[{"name": names.VOLUME_STAGING, "emptyDir": {}}]),
        Reason.NAME_TAKEN,
        names.VOLUME_STAGING,
    ),
    "a claim of our name": (claimed(names.VOLUME_STAGING), Reason.NAME_TAKEN, "staging"),
    "an agent that was written by hand": (
        deployment(initContainers=[{"name": names.AGENT_CONTAINER, "image": "x"}]),
        Reason.NAME_TAKEN,
        names.AGENT_CONTAINER,
    ),
    "our mount path": (
        deployment(engine(volumeMounts=[{"name": "x", "mountPath": "/weightrollout/plugin/"}])),
        Reason.NAME_TAKEN,
        "/weightrollout/plugin",
    ),
    "our port": (
        deployment(engine(), {"name": "web", "image": "x", "ports": [{"containerPort": 9611}]}),
        Reason.NAME_TAKEN,
        "9611",
    ),
    "a name that no WeightRollout can have": (
        deployment(name="c" * 53),
        Reason.NAME_INVALID,
        "--name",
    ),
    "a later release's record": (recorded('{"schema":2,"undo":[]}'), Reason.INJECTED_BY_NEWER, "2"),
    "a record that was cut": (recorded('{"schema":1,"un'), Reason.RECORD_UNREADABLE, "injected"),
    "a record of nonsense": (
        recorded('{"schema":1,"undo":[{"at":[]}]}'),
        Reason.RECORD_UNREADABLE,
        "injected",
    ),
    "pods without containers": (
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "chat"}, "spec": {}},
        Reason.MALFORMED,
        "containers",
    ),
    "a workload without pods": (
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "chat"}},
        Reason.MALFORMED,
        "spec.template",
    ),
    "an engine without a name": (deployment(engine(name=None)), Reason.MALFORMED, "no name"),
    "volumes that are no list": (deployment(volumes={"a": 1}), Reason.MALFORMED, "chat"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_and_told_why(case: str) -> None:
    workload, reason, said = REFUSED[case]
    with pytest.raises(Refused) as refused:
        inject_all([workload], OPTIONS)
    assert refused.value.reason == reason
    assert said in f"{refused.value.message} {refused.value.hint}"


#: What is wrong with how it is asked for.
MISUSED: dict[str, tuple[dict[str, Any], Reason, str]] = {
    "another name than the label's": ({"name": "other"}, Reason.NAME_DIFFERS, "says chat"),
    "a container that is not there": ({"container": "engine"}, Reason.NO_ENGINE, "engine"),
    "memory of unknown size": ({"staging": Staging.MEMORY}, Reason.SIZE_MISSING, "--bytes"),
    "a volume that is not there": (
        {"agent_mounts": (("keys", "/keys"),)},
        Reason.VOLUME_MISSING,
        "keys",
    ),
}


@pytest.mark.parametrize("case", MISUSED)
def test_what_is_asked_for_must_fit_the_pod(case: str) -> None:
    asked, reason, said = MISUSED[case]
    workload = deployment(labels={names.LABEL_NAME: "chat"})
    with pytest.raises(Refused) as refused:
        inject_all([workload], Options(IMAGE, **asked))
    assert refused.value.reason == reason
    assert said in f"{refused.value.message} {refused.value.hint}"


def test_one_refusal_refuses_the_whole_file() -> None:
    with pytest.raises(Refused, match="Deployment/second"):
        inject_all([deployment(), deployment(name="second", hostNetwork=True)], OPTIONS)


def test_what_is_no_engine_is_never_a_reason_to_refuse() -> None:
    other = group(2)
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = "x"
    result = inject_all([other, deployment()], OPTIONS)
    assert result.objects[0] == other
    assert take_back_all([group(2)]).objects == [group(2)]


@pytest.mark.parametrize("spec", [None, [], "x", {"leaderWorkerTemplate": "x"}])
def test_taking_back_leaves_what_it_does_not_understand(spec: Any) -> None:
    odd = {**group(1), "spec": spec}
    assert take_back_all([odd, None, "x", 7]).objects == [odd, None, "x", 7]


def test_a_shell_that_has_all_flags_already_is_taken() -> None:
    flags = '--grpc-port 50051 --weight-transfer-config \'{"backend": "weightrollout"}\''
    after = injected(deployment(script(f"exec vllm serve /m {flags}")))
    command = after["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command == ["/bin/sh", "-ec", f"exec vllm serve /m {flags}"]


def test_what_a_shell_is_told_to_add_is_enough() -> None:
    """Whoever does what the refusal says is not refused again."""
    with pytest.raises(Refused) as refused:
        injected(deployment(script("vllm serve /m")))
    flags = refused.value.hint.removeprefix("add to its vllm serve: ").partition(" - then")[0]
    injected(deployment(script(f"vllm serve /m {flags}")))


def test_a_record_that_was_tampered_with_breaks_nothing_else() -> None:
    steps = [{"at": ["spec", "containers", {"name": "vllm"}, "args"], "tokens": 7}]
    with pytest.raises(Refused) as refused:
        take_back_all([recorded(json.dumps({"schema": 1, "undo": steps}))])
    assert refused.value.reason is Reason.RECORD_UNREADABLE
