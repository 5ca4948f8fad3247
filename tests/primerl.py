"""The calls of prime-rl's native client, by two processes that share nothing but a folder (its pull request 3296).

python -m primerl trainer      URL FOLDER STEPS   weights in, from the other side of the pause
python -m primerl orchestrator URL FOLDER STEPS   pause, ready, ask for the version each 0.1 s, resume

STEPS is JSON: `[{"version": "1", "update_info": {...}, "checkpoint": PATH or null}]`; a checkpoint is sent over a
fabric of its own (toytrainer), for engines that join one. Prints one JSON line, and fails as prime-rl does: at the first
answer that is not as it expects, without a resume.
"""

import asyncio
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from localcluster.waiting import eventually
from simulator.model import Model
from toytrainer import Fabric, Reply, Trainer, fabric

POLL_S: Final = 0.1
SEEN_S: Final = 100.0
STABLE: Final = "STABLE"
READY: Final = "NCCL_READY"


def fine(reply: Reply) -> dict[str, Any]:
    if not 200 <= reply.status < 300 or reply.body.get("status") == "error":
        raise RuntimeError(f"{reply.status}: {reply.body}")
    return reply.body


async def seen(file: Path) -> None:
    await eventually(file.exists, SEEN_S, f"{file} is there")


async def trainer(worker: Trainer, folder: Path, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Joins at construction, unpaused; then one update for each step."""
    with ExitStack() as stack:
        wire: Fabric | None = None
        init: dict[str, Any] = {}
        if steps[0]["checkpoint"] is not None:
            wire = stack.enter_context(fabric())
            init = wire.init_info
        fine(await worker.update("init_weight_transfer_engine", init_info=init))
        for step in steps:
            marks = folder / step["version"]
            marks.mkdir()
            (marks / STABLE).touch()
            await seen(marks / READY)
            fine(await worker.update("start_weight_update"))
            if wire is not None:
                wire.send(Model.load(Path(step["checkpoint"])))
            fine(await worker.update("update_weights", update_info=step["update_info"]))
            fine(await worker.update("finish_weight_update", weight_version=None))
            fine(await worker.update("update_weight_version", new_version=step["version"]))
    return {}


async def orchestrator(
    worker: Trainer, folder: Path, steps: list[dict[str, Any]]
) -> dict[str, Any]:
    polls: dict[str, list[str]] = {}
    for step in steps:
        marks = folder / step["version"]
        await seen(marks / STABLE)
        fine(await worker.control("pause_generation", mode="keep", clear_cache=False))
        if fine(await worker.control("is_paused"))["is_paused"] is not True:
            raise RuntimeError("a worker that was paused says it is not")
        (marks / READY).touch()
        said = polls.setdefault(step["version"], [])
        while True:
            said.append(fine(await worker.control("get_weight_version"))["weight_version"])
            if said[-1] == step["version"]:
                break
            await asyncio.sleep(POLL_S)
        fine(await worker.control("resume_generation"))
    return {"polls": polls}


def main(arguments: list[str]) -> int:
    role, url, folder, steps = arguments
    hand = {"trainer": trainer, "orchestrator": orchestrator}[role]
    print(json.dumps(asyncio.run(hand(Trainer(url), Path(folder), json.loads(steps)))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
