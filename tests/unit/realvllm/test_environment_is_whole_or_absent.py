"""An unfinished build is never taken for an environment, and other pins make another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from realvllm import venv


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIGHTROLLOUT_CACHE", str(tmp_path))
    return tmp_path / "realvllm"


def with_requirements(monkeypatch: pytest.MonkeyPatch, folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    requirements = folder / "requirements.txt"
    requirements.write_text(text)
    monkeypatch.setattr(venv, "REQUIREMENTS", requirements)


def test_folder_of_a_killed_build_is_not_an_environment() -> None:
    (venv.folder() / "venv" / "bin").mkdir(parents=True)
    (venv.folder() / "venv" / "bin" / "python").touch()

    assert not venv.is_built()


@pytest.mark.slow
def test_failed_build_tells_what_pip_said_and_leaves_nothing_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_requirements(monkeypatch, tmp_path / "pins", "./absent.whl\n")

    with pytest.raises(venv.BuildFailed, match=r"absent\.whl"):
        venv.python()
    assert not venv.is_built()


def test_other_pins_are_another_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = venv.folder()
    with_requirements(monkeypatch, tmp_path / "pins", "torch==1\n")

    assert venv.folder() != before


def test_every_package_is_pinned() -> None:
    lines = venv.REQUIREMENTS.read_text().splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]

    assert len(packages) > 100
    assert all("==" in package for package in packages)
