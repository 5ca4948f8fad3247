"""The plugin comes into an unmodified vLLM in both ways that the docs name, is found there, and moves no package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from realvllm import venv
from weightrollout import __version__
from weightrollout.handover.records import BACKEND

ROOT: Final = Path(__file__).resolve().parents[2]
RUN_S: Final = 600.0
#: What vLLM does at the start of each of its processes.
LOOK: Final = """
import json
from vllm.plugins import load_general_plugins
load_general_plugins()
from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory
import weightrollout
print(json.dumps({
    "backend": WeightTransferEngineFactory._registry["weightrollout"]().__module__,
    "from": weightrollout.__file__,
}))
"""
#: Importing vLLM would add what setuptools brings along.
LIST: Final = """
import json
from importlib.metadata import distributions
print(json.dumps({each.name.lower(): each.version for each in distributions()}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    [built] = folder.glob("*.whl")
    return built


def run(*command: str, path: str = "") -> str:
    """Standard output. `path`: PYTHONPATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command,
        cwd=ROOT if command[0] == sys.executable else "/",
        env={**kept, "HF_HUB_OFFLINE": "1", **({"PYTHONPATH": path} if path else {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def said(output: str) -> Any:
    """vLLM logs before."""
    return json.loads(output.splitlines()[-1])


def pip(python: Path, *arguments: str) -> None:
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    run(str(venv.python()), "-m", "pip", "--python", str(python), "install", *quiet, *arguments)


def check(python: Path, at: Path, before: dict[str, str], *, path: str = "") -> None:
    found = said(run(str(python), "-c", LOOK, path=path))
    assert found["backend"] == "weightrollout.plugin.engine"
    assert Path(found["from"]).is_relative_to(at)
    assert said(run(str(python), "-c", LIST, path=path)) == before | {BACKEND: __version__}


def test_wheel_that_pip_installs_beside_vllm_is_found_and_moves_no_package(
    tmp_path: Path, wheel: Path
) -> None:
    """In an environment that sees the real one through a path file, so that the real one stays as it was built."""
    made = tmp_path / "venv"
    run(str(venv.python()), "-m", "venv", "--without-pip", str(made))
    python = made / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(str(python), "-c", where).strip())
    (packages / "vllm.pth").write_text(run(str(venv.python()), "-c", where))
    before = said(run(str(python), "-c", LIST))
    assert "vllm" in before
    pip(python, str(wheel))
    check(python, packages, before)


def test_folder_with_its_dist_info_on_the_path_is_found_and_moves_no_package(
    tmp_path: Path, wheel: Path
) -> None:
    """As an init container copies it into an emptyDir."""
    python, folder = venv.python(), tmp_path / "plugin"
    before = said(run(str(python), "-c", LIST))
    pip(python, "--target", str(folder), str(wheel))
    check(python, folder, before, path=str(folder))
