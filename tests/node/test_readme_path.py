"""README's path on a cluster, as a shell is given it, with the placeholders filled in.

Before all that installs the chart: Helm gives the CRD to one release.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import yaml

import checkpoints
from fleet.world import World
from helm.build import helm_binary
from helm.chart import ROOT, helm
from localcluster.access import remove_namespace
from localnode.ground import Ground
from localnode.provider import KindNode
from node.product import (
    IMAGES,
    Images,
    NoImages,
    built_images,
    described,
    engine_state,
    engines,
    volume,
)
from node.site import READY_S, ROLL_S, remove_crd
from tiers import unavailable

pytestmark = pytest.mark.timeout(600)

NAMESPACE: Final = "serving"
FLEET: Final = "chat"
OLD: Final = "step-1"
NEW: Final = "step-1200"
TAG: Final = "v1"
REGISTRY: Final = "localhost"
#: As users name `IMAGES`; by the last name `inject` takes a container for an engine.
SAID: Final = ("weightrollout-operator", "weightrollout-agent", "vllm-simulator")
LINE_S: Final = 180.0


def blocks(heading: str) -> list[str]:
    """The fenced texts of README below a heading; "": before the first."""
    parts = re.split(r"^## (.+)$", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    bodies = dict(zip(["", *parts[1::2]], parts[::2], strict=True))
    return re.findall(r"^```\w*\n(.*?)^```", bodies[heading], re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """One a line, or more lines with a backslash."""
    [block] = blocks("On a cluster")
    text = block.replace("\\\n", " ").replace("REGISTRY", REGISTRY).replace("TAG", TAG)
    return text.replace("16Gi", "1Mi").splitlines()


@dataclass(frozen=True)
class Shell:
    """Of a user who has helm, kubectl and our plugin, in a folder with the chart."""

    folder: Path
    kubeconfig: Path

    def command(self, line: str) -> tuple[list[str], dict[str, str]]:
        """For subprocess; the environment."""
        places = [helm_binary().parent, Path(sys.executable).parent, os.environ["PATH"]]
        environment = {
            "PATH": ":".join(map(str, places)),
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.kubeconfig),
        }
        return ["bash", "-euo", "pipefail", "-c", line], environment

    def run(self, line: str) -> str:
        """What it printed; an AssertionError with all of it when it failed."""
        command, environment = self.command(line)
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LINE_S,
            check=False,
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
        return done.stdout

    async def watch(self, line: str, until: str, deadline_s: float) -> list[str]:
        """The lines that it printed up to one with this word in it."""
        command, environment = self.command(f"exec {line}")
        watching = await asyncio.create_subprocess_exec(
            *command, cwd=self.folder, env=environment, stdout=asyncio.subprocess.PIPE
        )
        assert watching.stdout is not None
        seen: list[str] = []
        try:
            async with asyncio.timeout(deadline_s):
                while not seen or until not in seen[-1]:
                    read = await watching.stdout.readline()
                    assert read, f"$ {line}\nended after {seen}"
                    seen.append(read.decode().rstrip())
        except TimeoutError:
            raise AssertionError(f"$ {line}\nno {until} in {seen}") from None
        finally:
            watching.kill()
            await watching.wait()
        return seen


@pytest.fixture(scope="module")
async def bare(ground: Ground) -> AsyncIterator[Ground]:
    """The node with the images as README names them, and nothing installed."""
    if isinstance(ground, KindNode):
        pytest.skip("images get no second name in kind")
    try:
        built = await asyncio.to_thread(built_images)
    except NoImages as failed:
        unavailable(f"no images: {failed}")
    names_of = zip(SAID, IMAGES, strict=True)
    await ground.import_images(
        {f"{REGISTRY}/{name}:{TAG}": built[image][1] for name, image in names_of}
    )
    yield ground
    uninstall = ("uninstall", "weightrollout", f"--namespace={NAMESPACE}", "--wait")
    await asyncio.to_thread(helm, *uninstall, kubeconfig=ground.kubeconfig)
    async with ground.api() as api:
        await remove_namespace(api, NAMESPACE)
        await remove_crd(api)


async def test_lines_of_the_readme_bring_new_weights_to_a_fleet(
    bare: Ground, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, bare.kubeconfig)
    install, inject, apply, watch = commands()
    models = bare.shared / NAMESPACE
    old, new = (
        checkpoints.fingerprint(checkpoints.write_checkpoint(models / FLEET / each, seed=seed))
        for seed, each in enumerate((OLD, NEW))
    )
    images = Images(*(f"{REGISTRY}/{name}:{TAG}" for name in SAID))
    fleet = engines(FLEET, images, f"{FLEET}/{OLD}", 2, ["--token-seconds=0.01"])
    (tmp_path / "charts").symlink_to(ROOT / "charts")
    (tmp_path / "deployment.yaml").write_text(yaml.safe_dump(fleet))
    (tmp_path / "rollout.yaml").write_text(blocks("")[0])

    async with bare.api() as api:
        world = World(bare, api, NAMESPACE, tmp_path)
        await asyncio.to_thread(shell.run, install)
        for each in volume("models", models, NAMESPACE):
            await world.apply(each)
        await asyncio.to_thread(shell.run, inject)
        try:
            await world.until_ready(FLEET, 2, READY_S)
            assert await held(world) == [old, old]
            await asyncio.to_thread(shell.run, apply)
            seen = await shell.watch(watch, "Complete", ROLL_S)
        except AssertionError as failed:
            raise AssertionError(f"{failed}\n{described(world, bare.kubeconfig)}") from failed
        assert seen[0].split() == ["NAME", "VERSION", "PHASE", "UPDATED", "HOLD", "PAUSE", "AGE"]
        assert seen[-1].split()[:4] == [FLEET, "2026-11-29.1", "Complete", "2/2"]
        assert await held(world) == [new, new]


async def held(world: World) -> list[int]:
    """What the engines of the fleet hold, by fingerprint."""
    pods = [pod["metadata"]["name"] for pod in await world.pods(FLEET)]
    return [(await engine_state(world, pod))["fingerprint"] for pod in pods]
