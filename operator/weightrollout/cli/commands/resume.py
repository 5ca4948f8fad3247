"""`kubectl weightrollout resume`: go on after pause."""

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


def resume(
    name: NameArgument,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Go on after pause (spec.mode: Run).

    A pause that is a step of the canary is left by promote instead; resume says so.

    \b
    Examples:
      kubectl weightrollout resume chat
      kubectl weightrollout resume chat && kubectl weightrollout status chat -w

    \b
    Exit codes:
      0    set, or set already
      2    wrong usage, not found, no access, or somebody writes it all the time
      130  interrupted
    """
    ask(
        Access(kubeconfig, context, namespace),
        lambda client: set_mode(client, name, Mode.RUN, output),
    )
