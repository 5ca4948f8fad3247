"""`kubectl weightrollout pause`: touch no serving pod until resume."""

from typing import Annotated

import typer

from weightrollout.api.spec import Mode
from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.modes import set_mode
from weightrollout.cli.output import Output, OutputOption


def pause(
    name: NameArgument,
    suspend: Annotated[
        bool, typer.Option("--suspend", help="Start nothing at all, on no pod (Suspended).")
    ] = False,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Touch no serving pod until resume (spec.mode: Paused).

    Swaps that run end, and pods that are out of service are brought back. With --suspend the operator starts nothing.

    \b
    Examples:
      kubectl weightrollout pause chat
      kubectl weightrollout pause chat --suspend     # before work on the cluster itself
      kubectl weightrollout resume chat

    \b
    Exit codes:
      0    set, or set already
      2    wrong usage, not found, no access, or somebody writes it all the time
      130  interrupted
    """
    mode = Mode.SUSPENDED if suspend else Mode.PAUSED
    ask(
        Access(kubeconfig, context, namespace),
        lambda client: set_mode(client, name, mode, output),
    )
