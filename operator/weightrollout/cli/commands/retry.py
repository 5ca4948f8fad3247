"""`kubectl weightrollout retry`: try a rejected or aborted version again."""

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.asking import TIMEOUT_S, TimeoutOption, ask_operator, desired
from weightrollout.cli.output import Output, OutputOption
from weightrollout.cli.view import View
from weightrollout.rollout.verbs import VerbName, spell


def retry(
    name: NameArgument,
    timeout: TimeoutOption = TIMEOUT_S,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Try a rejected or aborted version again.

    It must be what spec.weights asks for, and begins with its first step.     A rejected version is never tried again by itself, not even when it leaves the spec and comes back.

    \b
    Examples:
      kubectl weightrollout retry chat
      kubectl weightrollout retry chat && kubectl weightrollout status chat -w

    \b
    Exit codes:
      0    done: it begins again
      1    not done: it was not rejected, or is not desired; the answer says which
      2    wrong usage, not found, or no access
      3    asked, and no operator has answered yet
      130  interrupted
    """

    def spell_for(view: View, nonce: str) -> str:
        return spell(VerbName.RETRY, desired(view).revision, nonce)

    ask(
        Access(kubeconfig, context, namespace),
        lambda client: ask_operator(client, name, "retry", spell_for, timeout, output),
    )
