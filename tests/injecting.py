"""Workloads before they are injected, small and large ones; and what the tests of inject share."""

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import strategies as st

from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Options, Reason, Refused, Report, Staging
from weightrollout.cli.inject.workloads import inject_all, take_back_all

Json = dict[str, Any]

IMAGE: Final = "registry.example/weightrollout-agent:1"
OPTIONS: Final = Options(agent_image=IMAGE)
ENGINE: Final[Json] = {
    "name": "vllm",
    "image": "vllm/vllm-openai:v0.32.0",
    "args": ["--model=/models/chat/base"],
}


def engine(**fields: Any) -> Json:
    """A container; a field of None is left out."""
    return {name: value for name, value in {**ENGINE, **fields}.items() if value is not None}


def deployment(*containers: Json, name: str = "chat", labels: Any = None, **spec: Any) -> Json:
    """`spec`: of its pods."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name, **(labels or {})}},
                "spec": {"containers": [*(containers or (engine(),))], **spec},
            },
        },
    }


def pod_spec(workload: Json) -> Json:
    found: Json = workload["spec"]["template"]["spec"]
    return found


def inject_one(workload: Json, options: Options = OPTIONS) -> tuple[Json, Report]:
    result = inject_all([workload], options)
    return result.objects[0], result.reports[0]


def injected(workload: Json, options: Options = OPTIONS) -> Json:
    return inject_one(workload, options)[0]


def taken_back(workload: Json) -> Json:
    found: Json = take_back_all([workload]).objects[0]
    return found


def named(containers: list[Json], name: str) -> Json:
    return next(each for each in containers if each["name"] == name)


def agent_of(after: Json) -> Json:
    return named(pod_spec(after)["initContainers"], names.AGENT_CONTAINER)


def engine_of(after: Json) -> Json:
    return named(pod_spec(after)["containers"], "vllm")


def with_args(*args: str, **fields: Any) -> Json:
    return deployment(engine(args=["--model=/m", *args], **fields))


def reasons(report: Report) -> set[Reason]:
    """Of what could not be known."""
    return {each.reason for each in report.unknown}


def refused(workload: Json, options: Options) -> tuple[Reason, str]:
    """The reason, and message and hint."""
    with pytest.raises(Refused) as found:
        inject_all([workload], options)
    return found.value.reason, f"{found.value.message} {found.value.hint}"


#: NVIDIA Dynamo's, beside an engine that listens on loopback.
SIDECAR: Final[Json] = {
    "name": "main",
    "image": "registry.example/dynamo-vllm-sidecar:1.3.0",
    "command": ["dynamo-vllm-sidecar"],
    "args": ["--grpc-endpoint", "127.0.0.1:50051", "--enable-rl"],
    "env": [{"name": "DYN_SYSTEM_PORT", "value": "9090"}],
}
BEHIND_IT: Final = engine(args=["--model=/m", "--host=127.0.0.1"])


def beside(engine_container: Json | None = None, **sidecar: Any) -> Json:
    """A pod with Dynamo's sidecar; `sidecar`: its fields that differ, None to leave one out."""
    fields = {name: each for name, each in {**SIDECAR, **sidecar}.items() if each is not None}
    return deployment(engine_container or BEHIND_IT, fields)


# Below: any workload that can be injected, with whatever else people put into pods.

_words: Final = st.text("abcdefgh", min_size=1, max_size=6)
_absent: Final = st.just(...)


def _object(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """With some of the fields, in any order; `...` is left out."""
    return st.permutations(list(fields)).flatmap(
        lambda order: st.tuples(*(fields[name] for name in order)).map(
            lambda values: {
                name: value for name, value in zip(order, values, strict=True) if value is not ...
            }
        )
    )


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Absent, null, or that."""
    return st.one_of(_absent, st.none(), strategy)


def _named(names: st.SearchStrategy[str], **fields: st.SearchStrategy[Any]) -> Any:
    return st.lists(_object(name=names, **fields), max_size=3, unique_by=lambda each: each["name"])


_probe: Final = st.sampled_from(
    [
        {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 5},
        {"tcpSocket": {"port": "http"}},
        {"exec": {"command": ["true"]}},
    ]
)
_environment: Final = _named(
    st.one_of(st.sampled_from(["PYTHONPATH", "VLLM_PLUGINS"]), _words), value=_words
)
_mounts: Final = st.lists(
    _object(name=_words, mountPath=_words.map(lambda word: f"/{word}")),
    max_size=3,
    unique_by=lambda each: each["mountPath"],
)
_quantities: Final = st.sampled_from(["1", "2", "16Gi", "500M", "1e9", 4])
_resources: Final = _object(
    limits=_maybe(_object(cpu=_quantities, memory=_quantities)),
    requests=_maybe(_object(memory=_quantities)),
)
#: Some of them inject adds itself; none contradicts a protocol.
_arguments: Final = st.lists(
    st.sampled_from(
        [
            *("--port=80", "--host=0.0.0.0", "--host=::1", "--enforce-eager", "x"),
            '--weight-transfer-config={"backend": "weightrollout"}',
            f"--middleware={names.GUARD_MIDDLEWARE}",
        ]
    ),
    max_size=4,
    unique=True,
)
_engines: Final = _object(
    name=st.just("vllm"),
    image=st.just("vllm/vllm-openai"),
    command=st.just(["vllm", "serve", "/models"]),
    args=_maybe(_arguments),
    env=_maybe(_environment),
    volumeMounts=_maybe(_mounts),
    readinessProbe=_maybe(_probe),
    livenessProbe=_maybe(_probe),
    startupProbe=_maybe(_probe),
    lifecycle=_maybe(
        st.sampled_from([{}, {"postStart": {"exec": {"command": ["true"]}}}, {"preStop": None}])
    ),
    resources=_maybe(_resources),
)
_others: Final = _named(_words, image=st.just("envoy"), env=_maybe(_environment))
_specs: Final = _object(
    containers=st.tuples(_others, _engines, _others).map(
        lambda parts: [*parts[0], parts[1], *(each for each in parts[2] if each not in parts[0])]
    ),
    initContainers=_maybe(_named(_words.map(lambda word: f"init-{word}"), image=_words)),
    volumes=_maybe(_named(_words, emptyDir=st.just({}))),
    terminationGracePeriodSeconds=_maybe(st.sampled_from([0, 1, 30, 600])),
    readinessGates=_maybe(st.lists(_object(conditionType=_words), max_size=2)),
    securityContext=_maybe(_object(runAsUser=st.sampled_from([0, 1000]))),
    resources=_maybe(_resources),
)
_metadata: Final = _maybe(
    _object(
        labels=_maybe(st.dictionaries(_words, _words, max_size=2)),
        annotations=_maybe(st.dictionaries(_words, _words, max_size=2)),
    )
)
templates: Final = _object(metadata=_metadata, spec=_specs)
workloads: Final = templates.map(
    lambda template: {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "chat"},
        "spec": {"template": template, "serviceName": "chat"},
    }
)
_guarded: Final[Json] = {"protocol": EngineProtocol.HTTP, "engine_token": ("engines", "token")}
_dynamo: Final[Json] = {
    "protocol": EngineProtocol.DYNAMO,
    "sidecar": "http://127.0.0.1:9090",
}
_plain_options: Final = st.builds(
    Options,
    agent_image=st.just(IMAGE),
    name=st.sampled_from([None, "chat", "other"]),
    staging=st.sampled_from(Staging),
    checkpoint_bytes=st.integers(1, 1 << 40),
    gate=st.booleans(),
    agent_args=st.sampled_from([(), ("--alone-after-seconds=5",)]),
    acknowledge_exposed=st.booleans(),
    trainer_token=st.sampled_from([None, ("trainers", "token")]),
    tls_secret=st.sampled_from(["", "agents"]),
    trusted_root=st.sampled_from([None, ("sigstore", "root")]),
)
options: Final = st.builds(
    lambda how, protocol: replace(how, **protocol),
    _plain_options,
    st.sampled_from([{}, _guarded, _dynamo]),
)
