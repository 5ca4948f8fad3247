"""The init container's work: an engine finds the plugin in the folder, by its entry point."""

import subprocess
import sys
from pathlib import Path

from weightrollout.agent.main import main

FIND = (
    "import importlib.metadata as m, sys;"
    "[e] = [e for e in m.entry_points(group='vllm.general_plugins') if e.name == 'weightrollout'];"
    "p = e.load(); print(sys.modules[p.__module__].__file__)"
)


def found_from(folder: Path) -> Path:
    """Where a Python that has nothing but this folder finds the plugin."""
    run = [sys.executable, "-S", "-c", FIND]
    done = subprocess.run(
        run, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


def test_the_folder_alone_makes_the_plugin_known(tmp_path: Path) -> None:
    assert main(["install-plugin", str(tmp_path)]) == 0
    assert found_from(tmp_path) == tmp_path / "weightrollout" / "plugin" / "__init__.py"


def test_an_init_container_that_was_killed_half_way_can_run_again(tmp_path: Path) -> None:
    package = tmp_path / "weightrollout"
    package.mkdir()
    (package / "__init__.py").write_text("half of a fi")
    assert main(["install-plugin", str(tmp_path)]) == 0
    assert found_from(tmp_path).is_relative_to(package)


def test_a_volume_that_is_not_mounted_is_said(tmp_path: Path) -> None:
    assert main(["install-plugin", str(tmp_path / "nowhere")]) == 2
    assert main(["install-plugin"]) == 2
