"""The operator's part of an analysis: one question at a time, its answer kept, nobody asked unasked."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from http_service import answer, service
from localcluster.waiting import eventually
from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.status import MeasurementOutcome
from weightrollout.controller.act.context import Context
from weightrollout.controller.act.supervisor import Supervisor
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Fence, Guard
from weightrollout.controller.main import CANNOT_WORK, main
from weightrollout.controller.measuring.analyst import Analyst
from weightrollout.controller.measuring.hosts import hosts_of
from weightrollout.kube.revisions import Owner
from weightrollout.rollout.actions import AskPrometheus, Measure, PostWebhook
from weightrollout.rollout.arguments import Arguments

SOON = 10.0
NO = answer('{"result": "Failed", "message": "slow"}')
ARGUMENTS = Arguments("chat", "ns", "chat-1", "b", "a", ("chat-0",), ())
Ground = Any  # tests/unit/controller/conftest.py


def webhook(url: str) -> Measure:
    return Measure("9f31/1", 1, "chat-1", PostWebhook(url, ARGUMENTS), "MeasurementDue", "")


async def measured(
    ground: Ground, analyst: Analyst, action: Measure, *, leading: bool = True
) -> Context:
    """What is left in the hands when it is done. It is asked for twice, as two passes would."""
    agents = Agents(ground.world.clock, lambda name: None, ground.world.access)
    guard = Guard(lambda: leading, lambda why: None)
    world = replace(ground.world, analyst=analyst)
    context = Context(world, agents, guard, Owner("chat", "uid"), Fence("uid", 3))
    supervisor = Supervisor(lambda name: None)
    try:
        supervisor.start(context, [action])
        supervisor.start(context, [action])
        await eventually(lambda: not supervisor.work("chat"), SOON, "it is measured")
        assert not supervisor.failures("chat", 1, ground.world.clock.monotonic())
    finally:
        await supervisor.close()
        await agents.close()
    return context


def analyst(tmp_path: Path, port: int) -> Analyst:
    key = tmp_path / "key"
    key.write_text("0123456789abcdef")
    return Analyst(hosts_of([f"127.0.0.1:{port}"]), None, key)


async def test_what_was_answered_is_an_observation_of_the_next_pass(
    ground: Ground, tmp_path: Path
) -> None:
    async with service(NO) as there:
        context = await measured(ground, analyst(tmp_path, there.port), webhook(there.url))
    answered = context.answers["chat"]
    assert (answered.analysis, answered.number) == ("9f31/1", 1)
    assert (answered.said, answered.message) == (MeasurementOutcome.FAILED, "slow")
    assert len(there.heard) == 1, "asked once, however often a pass asks for it"


async def test_whoever_does_not_lead_asks_nobody(ground: Ground, tmp_path: Path) -> None:
    async with service(NO) as there:
        hands = analyst(tmp_path, there.port)
        context = await measured(ground, hands, webhook(there.url), leading=False)
    assert not context.answers
    assert not there.heard


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (AskPrometheus(None, "up"), MeasurementReason.NO_ADDRESS),
        (AskPrometheus("http://169.254.169.254", "up"), MeasurementReason.HOST_DENIED),
        (PostWebhook("http://127.0.0.1:1/", ARGUMENTS), MeasurementReason.NO_KEY),
    ],
)
async def test_an_operator_that_was_told_nothing_asks_nobody(
    ground: Ground, question: AskPrometheus | PostWebhook, why: MeasurementReason
) -> None:
    assert ground.world.analyst == Analyst()
    action = Measure("9f31/1", 1, "chat-1", question, "MeasurementDue", "")
    context = await measured(ground, ground.world.analyst, action)
    answered = context.answers["chat"]
    assert (answered.value, answered.said, answered.reason) == (None, None, why)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--analysis-host=http://prometheus", "--analysis-host"),
        ("--analysis-host=*", "--analysis-host"),
        ("--prometheus-address=prometheus:9090", "--prometheus-address"),
        ("--prometheus-address=http://user:word@prometheus", "--prometheus-address"),
    ],
)
def test_flags_that_name_no_host_are_refused_by_name(
    flag: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = logging.root.handlers[:], logging.root.level
    try:
        assert main(["--namespace=ns", flag]) == CANNOT_WORK
    finally:
        logging.root.handlers[:], logging.root.level = before
    assert message in capsys.readouterr().err
