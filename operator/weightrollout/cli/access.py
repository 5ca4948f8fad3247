"""The way of every command to the cluster: the flags that choose it, and how a refusal is told.

Flags mean what kubectl's mean.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from weightrollout.cli.exits import Exit
from weightrollout.kube.client import Client
from weightrollout.kube.errors import KubeError
from weightrollout.kube.reader import connect_as_user, read_rollouts

COMPLETION_S: Final = 3.0


def _names(context: typer.Context, incomplete: str) -> list[str]:
    """For completion: silent and quick, because a shell waits."""
    asked = context.params

    async def read() -> list[str]:
        async with asyncio.timeout(COMPLETION_S):
            async with connect_as_user(
                *(asked.get(each) for each in ("kubeconfig", "context", "namespace"))
            ) as client:
                return [each["metadata"]["name"] for each in await read_rollouts(client)]

    try:
        return [name for name in asyncio.run(read()) if name.startswith(incomplete)]
    except (KubeError, TimeoutError, OSError):
        return []


NameArgument = Annotated[
    str,
    typer.Argument(help="Name of the WeightRollout.", metavar="NAME", autocompletion=_names),
]
NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Default: the namespace of the context.")
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(help="Default: $KUBECONFIG, then ~/.kube/config.", exists=True, dir_okay=False),
]
ContextOption = Annotated[str | None, typer.Option(help="Default: the current one.")]


@dataclass(frozen=True, slots=True)
class Access:
    kubeconfig: Path | None
    context: str | None
    namespace: str | None


class NotPossible(Exception):
    """What was asked for cannot be done as things stand; the text says why, and what to do."""


def ask(access: Access, work: Callable[[Client], Awaitable[Exit]]) -> NoReturn:
    """Connect, do the work, and leave with its exit code."""

    async def connected() -> Exit:
        async with connect_as_user(access.kubeconfig, access.context, access.namespace) as client:
            return await work(client)

    try:
        code = asyncio.run(connected())
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    except (KubeError, NotPossible) as refused:
        refuse(str(refused))
    raise typer.Exit(code)


def refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(Exit.REFUSED)
