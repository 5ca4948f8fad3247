"""A pod's address is an IPv6 address where nodes have nothing else: agents are reached there as well."""

import socket
from dataclasses import replace
from typing import Any

import pytest

import sights
from agent_double import AgentDouble, served
from localcluster.waiting import eventually
from weightrollout.agent.settings import parse
from weightrollout.api.addresses import with_brackets
from weightrollout.controller.agents import Agents, address_of
from weightrollout.controller.leader import Fence
from weightrollout.rollout.fleet import AgentView

SOON = 5.0
Ground = Any  # tests/unit/controller/conftest.py


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")


@pytest.mark.parametrize(
    ("ip", "target"),
    [
        ("10.0.0.7", "10.0.0.7:9610"),
        ("fd00:10:244::7", "[fd00:10:244::7]:9610"),
        ("::1", "[::1]:9610"),
        ("::ffff:10.0.0.7", "[::ffff:10.0.0.7]:9610"),
    ],
)
def test_agent_is_dialled_at_the_address_and_the_port_of_its_pod(ip: str, target: str) -> None:
    found = address_of(replace(sights.pod("chat-0"), ip=ip))

    assert found is not None
    assert found.target == target


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ("fd00::7:9610", "[fd00::7]:9610"),  # $(POD_IP):9610
        ("::1:9610", "[::1]:9610"),
        ("[::1]:9610", "[::1]:9610"),
        ("10.0.0.7:9610", "10.0.0.7:9610"),
        ("localhost:9610", "localhost:9610"),
        ("9610", "9610"),
        ("fd00::abcd", "fd00::abcd"),  # no port: refused as it stands
    ],
)
def test_agent_binds_the_address_that_a_template_put_before_its_port(
    given: str, bound: str
) -> None:
    volumes = ("--staging=/s", "--handover=/h")
    settings = parse([*volumes, f"--grpc-bind={given}", f"--http-bind={given}"])

    assert settings.grpc_bind == settings.http_bind == bound == with_brackets(bound)


@needs_ipv6
async def test_agent_on_an_ipv6_address_is_heard(ground: Ground) -> None:
    double = AgentDouble()
    async with served(double, host="[::1]") as target:
        ground.rollout()
        pod = ground.pod("chat-0", target.replace("[::1]", "::1"))
        agents = Agents(ground.world.clock, lambda name: None, ground.world.access)
        agents.sync("chat", Fence("uid", 3), ground.world.pods_of("chat"), first=True)
        link = agents.link("chat", pod["metadata"]["uid"])
        assert link is not None
        try:
            await eventually(lambda: isinstance(link.seen, AgentView), SOON, "it is heard")
        finally:
            await agents.close()
        assert link.address.target == target
