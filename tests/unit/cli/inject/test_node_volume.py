"""A volume that pods of a node share is the agent's alone, in a folder of its fleet, and only where it was asked for."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from injecting import IMAGE, Json, deployment, injected, named, pod_spec, taken_back
from weightrollout.agent.settings import BadFlag, check, parse
from weightrollout.api import names
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Reason
from weightrollout.cli.inject.workloads import inject_all
from weightrollout.cli.main import app

CLAIM = Options(IMAGE, name="chat", node_volume="weights")
FOLDER = Options(IMAGE, name="chat", node_volume="/var/lib/weights")


def _agent(workload: Json) -> Json:
    return named(pod_spec(workload)["initContainers"], names.AGENT_CONTAINER)


@pytest.mark.parametrize(
    ("options", "source"),
    [
        (CLAIM, {"persistentVolumeClaim": {"claimName": "weights"}}),
        (FOLDER, {"hostPath": {"path": "/var/lib/weights", "type": "Directory"}}),
    ],
)
def test_volume_is_mounted_in_the_agent_and_not_in_the_engine(
    options: Options, source: Json
) -> None:
    workload = injected(deployment(), options)
    spec = pod_spec(workload)
    assert named(spec["volumes"], names.VOLUME_NODE) == {"name": names.VOLUME_NODE, **source}
    holders = [
        each["name"]
        for each in [*spec["containers"], *spec["initContainers"]]
        if any(mount["name"] == names.VOLUME_NODE for mount in each.get("volumeMounts") or [])
    ]
    assert holders == [names.AGENT_CONTAINER]
    assert taken_back(workload) == deployment()


def test_agent_uses_a_folder_of_its_fleet() -> None:
    args = _agent(injected(deployment(), CLAIM))["args"]
    assert f"--node-volume={names.MOUNT_NODE}/$({names.ENV_POD_NAMESPACE}).chat" in args


def test_nothing_changes_without_it() -> None:
    text = documents.write([injected(deployment(), Options(IMAGE))])
    assert names.VOLUME_NODE not in text
    assert "--node-volume" not in text


@pytest.mark.parametrize(("options", "said"), [(CLAIM, False), (FOLDER, True)])
def test_folder_of_the_node_is_said_to_need_more_than_restricted_allows(
    options: Options, said: bool
) -> None:
    (report,) = inject_all([deployment()], options).reports
    assert (Reason.HOST_PATH in {each.reason for each in report.unknown}) is said


@pytest.mark.parametrize("text", ["Weights", "/", "/var/../etc", "a b"])
def test_what_is_neither_a_claim_nor_a_folder_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deployment.yaml"
    file.write_text(documents.write([deployment()]))
    order = ["inject", "-f", str(file), "--agent-image", IMAGE, "--node-volume", text]
    assert CliRunner().invoke(app, order).exit_code == 2


@pytest.mark.parametrize(
    "flags", [("--node-volume=/nowhere/chat",), ("--node-volume-keep-free=100",)]
)
def test_agent_that_cannot_have_it_does_not_start(tmp_path: Path, flags: tuple[str, ...]) -> None:
    volumes = (f"--staging={tmp_path}", f"--handover={tmp_path}")
    with pytest.raises(BadFlag, match=flags[0].partition("=")[0]):
        check(parse([*volumes, f"--node-volume={tmp_path}/chat", *flags]))
