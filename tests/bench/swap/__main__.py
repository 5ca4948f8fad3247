"""Measure, write docs/benchmarks/swap.json after each part, and render it into docs/benchmarks.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench import staging
from bench.page import FIGURES, PAGE, ROOT, with_section
from bench.swap import idle, load, machine, modes
from bench.swap.modes import Model, Settings
from bench.swap.picture import picture
from bench.swap.rendering import TITLE, rendered
from bench.swap.session import Session, session
from realvllm import tiny, venv
from realvllm.families import PAYLOADS
from weightrollout.weights.staging import Store

Json = dict[str, Any]
RAW: Final = FIGURES / "swap.json"
PICTURE: Final = FIGURES / "swap.svg"
BEGAN: Final = time.monotonic()
#: A list of numbers takes one line, not one for each.
NUMBERS: Final = re.compile(r"\[\s+([-\d.,\s]+?)\s+\]")


def main() -> int:
    settings = Settings.of(os.environ)
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    said: Json = {
        "schema": 1,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.facts(),
        "settings": asdict(settings),
        "models": {},
    }
    with tempfile.TemporaryDirectory(dir=build, prefix="bench-swap-") as folder:
        asyncio.run(measure(Path(folder), settings, said))
        if "staging" in settings.only:
            plain(said, "staging", lambda: _staging(Path(folder), settings))
    if "transfer" in settings.only:
        plain(said, "transfer", _transfer)
    say(f"done: {PAGE.relative_to(ROOT)}")
    failed = [each for model in said["models"].values() for each in model.get("errors", ())]
    failed += said.get("errors", [])
    for each in failed:
        print(f"failed: {each['where']}: {each['error']}")
    return 1 if failed else 0


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:5.0f} s]  {text}", flush=True)


def write(said: Json) -> None:
    """What is known so far, as figures, page and picture. Parts that this run leaves out stay as they were."""
    FIGURES.mkdir(exist_ok=True)
    known: Json = json.loads(RAW.read_text()) if RAW.exists() else {}
    measured = {**known.get("models", {}), **said["models"]}
    ordered = {model.name: measured[model.name] for model in modes.MODELS if model.name in measured}
    whole = {**known, **said, "models": ordered}
    text = json.dumps(_rounded(whole), indent=1, sort_keys=True)
    RAW.write_text(NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n")
    PICTURE.write_text(picture(whole))
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, rendered(whole)))


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {key: _rounded(each) for key, each in value.items() if key != "at"}
        case list() | tuple():
            return [_rounded(each) for each in value]
    return value


async def measure(folder: Path, settings: Settings, said: Json) -> None:
    for model in modes.wanted(settings):
        told: Json = {"title": model.title, "load": machine.load(), "errors": []}
        said["models"][model.name] = told
        if time.monotonic() - BEGAN > settings.begin_s:
            told["errors"].append({"where": model.name, "error": "left out: the run took too long"})
            write(said)
            continue
        say(f"{model.title}: checkpoints")
        await guarded(told, model.name, lambda: _model(folder / model.name, model, settings, told))  # noqa: B023 - awaited here
        write(said)


async def guarded(told: Json, where: str, work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except Exception as error:  # the other parts are worth as much
        told.setdefault("errors", []).append(
            {"where": where, "error": f"{error!r}".split("File")[0].strip()[:300]}
        )
        print(f"  {where}: {error!r}"[:1500], flush=True)


def plain(said: Json, where: str, work: Callable[[], Any]) -> None:
    """One part that needs no engine."""
    say(where)
    try:
        said[where] = work()
    except Exception as error:  # the other parts are worth as much
        said.setdefault("errors", []).append(
            {"where": where, "error": f"{error!r}".split("File")[0].strip()[:300]}
        )
    write(said)


async def _model(folder: Path, model: Model, settings: Settings, told: Json) -> None:
    await asyncio.to_thread(tiny.pair, model.family)
    folder.mkdir()
    store = Store(folder / "staging")
    async with AsyncExitStack() as stack:
        sessions: list[Session] = []
        kinds = dict.fromkeys(mode.engine for mode in model.modes)
        for kind in kinds:

            async def start(kind: str = kind) -> None:
                say(f"{model.title}: start the {kind} engine")
                opened = session(folder / kind, model, kind, store)
                begun = await stack.enter_async_context(opened)
                told.setdefault("restart", {})[kind] = begun.start_s
                told["tensors"] = len(begun.swaps.reports[0].tensors)
                told.setdefault("first_staging", {})[kind] = await begun.stage()
                sessions.append(begun)

            await guarded(told, f"start of the {kind} engine", start)
        if not sessions:
            return
        say(f"{model.title}: swaps of an idle engine")
        await guarded(told, "idle", lambda: idle.measure(sessions, settings, told))
        if model.streams:
            say(f"{model.title}: swaps under load")
            await guarded(told, "load", lambda: load.measure(sessions, settings, told))
            say(f"{model.title}: staging under load")
            await guarded(told, "staging under load", lambda: _beside(sessions[0], settings, told))
        say(f"{model.title}: stop")


async def _beside(session: Session, settings: Settings, told: Json) -> None:
    """The reference payload, whatever the engine serves."""
    source = await asyncio.to_thread(tiny.pair, PAYLOADS["payload_untied"])
    told["staging"] = await load.staging(session, source.b.target, settings.load_rounds)


def _staging(folder: Path, settings: Settings) -> Json:
    rounds = staging.measure(folder / "staging", settings.staging_rounds)
    return {
        "bytes": staging.PAYLOAD_BYTES,
        "files": staging.FILES,
        "rounds": [asdict(each) for each in rounds],
    }


def _transfer() -> Json:
    """Writes a section of its own."""
    done = subprocess.run(
        [str(venv.python()), "-m", "bench.transfer", "9"],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'operator'}:{ROOT / 'tests'}"},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"bench.transfer ended with {done.returncode}")
    return {"rounds": 9}


if __name__ == "__main__":
    sys.exit(main())
