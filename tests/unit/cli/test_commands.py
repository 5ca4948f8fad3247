"""The program as a shell sees it: exit code, stdout, stderr."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from weightrollout import __version__
from weightrollout.cli.main import app

COMMANDS = [
    *("status", "list", "explain", "plan", "promote", "abort", "retry", "undo", "history"),
    *("pause", "resume", "lint", "digest", "sign", "inject", "version"),
]
#: Those that ask a cluster about one rollout.
ABOUT_ONE = ["status", "explain", "plan", "promote", "abort", "retry", "undo", "history", "pause"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "step 1200"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"bytes")
    (folder / "config.json").write_text("{}")
    (folder / "README.md").write_text("not counted")
    return folder


def coreutils(folder: Path) -> str:
    script = "LC_ALL=C sha256sum config.json model.safetensors | sha256sum"
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return f"sha256:{done.stdout.split()[0]}"


def test_digest_prints_what_coreutils_say_and_nothing_else(checkpoint: Path) -> None:
    result = CliRunner().invoke(app, ["digest", str(checkpoint)])
    assert (result.exit_code, result.stdout) == (0, coreutils(checkpoint) + "\n")
    assert result.stderr == ""


def test_digest_takes_the_uri_of_the_spec(checkpoint: Path) -> None:
    result = CliRunner().invoke(app, ["digest", checkpoint.as_uri() + "/"])
    assert result.stdout == coreutils(checkpoint) + "\n"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nowhere", "No such file"),
        (".", "holds no *.safetensors"),
        ("ftp://models/chat/", "only file://, s3://"),
        ("file://host/models/", "write file:///path"),
    ],
)
def test_digest_of_what_is_no_checkpoint_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["digest", argument])
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


def test_a_link_that_leaves_the_folder_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (checkpoint / "vocab.json").symlink_to(tmp_path / "secret")
    result = CliRunner().invoke(app, ["digest", str(checkpoint)])
    assert result.exit_code == 2
    assert "vocab.json: link leaves the folder" in result.stderr


@pytest.mark.parametrize("command", [*ABOUT_ONE, "resume"])
def test_no_access_is_not_a_failed_rollout(tmp_path: Path, command: str) -> None:
    missing = tmp_path / "kubeconfig"
    result = CliRunner().invoke(app, [command, "chat", "--kubeconfig", str(missing)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(missing) in result.stderr


@pytest.mark.parametrize("arguments", [["status"], ["digest"], ["status", "a", "-o", "xml"], []])
def test_wrong_usage_is_not_a_failed_rollout(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_worked_examples_and_says_its_exit_codes(command: str) -> None:
    said = CliRunner().invoke(app, [command, "--help"]).stdout
    assert f"\n    kubectl weightrollout {command} " in said
    assert "\n  Exit codes:\n    0    " in said


def test_every_command_is_known_to_these_tests() -> None:
    assert [command.name for command in app.registered_commands] == COMMANDS


def test_the_version_is_told_without_a_command() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"{__version__}\n")


@pytest.mark.parametrize("command", [each for each in COMMANDS if each != "inject"])
def test_the_line_of_a_command_in_the_list_is_not_cut(command: str) -> None:
    said = CliRunner().invoke(app, ["--help"], terminal_width=80).stdout
    line = next(line for line in said.splitlines() if line.startswith(f"  {command} "))
    assert not line.endswith("...")
