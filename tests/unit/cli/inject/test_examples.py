"""docs/examples are what inject takes, and what it makes of them is closed to neighbours."""

import re
from pathlib import Path

import pytest

from injecting import IMAGE, Json, named, pod_spec
from weightrollout.agent.settings import parse
from weightrollout.api import names
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Reason
from weightrollout.cli.inject.workloads import inject_all, take_back_all

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"


def options(text: str) -> Options:
    """Those that the example itself asks for."""
    arguments = re.findall(r"--agent-arg=(\S+)", text)
    mounts = re.findall(r"--agent-mount (\S+):(\S+)", text)
    return Options(IMAGE, agent_args=tuple(arguments), agent_mounts=tuple(mounts))


@pytest.mark.parametrize("name", ["loopback-haproxy", "mutual-tls"])
def test_example_is_injected_closed_and_relayed_and_taken_back(name: str) -> None:
    text = (EXAMPLES / f"{name}.yaml").read_text()
    before = documents.read(text)
    result = inject_all(before, options(text))
    [deployment] = (each for each in result.objects if each["kind"] == "Deployment")
    spec: Json = pod_spec(deployment)
    [report] = (each for each in result.reports if not each.left)
    reasons = {each.reason for each in report.unknown}
    assert reasons.isdisjoint({Reason.CONTROL_PORT_EXPOSED, Reason.PROBE_LEFT, Reason.GRACE_SHORT})

    engine = spec["containers"][0]
    asked = [engine[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe")]
    assert [each["path"] for each in asked] == ["/startupz", "/livez"]
    assert {each["port"] for each in asked} == {names.DEFAULT_HTTP_PORT}
    # The proxy goes no sooner than the engine.
    hooks = [each["lifecycle"]["preStop"]["httpGet"] for each in spec["containers"]]
    assert all(hook == hooks[0] for hook in hooks)

    agent = named(spec["initContainers"], names.AGENT_CONTAINER)
    settings = parse([each for each in agent["args"] if "$(" not in each])
    assert settings.engine_grpc == "127.0.0.1:50051"
    assert (settings.engine.tls is not None) is (name == "mutual-tls")
    assert take_back_all(result.objects).objects == before
