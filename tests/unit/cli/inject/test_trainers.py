"""The trainers' routes are shut unless they are asked for; then the agent alone has token and key, and the risks are said."""

from dataclasses import replace

import pytest

from injecting import IMAGE, Json, deployment, engine, inject_one, named, pod_spec, taken_back
from weightrollout.api import names
from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.api.guard import Guard
from weightrollout.cli.inject.report import Options, Reason, Refused, Report

OPEN = Options(
    agent_image=IMAGE, trainer_token=("trainers", "bearer"), trainer_guard=Guard.AUTO_PAUSE
)


def agent_of(options: Options, workload: Json | None = None) -> tuple[Json, Report]:
    after, report = inject_one(workload or deployment(), options)
    return named(pod_spec(after)["initContainers"], names.AGENT_CONTAINER), report


def reasons(report: Report) -> set[Reason]:
    return {each.reason for each in report.unknown}


def test_no_route_is_opened_that_nobody_asked_for() -> None:
    agent, report = agent_of(Options(agent_image=IMAGE))
    assert not [each for each in agent["args"] if "trainer" in each or "tls" in each]
    assert names.PORT_TRAINER not in {each["name"] for each in agent["ports"]}
    assert not reasons(report) & {Reason.TRAINER_PORT_OPEN, Reason.CERTIFICATE_OF_ITS_OWN}


def test_token_is_read_where_its_secret_is_mounted_and_the_engine_never_sees_it() -> None:
    after, report = inject_one(deployment(), OPEN)
    spec = pod_spec(after)
    agent = named(spec["initContainers"], names.AGENT_CONTAINER)
    assert f"--trainer-token-file={names.MOUNT_TRAINERS}/token" in agent["args"]
    assert "--trainer-guard=auto-pause" in agent["args"]
    secret = named(spec["volumes"], names.VOLUME_TRAINERS)["secret"]
    assert secret == {"secretName": "trainers", "items": [{"key": "bearer", "path": "token"}]}
    port = named(agent["ports"], names.PORT_TRAINER)["containerPort"]
    assert any(each.endswith(f"):{port}") and "bind" in each for each in agent["args"])
    others = [*spec["containers"], named(spec["initContainers"], names.PLUGIN_CONTAINER)]
    seen = {mount["name"] for each in others for mount in each.get("volumeMounts", ())}
    assert names.VOLUME_TRAINERS not in seen
    assert Reason.TRAINER_PORT_OPEN in reasons(report)


def test_pod_says_itself_that_it_is_a_trainers_where_it_was_asked_to() -> None:
    """With shut routes, too: what its fleet's operator loads, then."""
    for options in (OPEN, Options(agent_image=IMAGE)):
        assert "--trainer-drives" not in agent_of(options)[0]["args"]
        agent, report = agent_of(replace(options, trainer_drives=True))
        assert "--trainer-drives" in agent["args"]
        assert any("base weights stay out of service" in each for each in report.changed)


def test_certificate_that_no_trainer_can_know_is_said_unless_one_is_given() -> None:
    assert Reason.CERTIFICATE_OF_ITS_OWN in reasons(agent_of(OPEN)[1])
    given = Options(agent_image=IMAGE, trainer_token=("trainers", "token"), tls_secret="agents")
    agent, report = agent_of(given)
    assert f"--tls-certificate={names.MOUNT_TLS}/tls.crt" in agent["args"]
    assert f"--tls-key={names.MOUNT_TLS}/tls.key" in agent["args"]
    assert Reason.CERTIFICATE_OF_ITS_OWN not in reasons(report)
    (said,) = (each for each in report.unknown if each.reason is Reason.CERTIFICATE_UNSEEN)
    assert AGENT_TLS_NAME in said.message


def test_engine_of_another_backend_is_let_in_for_a_trainer_alone() -> None:
    nccl = deployment(engine(args=["--model=/m", '--weight-transfer-config={"backend": "nccl"}']))
    with pytest.raises(Refused, match="nccl"):
        agent_of(Options(agent_image=IMAGE), nccl)
    assert Reason.WILL_BE_REFUSED in reasons(agent_of(OPEN, nccl)[1])
    assert Reason.WILL_BE_REFUSED not in reasons(agent_of(OPEN)[1])


@pytest.mark.parametrize("flag", ["--trainer-token-file=/t", "--trainer-bind=:9", "--tls-key=/k"])
def test_what_is_said_twice_is_refused(flag: str) -> None:
    options = Options(
        agent_image=IMAGE, trainer_token=("t", "token"), tls_secret="c", agent_args=(flag,)
    )
    with pytest.raises(Refused, match="both say it"):
        agent_of(options)
    twice = Options(agent_image=IMAGE, trainer_drives=True, agent_args=("--trainer-drives",))
    with pytest.raises(Refused, match="both say it"):
        agent_of(twice)


def test_port_that_is_taken_is_refused_only_where_it_would_be_ours() -> None:
    taken = deployment(engine(ports=[{"name": "x", "containerPort": names.DEFAULT_TRAINER_PORT}]))
    agent_of(Options(agent_image=IMAGE), taken)
    with pytest.raises(Refused, match=str(names.DEFAULT_TRAINER_PORT)):
        agent_of(OPEN, taken)


def test_taking_back_shuts_the_routes() -> None:
    before = deployment()
    assert taken_back(inject_one(before, OPEN)[0]) == before
