"""`kubectl weightrollout status`: how far a rollout is and what it waits for."""

import asyncio
from contextlib import aclosing
from typing import Annotated, Final

import typer
from rich.console import Console

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.exits import Exit, exit_of
from weightrollout.cli.output import Output
from weightrollout.cli.screen import Screen
from weightrollout.cli.view import view_of
from weightrollout.clock import SystemClock
from weightrollout.kube.client import Client
from weightrollout.kube.reader import Sight, follow, look

REDRAW_S: Final = 0.25  # faster flickers, and nobody reads it


def status(
    name: NameArgument,
    watch: Annotated[
        bool,
        typer.Option("--watch", "-w", help="Show every change until it is complete or stalled."),
    ] = False,
    all_pods: Annotated[
        bool, typer.Option("--all-pods", help="One line for each pod, however many there are.")
    ] = False,
    output: Annotated[
        Output,
        typer.Option(
            "--output", "-o", help="With -w json is one document per line, yaml a stream."
        ),
    ] = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
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
    screen = Screen(output, watch=watch, console=console, clock=SystemClock(), all_pods=all_pods)

    async def work(client: Client) -> Exit:
        if not watch:
            return _show(await look(client, name), screen)
        with screen:
            return await _watch(client, name, screen)

    ask(Access(kubeconfig, context, namespace), work)


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
