"""Commands: build the node's programs, run a node until Ctrl-C, remove what a killed run has left, make a kind cluster."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from gobinary import BuildFailed, cache_root
from localcluster.build import control_plane_binary
from localcluster.provider import kind_is_available
from localnode import leftovers
from localnode.build import node_binary, program
from localnode.node import LocalNode, say
from localnode.packages import Missing, ensure, why_not
from localnode.provider import ASK_KIND, kind_up
from once import locked


def main() -> int:
    """Read the command line and do it; 1 when this machine cannot."""
    parser = argparse.ArgumentParser(prog="python -m localnode", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build kubelet, kube-proxy and the programs of test images")
    commands.add_parser("clean", help="end and remove nodes whose owner is gone")
    commands.add_parser("kind", help="make the kind cluster that tests may run on instead")
    up = commands.add_parser("up", help="run a node until Ctrl-C")
    up.add_argument("--logs", type=Path, help="keep logs there (default: removed at the end)")
    up.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="NAME=ARCHIVE",
        help="an OCI archive to import; repeatable",
    )
    arguments = parser.parse_args()
    try:
        if arguments.command == "build":
            if why := why_not():
                raise Missing(why)
            ensure()
            for built in (control_plane_binary(), node_binary(), program("pause"), program("toy")):
                print(built)
        elif arguments.command == "clean":
            with locked(cache_root() / "localnode.lock", say, "starting a node"):
                leftovers.sweep(say)
        elif arguments.command == "kind":
            if not kind_is_available():
                raise Missing("no kind, or no Docker engine answers")
            print(f"export {ASK_KIND}=1 KUBECONFIG={kind_up().kubeconfig}")
        else:
            images = dict(each.split("=", 1) for each in arguments.image)
            asyncio.run(_up(arguments.logs, {name: Path(path) for name, path in images.items()}))
    except (BuildFailed, Missing) as failed:
        print(f"localnode: {failed}", file=sys.stderr)
        return 1
    return 0


async def _up(logs: Path | None, images: dict[str, Path]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with LocalNode(logs and logs.resolve()) as node:
        await node.import_images(images)
        print(f"export KUBECONFIG={node.kubeconfig}", flush=True)
        print(f"nsenter --target {node.pid} --all   # a shell on the node", flush=True)
        await stop.wait()


if __name__ == "__main__":
    raise SystemExit(main())
