"""The lines that the documentation gives to scripts wait for what was just applied, and for nothing else."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import World
from localcluster.build import kubectl_binary

pytestmark = pytest.mark.usefixtures("fleet")

ROOT = Path(__file__).resolve().parents[3]
ENDS_WITHIN_S = 120.0
VERIFY = {"prompts": [{"prompt": "2+2=", "maxTokens": 1, "expect": {"contains": "4"}}]}


def line(words: str) -> str:
    """The script of docs/gitops.md in which these words are."""
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "docs" / "gitops.md").read_text(), re.DOTALL)
    (found,) = (block for block in blocks if words in block)
    return str(found)


class Script:
    """Has kubectl, our plugin for it, and a kubeconfig."""

    def __init__(self, world: World, folder: Path, programs: Path) -> None:
        self._folder = folder
        kubeconfig = yaml.safe_load(world.cluster.kubeconfig.read_text())
        for context in kubeconfig["contexts"]:
            context["context"]["namespace"] = world.namespace
        (folder / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        path = f"{programs}:{kubectl_binary().parent}:{os.environ['PATH']}"
        self._environment = {
            **os.environ,
            "KUBECONFIG": str(folder / "kubeconfig"),
            "PATH": path,
            "PYTHONPATH": str(ROOT / "operator"),
        }

    async def run(self, script: str, version: str, uri: str) -> tuple[int | None, str]:
        """Exit code and output, with this version in chat.yaml."""
        weights = {"version": version, "uri": uri}
        manifest = weight_rollout("chat", weights, verify=VERIFY)
        (self._folder / "chat.yaml").write_text(yaml.safe_dump(manifest))
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-c", script),
            stdout=PIPE,
            stderr=STDOUT,
            cwd=self._folder,
            env=self._environment,
        )
        out, _ = await asyncio.wait_for(shell.communicate(), ENDS_WITHIN_S)
        return shell.returncode, out.decode()


@pytest.fixture
def script(world: World, tmp_path: Path, programs: Path) -> Script:
    return Script(world, tmp_path, programs)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plugin as this interpreter starts it."""
    folder = tmp_path_factory.mktemp("bin")
    plugin = folder / "kubectl-weightrollout"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -m weightrollout.cli.main "$@"\n')
    plugin.chmod(0o755)
    return folder


async def _serves(world: World, version: str) -> None:
    status = await world.status("chat")
    assert (status["target"]["version"], status["updated"]) == (version, "2/2"), status["message"]


async def test_wait_for_ready_waits_for_the_first_version_and_then_for_the_next(
    world: World, fleet: FleetSpec, written: dict[str, Any], script: Script
) -> None:
    for version in ("b", "c"):
        code, out = await script.run(line("kubectl wait"), version, written[version].uri)
        assert code == 0, out
        await _serves(world, version)


async def test_status_ends_with_0_for_a_good_version_and_with_1_for_a_bad_one_whatever_was_before(
    world: World, fleet: FleetSpec, written: dict[str, Any], script: Script
) -> None:
    for version, code in (("b", 0), ("wrong", 1), ("d", 0)):
        ended, out = await script.run(line("status chat -w"), version, written[version].uri)
        assert ended == code, out
        if code == 0:
            await _serves(world, version)
