"""Commands: build the control plane, run a cluster, run a virtual node, until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
from contextlib import AsyncExitStack
from pathlib import Path

from localcluster.access import Cluster
from localcluster.build import control_plane_binary, kubectl_binary
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.virtual_node import VirtualNode


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(prog="python -m localcluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "build", help="build the control plane (and kubectl where there is none) into the cache"
    )
    up = commands.add_parser("up", help="run a cluster until Ctrl-C")
    up.add_argument(
        "--dir",
        type=Path,
        help="keep state and logs there (default: a private folder, removed at the end)",
    )
    up.add_argument(
        "--nodes", type=int, default=0, help="virtual nodes to run beside it (default: 0)"
    )
    node = commands.add_parser("node", help="run one virtual node of a cluster until Ctrl-C")
    node.add_argument("--kubeconfig", type=Path, required=True)
    node.add_argument("--name", default="virtual-0")
    node.add_argument("--dir", type=Path, help="keep logs there")
    for runs in (up, node):
        runs.add_argument(
            "--pythonpath",
            type=Path,
            action="append",
            default=[],
            help="on PYTHONPATH of pods; repeatable",
        )
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    if arguments.command == "build":
        print(control_plane_binary())
        print(kubectl_binary())
    elif arguments.command == "up":
        asyncio.run(_up(arguments.dir, arguments.nodes, arguments.pythonpath))
    else:
        asyncio.run(
            _node(arguments.kubeconfig, arguments.name, arguments.dir, arguments.pythonpath)
        )


async def _up(folder: Path | None, nodes: int, pythonpath: list[Path]) -> None:
    stop = _stop_signal()
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(LocalCluster(folder))
        for number in range(nodes):
            environment = python_environment(*(path.resolve() for path in pythonpath))
            node = VirtualNode(
                cluster, f"virtual-{number}", environment, cluster.folder / f"virtual-{number}"
            )
            await stack.enter_async_context(node)
        print(f"export KUBECONFIG={cluster.kubeconfig}", flush=True)
        await stop.wait()


async def _node(kubeconfig: Path, name: str, folder: Path | None, pythonpath: list[Path]) -> None:
    stop = _stop_signal()
    environment = python_environment(*(path.resolve() for path in pythonpath))
    async with VirtualNode(Cluster(kubeconfig, "given"), name, environment, folder):
        print(f"node {name} is ready", flush=True)
        await stop.wait()


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


if __name__ == "__main__":
    main()
