"""The repository is what its papers say."""

import operator
import os
import re
import subprocess
import sys
import sysconfig
from enum import StrEnum
from pathlib import Path
from types import ModuleType

import pytest

from weightrollout import generated, metrics_reference
from weightrollout.agent.reasons import IncompatibleReason
from weightrollout.agent.rl import reference as rl_reference
from weightrollout.api import generate
from weightrollout.api.callers import CallerReason, NotTrusted
from weightrollout.api.conditions import StalledReason
from weightrollout.api.reasons import HoldReason, RejectReason
from weightrollout.cli import reference as cli_reference
from weightrollout.rollout.fleet import AgentFault
from weightrollout.weights.errors import Reason

ROOT = Path(__file__).parents[2]
PAPERS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changelog.d/*.md")])

#: A person's or a build machine's folders; examples use /models, which is nobody's.
MACHINE_PATH = re.compile(r"(?<![\w.])/(root|home|Users|work|tmp|opt|mnt|usr/local)/")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def named(paper: Path) -> str:
    return str(paper.relative_to(ROOT))


def test_the_folder_operator_does_not_shadow_pythons_own_module() -> None:
    """With an __init__.py and the root on the path, the interpreter cannot even import enum."""
    assert not (ROOT / "operator" / "__init__.py").exists()
    assert not (ROOT / "operator" / "conftest.py").exists()
    assert operator.__file__ is not None
    assert Path(operator.__file__).is_relative_to(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("module", ["operator", "enum"])
def test_pythons_own_modules_load_from_the_root_of_the_checkout(module: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", f"import {module}; print({module}.__file__)"]
    done = subprocess.run(
        run, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=30
    )
    assert Path(done.stdout.strip()).is_relative_to(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("maker", [generate, cli_reference, metrics_reference, rl_reference])
def test_crd_and_references_are_what_the_code_says(maker: ModuleType) -> None:
    assert generated.drifted(maker.made) == [], "run 'make generate'"


def test_file_that_differs_from_the_code_is_named_and_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(generated, "ROOT", tmp_path)

    def made() -> dict[Path, str]:
        return {tmp_path / "docs" / "new" / "page.md": "text"}

    assert generated.main(made, ["--check"]) == 1
    assert "docs/new/page.md differs" in capsys.readouterr().err
    assert generated.main(made, ["--write"]) == 0
    assert generated.main(made, ["--check"]) == 0
    assert generated.main(made, []) == 2


@pytest.mark.slow
def test_stubs_are_what_the_protos_say() -> None:
    beside_python = str(Path(sys.executable).parent)  # where protoc-gen-mypy is
    path = os.pathsep.join([beside_python, os.environ.get("PATH", "")])
    check = [sys.executable, str(ROOT / "proto" / "generate.py"), "--check"]
    done = subprocess.run(
        check, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("paper", PAPERS, ids=named)
def test_no_paper_names_a_folder_of_somebodys_machine(paper: Path) -> None:
    assert MACHINE_PATH.findall(paper.read_text()) == []


@pytest.mark.parametrize("paper", PAPERS, ids=named)
def test_links_between_papers_lead_somewhere(paper: Path) -> None:
    targets = LINK.findall(paper.read_text())
    assert [each for each in targets if not (paper.parent / each).exists()] == []


@pytest.mark.parametrize("reason", [*CallerReason, *NotTrusted])
def test_every_reason_not_to_be_let_in_has_its_line_in_authentication(reason: StrEnum) -> None:
    paper = (ROOT / "docs" / "authentication.md").read_text()
    assert re.search(rf"^\| `{reason}` \|", paper, re.MULTILINE)


@pytest.mark.parametrize(
    "reasons",
    [Reason, HoldReason, RejectReason, StalledReason, IncompatibleReason, AgentFault],
    ids=lambda kind: str(kind.__name__),
)
def test_every_reason_a_person_can_meet_is_in_failure_modes(reasons: type[StrEnum]) -> None:
    told = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "failure-modes.md").read_text()))
    nothing_wrong = {StalledReason.MOVING, AgentFault.STARTING}
    assert {reason.value for reason in reasons if reason not in nothing_wrong} - told == set()
