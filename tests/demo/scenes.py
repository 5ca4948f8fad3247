"""The four scenes. Each acts as a user would, waits for the truth in `status`, and checks it."""

import asyncio
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from demo.cast import Cast, Checkpoint
from demo.origin import Origin
from demo.screen import Screen
from fleet.manifests import weight_rollout
from fleet.world import World
from localcluster.virtual_node import VirtualNode

NAME = "chat"
Json = dict[str, Any]


class WentWrong(Exception):
    """A scene did not end as it should; the message says what was seen instead."""


@dataclass
class Stage:
    """What the scenes act on, and what they note for the summary."""

    world: World
    node: VirtualNode
    screen: Screen
    folder: Path
    cast: Cast
    origin: Origin
    pauses: dict[str, Json] = field(default_factory=dict)  # version -> status.pauseMillis
    results: list[tuple[str, str, float]] = field(default_factory=list)

    async def published(self, checkpoint: Checkpoint) -> dict[str, str]:
        """`spec.weights`."""
        version, folder = checkpoint.version, checkpoint.folder
        uri = await self.origin.publish(folder, version)
        return {"version": version, "uri": uri, "digest": checkpoint.digest}

    async def apply(self, weights: dict[str, str]) -> None:
        """As `kubectl apply -f` does, from a file that the reader can look at."""
        verify = {"verify": {"prompts": self.cast.prompts}} if self.cast.prompts else {}
        manifest = weight_rollout(
            NAME,
            weights,
            strategy={"maxUnavailable": 1 if self.cast.pods < 4 else 2, "maxFailed": 0},
            swap={"settleSeconds": 1, "drainSeconds": 20},
            staging={"maxConcurrent": "50%"},
            **verify,
        )
        path = self.folder / f"{weights['version']}.yaml"
        path.write_text(yaml.safe_dump(manifest, sort_keys=False))
        self.screen.say(f"$ kubectl apply -f {path.name}")
        await self.world.apply(manifest)

    async def end(self, phase: str) -> Json:
        """Wait for the phase; any other end is wrong at once."""
        ends = {"Complete", "RolledBack", "Failed"}
        status = await self.world.until(
            NAME,
            lambda seen: seen["phase"] in ends,
            self.cast.deadline_s,
            f"{NAME} ends as {phase}",
        )
        if status["phase"] != phase:
            raise WentWrong(f"phase {status['phase']}, not {phase}: {status['message']}")
        return status

    async def instances(self) -> dict[str, str]:
        """Container ids of the engines: a change is a restart."""
        return {
            pod["metadata"]["name"]: str(
                next(
                    each["containerID"]
                    for each in pod["status"]["containerStatuses"]
                    if each["name"] == "engine"
                )
            )
            for pod in await self.world.pods(NAME)
        }

    def note(self, title: str, result: str, began: float) -> None:
        self.results.append((title, result, self.screen.seconds - began))


async def roll(stage: Stage, target: Checkpoint) -> None:
    """The main job: every pod serves the new version, and no engine was restarted."""
    weights = await stage.published(target)
    began = stage.screen.seconds
    before = await stage.instances()
    await stage.apply(weights)
    status = await stage.end("Complete")
    if await stage.instances() != before:
        raise WentWrong("an engine was restarted")
    stage.pauses[target.version] = status["pauseMillis"]
    stage.note(f"roll out {target.version}", f"{status['updated']} updated, 0 restarts", began)


async def kill_an_engine(stage: Stage, target: Checkpoint) -> None:
    """An engine dies while it is being swapped: the pod stays out until it serves the target."""
    weights = await stage.published(target)
    began = stage.screen.seconds
    before = await stage.instances()
    await stage.apply(weights)
    victim = await _swapping_pod(stage)
    stage.node.kill(stage.world.namespace, victim, "engine", signal.SIGKILL)
    stage.screen.say(f"$ kill -9 (the engine of {victim}, which is being swapped)")
    status = await stage.end("Complete")
    after = await stage.instances()
    restarted = [name for name in before if after[name] != before[name]]
    if restarted != [victim]:
        raise WentWrong(f"engines restarted: {restarted}, not only {victim}")
    stage.pauses[target.version] = status["pauseMillis"]
    stage.note("kill -9 an engine in mid-rollout", f"{status['updated']} updated", began)


async def corrupt_checkpoint(stage: Stage, stable: Checkpoint) -> None:
    """A cut upload is refused while everything serves: no pause, no pod out."""
    folder = await asyncio.to_thread(_cut, stable.folder, stage.folder / "corrupt")
    uri = await stage.origin.publish(folder, "v4-corrupt")
    began = stage.screen.seconds
    await stage.apply({"version": "v4-corrupt", "uri": uri})
    status = await stage.end("RolledBack")
    if status["target"]["version"] != stable.version or status["pods"]["out"]:
        raise WentWrong(f"target {status['target']}, pods {status['pods']}")
    stage.screen.more(status["message"])
    stage.note("apply a cut checkpoint", "refused before any pause", began)


async def failing_prompts(stage: Stage, bad: Checkpoint, stable: Checkpoint) -> None:
    """Weights that load but answer wrong: one pod finds out, undoes it, and the rest never moves."""
    weights = await stage.published(bad)
    began = stage.screen.seconds
    await stage.apply(weights)
    await stage.end("RolledBack")
    status = await stage.world.until(
        NAME,
        lambda seen: seen["pods"]["available"] == stage.cast.pods,
        stage.cast.deadline_s,
        "every pod serves again",
    )
    touched = {failure["pod"] for failure in status["failures"] if failure["class"] == "Weights"}
    loaded = [(each["version"], each["pods"]) for each in status["versions"]]
    if len(touched) != 1 or loaded != [(stable.version, stage.cast.pods)]:
        raise WentWrong(f"touched {sorted(touched)}, loaded {loaded}")
    stage.screen.more(status["message"])
    stage.note("apply weights that answer wrong", f"1 pod touched, all on {stable.version}", began)


def _cut(good: Path, target: Path) -> Path:
    """A copy whose upload was cut: the last file lacks its end."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(good, target)
    last = sorted(target.glob("*.safetensors"))[-1]
    with last.open("r+b") as file:
        file.truncate(last.stat().st_size * 2 // 3)
    return target


async def _swapping_pod(stage: Stage) -> str:
    """A pod that its operator has taken out and whose engine is paused."""
    deadline = asyncio.get_running_loop().time() + stage.cast.deadline_s
    while asyncio.get_running_loop().time() < deadline:
        for pod in await stage.world.pods(NAME):
            if await stage.cast.paused(pod):
                return str(pod["metadata"]["name"])
        await asyncio.sleep(0.002)
    raise WentWrong("no engine was paused")
