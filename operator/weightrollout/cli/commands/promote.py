"""`kubectl weightrollout promote`: let a canary leave the step it waits at."""

from typing import Annotated

import typer

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.asking import TIMEOUT_S, TimeoutOption, ask_operator, worked_on
from weightrollout.cli.output import Output, OutputOption
from weightrollout.cli.view import View
from weightrollout.rollout.verbs import VerbName, spell


def promote(
    name: NameArgument,
    full: Annotated[bool, typer.Option("--full", help="Leave all steps that are left.")] = False,
    timeout: TimeoutOption = TIMEOUT_S,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Let a rollout leave the canary step it waits at.

    It names the step it saw, so that the same command twice, or two people at once, never leave two steps.

    \b
    Examples:
      kubectl weightrollout promote chat             # one step
      kubectl weightrollout promote chat --full      # all that are left
      kubectl weightrollout promote chat && kubectl weightrollout status chat -w

    \b
    Exit codes:
      0    done
      1    not done: there is no such step any more; the answer says why
      2    wrong usage, not found, or no access
      3    asked, and no operator has answered yet
      130  interrupted
    """

    def spell_for(view: View, nonce: str) -> str:
        revision = worked_on(view).revision
        step = f"{view.step.index}.{view.step.hash}" if view.step is not None else ""
        return spell(VerbName.PROMOTE, revision, nonce, step=step, full=full)

    ask(
        Access(kubeconfig, context, namespace),
        lambda client: ask_operator(client, name, "promote", spell_for, timeout, output),
    )
