"""The process of all cores of one frontend; takes the command line that `vllm-rs` gives vLLM.

python -m frontend.serve_cores SIMULATOR-FLAGS --scripts DIR -- [vllm's own arguments]
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Final

from frontend import engine_core
from frontend.engine_core import Place
from simulator.settings import Settings, parse

PID_FILE: Final = "cores.pid"
ORPHAN_S: Final = 0.05


async def run(settings: Settings, scripts: Path, vllm: argparse.Namespace) -> None:
    """One core per rank that is local, until SIGTERM."""
    handshake = f"tcp://{vllm.data_parallel_address}:{vllm.data_parallel_rpc_port}"
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    cores = vllm.data_parallel_size
    async with asyncio.TaskGroup() as group:
        for rank in range(vllm.data_parallel_size_local or cores):
            place = Place(handshake, rank, cores, scripts)
            group.create_task(engine_core.run(settings, place, ending))
        orphan = group.create_task(_end_with_parent())
        await ending.wait()
        orphan.cancel()


async def _end_with_parent() -> None:
    """A frontend that was killed can't end its cores: they see that they have another parent."""
    parent = os.getppid()
    while True:
        await asyncio.sleep(ORPHAN_S)
        if os.getppid() != parent:
            os._exit(0)


def _of_vllm(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-parallel-address", default="127.0.0.1")
    parser.add_argument("--data-parallel-rpc-port", type=int, required=True)
    parser.add_argument("--data-parallel-size", type=int, default=1)
    parser.add_argument("--data-parallel-size-local", type=int)
    return parser.parse_known_args(argv)[0]


def main(argv: list[str]) -> None:
    ours, theirs = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    at = ours.index("--scripts")
    scripts = Path(ours[at + 1])
    settings = parse(ours[:at] + ours[at + 2 :])
    (scripts / PID_FILE).write_text(str(os.getpid()))
    asyncio.run(run(settings, scripts, _of_vllm(theirs)))


if __name__ == "__main__":
    main(sys.argv[1:])
