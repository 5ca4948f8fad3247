"""`kubectl weightrollout list`: all rollouts of a namespace, or of the cluster."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NamespaceOption,
    ask,
)
from weightrollout.cli.exits import Exit
from weightrollout.cli.listing import lines_of, screen_of
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.cli.screen import paper_for
from weightrollout.clock import SystemClock
from weightrollout.kube.client import EVERYWHERE, Client
from weightrollout.kube.reader import read_rollouts


def list_(
    everywhere: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="Of all namespaces.")
    ] = False,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """List rollouts: where each is and what it waits for.

    FOR is how long the hold lasts, or how old the rollout is where nothing holds it.

    \b
    Examples:
      kubectl weightrollout list
      kubectl weightrollout list -A
      kubectl weightrollout list -A -o json | jq -r '.[] | select(.outcome == "Stalled") | .name'

    \b
    Exit codes:
      0    listed, also where there is none
      2    wrong usage, or no access
      130  interrupted
    """

    async def work(client: Client) -> Exit:
        asked = client.within(EVERYWHERE) if everywhere else client
        lines = lines_of(await read_rollouts(asked))
        console = Console(highlight=False)
        where = "any namespace" if everywhere else f"namespace {client.namespace}"
        text = Text(f"no WeightRollout in {where}")
        if lines:
            width = paper_for(console).width
            text = screen_of(lines, SystemClock().wall(), namespaces=everywhere, width=width)
        tell(lines, output, text, console)
        return Exit.COMPLETE

    ask(Access(kubeconfig, context, namespace), work)
