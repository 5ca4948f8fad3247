"""A pod is prepared for one protocol, said once; and Sigstore's trusted root is the agent's alone."""

from dataclasses import replace

import pytest

from injecting import (
    IMAGE,
    agent_of,
    deployment,
    engine_of,
    injected,
    named,
    pod_spec,
    refused,
    taken_back,
)
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Options, Reason

HTTP = Options(IMAGE, protocol=EngineProtocol.HTTP, engine_token=("engines", "bearer"))


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
