"""`kubectl weightrollout history`: what a fleet was asked to serve, and what became of it."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    NotPossible,
    ask,
)
from weightrollout.cli.exits import Exit
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.cli.past import one_of, past_of, screen_of
from weightrollout.cli.screen import paper_for
from weightrollout.clock import SystemClock
from weightrollout.kube.client import Client
from weightrollout.kube.reader import look, read_revisions


def history(
    name: NameArgument,
    revision: Annotated[
        int | None, typer.Option("--revision", min=1, help="One of them, with all that is known.")
    ] = None,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Show what a fleet was asked to serve, and what became of it.

    Newest first.     Verified: the whole fleet served it. Rejected: it was rolled back or aborted, and WHY says why.

    \b
    Examples:
      kubectl weightrollout history chat
      kubectl weightrollout history chat --revision 3
      kubectl weightrollout history chat -o json | jq -r '.[] | select(.verdict == "Verified") | .version'

    \b
    Exit codes:
      0    shown
      2    wrong usage, not found, or no access
      130  interrupted
    """

    async def work(client: Client) -> Exit:
        sight = await look(client, name)
        bodies = await read_revisions(client, name)
        everything = past_of(sight.rollout, bodies, sight.pods)
        console = Console(highlight=False)
        if revision is not None:
            found = next((each for each in everything if each.number == revision), None)
            if found is None:
                numbers = ", ".join(str(each.number) for each in reversed(everything))
                raise NotPossible(f"{name} has no revision {revision}; it has {numbers or 'none'}")
            body = next(each for each in bodies if each["metadata"]["name"] == found.revision)
            tell(found, output, one_of(found, body["data"]["weights"]), console)
            return Exit.COMPLETE
        text = Text(f"{name} has no history yet")
        if everything:
            text = screen_of(everything, SystemClock().wall(), paper_for(console).width)
        tell(everything, output, text, console)
        return Exit.COMPLETE

    ask(Access(kubeconfig, context, namespace), work)
