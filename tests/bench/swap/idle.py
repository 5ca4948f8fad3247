"""All modes in turn within each round, twice each and the second counts, nobody being served; beside them, memcpy of the same bytes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from bench.swap.floor import Floor, threads
from bench.swap.modes import Mode, Settings
from bench.swap.session import Session

Json = dict[str, Any]


async def measure(sessions: Sequence[Session], settings: Settings, said: Json) -> None:
    """Into `said`: "swaps" by mode, "floor" by number of threads, "errors". One round before is not counted."""
    turns = [(session, mode) for session in sessions for mode in session.modes]
    said["threads"] = threads()
    swaps: dict[str, list[Json]] = said.setdefault("swaps", {mode.name: [] for _, mode in turns})
    counts = sorted({1, threads()})
    floor: dict[str, list[float]] = said.setdefault("floor", {str(each): [] for each in counts})
    with Floor(sessions[0].image) as bytes_of_image:
        said["bytes"] = bytes_of_image.nbytes
        until = 0.0
        for number in range(settings.rounds + 1):
            if number == 1:
                until = time.monotonic() + settings.part_s
            if number > 1 and time.monotonic() > until:
                break
            for session, mode in turns:
                # An engine swaps in one way all its life: what counts follows a swap of its own kind.
                before = await attempt(session, mode, said)
                swap = None if before is None else await attempt(session, mode, said)
                if number and swap is not None:
                    swaps[mode.name].append(swap)
            for count in counts:
                took = bytes_of_image.milliseconds(count)
                if number:
                    floor[str(count)].append(took)
            _show(number, swaps, floor)


async def attempt(session: Session, mode: Mode, said: Json) -> Json | None:
    """None: it failed, which is written down."""
    try:
        return await session.swap(mode)
    except Exception as error:  # the figures of the other modes are worth as much
        said.setdefault("errors", []).append({"where": mode.name, "error": f"{error!r}"[:600]})
        print(f"  {mode.name}: {error!r}"[:600], flush=True)
        return None


def _show(number: int, swaps: dict[str, list[Json]], floor: dict[str, list[float]]) -> None:
    if number == 0:
        print("  warm", flush=True)
        return
    last = [f"{name} {taken[-1]['pause']:.1f}" for name, taken in swaps.items() if taken]
    last += [f"memcpy x{count} {taken[-1]:.1f}" for count, taken in floor.items()]
    print(f"  round {number}, ms: {', '.join(last)}", flush=True)
