"""python -m killing.engine: the simulator, which dies at a call of vllm.Control."""

# ruff: noqa: B010 - the type checker refuses a plain assignment to a method

import asyncio
import sys
from typing import Any, Final

from google.protobuf.message import Message

from killing.armed import Armed
from killing.boundaries import AFTER, BEFORE, MIDWAY
from simulator import image, plugin
from simulator.__main__ import run
from simulator.control import MUTATING, Control
from simulator.settings import parse

#: In these calls a swap begins and ends; what only reads counts in between, where nobody is served.
FIRST: Final = "InitWeightTransferEngine"
LAST: Final = "ResumeGeneration"


def patch(armed: Armed) -> None:
    serve, copy = Control._serve, image.copy
    swapping = False

    async def patched(self: Control, name: str, data: bytes) -> Message:
        nonlocal swapping
        swapping = swapping or name == FIRST
        counts = swapping or name in MUTATING
        if counts:
            armed.strike(f"engine/{name}/{BEFORE}")
        try:
            return await serve(self, name, data)
        finally:
            if counts:
                armed.strike(f"engine/{name}/{AFTER}")
            swapping = swapping and name != LAST

    def halfway(pairs: Any, *, limit: int, bytes_per_second: float) -> None:
        copy(pairs, limit=limit // 2, bytes_per_second=bytes_per_second)
        armed.strike(MIDWAY)
        copy(pairs, limit=limit, bytes_per_second=bytes_per_second)

    setattr(Control, "_serve", patched)
    setattr(plugin, "copy", halfway)


if __name__ == "__main__":
    patch(Armed.from_environment())
    asyncio.run(run(parse(sys.argv[1:])))
