"""Real engines: vLLM on CPU with the product's plugin, each pod its own `vllm serve`."""

import asyncio
import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from demo import reference
from demo.cast import Checkpoint, Checkpoints
from demo.reference import Recorded, Reference
from demo.scenes import WentWrong
from demo.screen import Screen
from fleet import real_engine
from fleet.engine import url_of
from fleet.manifests import ENGINE_GRPC, FleetSpec
from fleet.world import World
from realvllm import tiny, venv
from realvllm.client import Client, difference
from realvllm.engine import engine
from realvllm.launch import Launch
from weightrollout.engine.errors import EngineError
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.weights.digest import digest_of

Json = dict[str, Any]

RECIPE: Final = "endless"
SEEDS: Final = (1, 2, 3, 5)
ASK_S: Final = 1.0


@dataclass(frozen=True)
class RealCast:
    """Two pods: each takes 2 GB and, while it starts, a whole core for half a minute."""

    pods: int = 2
    name: str = "vllm"
    start_s: float = 1800  # many times what two idle cores take
    deadline_s: float = 1800

    @property
    def prompts(self) -> list[Json]:
        return []  # golden.json in each checkpoint says what to ask

    async def make(self, folder: Path, screen: Screen) -> Checkpoints:
        screen.say("four checkpoints (a tiny Qwen3) in build/demo/vllm")
        async with screen.patience("still making checkpoints"):
            sources = await asyncio.to_thread(tiny.seeded, RECIPE, SEEDS)
        target = folder / "vllm"
        target.mkdir(exist_ok=True)
        good = dict(zip(("v1", "v2", "v3"), sources, strict=False))
        told = await self._references(target, good, screen)
        v1, v2, v3 = (_copied(target, each, good[each], told[each]) for each in good)
        # Other weights than those that the golden answers were recorded with.
        wrong = _copied(target, "v5-wrong", sources[-1], told["v3"])
        return Checkpoints(v1, v2, v3, wrong, Recorded(str(v1.folder), told))

    async def _references(
        self, target: Path, checkpoints: Mapping[str, Path], screen: Screen
    ) -> dict[str, Reference]:
        """Recorded now, or by an earlier run with the same environment and checkpoints."""
        made_from = hashlib.sha256(
            f"{venv.digest()} {reference.PROMPTS} {reference.TOKENS}".encode()
        )
        made_from.update(str(list(checkpoints.values())).encode())
        path = target / f"answers-{made_from.hexdigest()[:12]}.json"
        told = reference.load(path)
        missing = {each: folder for each, folder in checkpoints.items() if each not in told}
        if not missing:
            return told
        screen.say(f"asking processes that are started on {', '.join(missing)} what they answer")
        async with AsyncExitStack() as stack:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wr-demo-")))
            async with screen.patience("still at it (a minute on idle cores)"):
                fresh = await _started(stack, work, missing)
                for version, client in fresh.items():  # the older ones first
                    told[version] = await reference.record(client, told)
        reference.save(path, told)
        return told

    @property
    def asked(self) -> Sequence[str]:
        return reference.PROMPTS

    def fleet(self, name: str, base: Checkpoint) -> FleetSpec:
        return real_engine.fleet(name, base.folder, self.pods, plugins=base.folder.parent)

    async def paused(self, pod: Json) -> bool:
        control = VllmGrpc(f"{pod['status']['podIP']}:{ENGINE_GRPC}")
        try:
            return await control.is_paused(deadline_s=ASK_S)
        except EngineError:
            return False
        finally:
            await control.close()

    async def compare(self, world: World, name: str, made: Checkpoints) -> str:
        assert isinstance(made.language, Recorded)
        told, largest = made.language.references[made.v3.version], 0.0
        for pod in await world.pods(name):
            client = Client(url_of(pod), made.language.model)
            got = await client.answers(
                reference.PROMPTS, max_tokens=reference.TOKENS, deadline_s=reference.ASK_S
            )
            largest = max(largest, difference(got, told.answers))
        text = f"log-probabilities differ by {largest} from a process started on {made.v3.version}"
        if largest > 0:
            raise WentWrong(text)
        return f"{self.pods} pods: {text}"


async def _started(
    stack: AsyncExitStack, work: Path, checkpoints: Mapping[str, Path]
) -> dict[str, Client]:
    """All at once; they end with `stack`."""

    async def start(version: str, checkpoint: Path) -> Client:
        context = engine(work / version, Launch(checkpoint))
        return Client((await stack.enter_async_context(context)).http_url, str(checkpoint))

    async with asyncio.TaskGroup() as group:
        tasks = {each: group.create_task(start(each, at)) for each, at in checkpoints.items()}
    return {each: task.result() for each, task in tasks.items()}


def _copied(target: Path, version: str, source: Path, told: Reference) -> Checkpoint:
    """The checkpoint as its trainer would publish it, with golden.json."""
    folder = target / version
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    (folder / "golden.json").write_text(json.dumps(told.golden()))
    return Checkpoint(version, folder, digest_of(folder, threads=2))
