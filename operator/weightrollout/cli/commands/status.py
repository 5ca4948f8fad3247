"""`kubectl weightrollout status`: how far a rollout is and what it waits for."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from weightrollout.cli.exits import Exit, exit_of
from weightrollout.cli.screen import Output, Screen
from weightrollout.cli.view import view_of
from weightrollout.clock import SystemClock
from weightrollout.kube.client import Client
from weightrollout.kube.errors import KubeError
from weightrollout.kube.reader import Sight, connect_as_user, follow, look

REDRAW_S: Final = 0.25  # faster flickers, and nobody reads it


def status(
    name: Annotated[str, typer.Argument(help="Name of the WeightRollout.", metavar="NAME")],
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="Default: the namespace of the context."),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Show every change until it is complete or stalled."),
    ] = False,
    output: Annotated[
        Output, typer.Option("--output", "-o", help="json with -w: one document per line.")
    ] = Output.TREE,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            help="Default: $KUBECONFIG, then ~/.kube/config.", exists=True, dir_okay=False
        ),
    ] = None,
    context: Annotated[str | None, typer.Option(help="Default: the current one.")] = None,
) -> None:
    """Show how far a rollout is and what it waits for.

    Below that each pod, by the version it was put in with.

    \b
    Examples:
      kubectl weightrollout status chat
      kubectl weightrollout status chat -n prod -w
      kubectl weightrollout status chat -o json | jq '.hold'
      timeout 600 kubectl weightrollout status chat -w    # in a pipeline

    \b
    Exit codes:
      0    complete: every pod serves what is desired, proven
      1    stalled: rolled back or failed; it does not go on by itself
      2    wrong usage, not found, or no access
      3    still under way, paused or held
      130  interrupted
    """
    console = Console(highlight=False)
    screen = Screen(output, watch=watch, console=console, clock=SystemClock())
    try:
        code = asyncio.run(_status(_Question(name, namespace, kubeconfig, context, watch), screen))
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    except KubeError as refused:
        typer.echo(f"error: {refused}", err=True)
        raise typer.Exit(Exit.REFUSED) from refused
    raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class _Question:
    name: str
    namespace: str | None
    kubeconfig: Path | None
    context: str | None
    watch: bool


async def _status(asked: _Question, screen: Screen) -> Exit:
    async with connect_as_user(asked.kubeconfig, asked.context, asked.namespace) as client:
        if asked.watch:
            with screen:
                return await _watch(client, asked.name, screen)
        return _show(await look(client, asked.name), screen)


async def _watch(client: Client, name: str, screen: Screen) -> Exit:
    async with aclosing(follow(client, name)) as sights:
        async for sight in sights:
            code = _show(sight, screen)
            if code is not Exit.UNDER_WAY:
                return code
            await asyncio.sleep(REDRAW_S)  # what changes meanwhile is drawn as one
    raise AssertionError("follow ends by an error only")


def _show(sight: Sight, screen: Screen) -> Exit:
    view = view_of(sight.rollout, sight.pods)
    screen.show(view)
    return exit_of(view.outcome)
