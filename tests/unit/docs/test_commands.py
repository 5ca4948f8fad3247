"""What pages tell people to type exists: each call of our programs is one that they take."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main
import yaml
from typer.core import TyperGroup
from typer.testing import CliRunner

from pages import DOCS, commands, fences, name, pages
from weightrollout.agent.settings import parse
from weightrollout.api.names import AGENT_CONTAINER
from weightrollout.cli.main import app

GOLDENS = Path(__file__).parents[1] / "cli" / "inject" / "goldens"
IMAGE = "registry.example/weightrollout-agent:1"


def calls(program: str) -> list[tuple[str, list[str]]]:
    return [(name(page), each) for page in pages() for each in commands(page.read_text(), program)]


def named(found: list[tuple[str, list[str]]]) -> list[str]:
    return [f"{page}: {' '.join(words)}" for page, words in found]


OURS = calls("kubectl weightrollout")
INJECTIONS = [(page, words) for page, words in OURS if words[:1] == ["inject"]]
AGENTS = calls("weightrollout-agent")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("page", "words"), OURS, ids=named(OURS))
def test_a_call_of_the_plugin_is_one_that_it_takes(page: str, words: list[str]) -> None:
    for file in (word for word in words if re.fullmatch(r"[\w-]+\.(yaml|key|pem)", word)):
        Path(file).touch()
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    with group.make_context("kubectl weightrollout", list(words)) as context:
        command = None if words[0].startswith("-") else group.get_command(context, words[0])
        assert command is not None, f"there is no `{words[0]}`"
        command.make_context(words[0], words[1:], parent=context)


@pytest.mark.parametrize(("page", "words"), INJECTIONS, ids=named(INJECTIONS))
def test_an_injection_of_a_page_works(page: str, words: list[str]) -> None:
    Path("deployment.yaml").write_text(deployment(words))
    worker = GOLDENS / "behind-dynamos-sidecar.in.yaml"
    Path("worker.yaml").write_text(worker.read_text())
    runner, environment = CliRunner(), {"WEIGHTROLLOUT_AGENT_IMAGE": IMAGE}
    first = ["inject", "-f", "deployment.yaml", "--bytes", "16Gi"]
    Path("injected.yaml").write_text(runner.invoke(app, first, env=environment).stdout)
    done = runner.invoke(app, words, env=environment)
    assert done.exit_code == 0, done.output
    [workload] = yaml.safe_load_all(done.stdout)
    sidecars = workload["spec"]["template"]["spec"].get("initContainers", [])
    agents = [each for each in sidecars if each["name"] == AGENT_CONTAINER]
    assert len(agents) == (0 if "--uninject" in words else 1)
    for agent in agents:
        parse([each for each in agent["args"] if "$(" not in each])


def deployment(words: list[str]) -> str:
    """The one of docs/inject.md, with the volumes that the page says it has."""
    paper = (DOCS / "inject.md").read_text()
    example = next(each.text for each in fences(paper) if each.text.startswith("apiVersion: apps/"))
    written = yaml.safe_load(example)
    volumes = written["spec"]["template"]["spec"]["volumes"]
    for volume in mounted(words):
        volumes.append({"name": volume, "secret": {"secretName": volume}})
    return yaml.safe_dump(written)


def mounted(words: list[str]) -> Iterator[str]:
    for flag, value in pairwise(words):
        if flag == "--agent-mount":
            yield value.partition(":")[0]


@pytest.mark.parametrize(("page", "words"), AGENTS, ids=named(AGENTS))
def test_flags_of_the_agent_are_those_that_it_takes(page: str, words: list[str]) -> None:
    needed = ["--staging=/staging", "--handover=/handover"]
    parse([*needed, *(word for word in words if word != "...")])


def test_there_is_something_to_look_at() -> None:
    assert len(OURS) > 40
    assert len(INJECTIONS) > 8
    assert AGENTS
