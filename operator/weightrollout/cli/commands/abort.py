"""`kubectl weightrollout abort`: back to what was verified before, whatever the spec says."""

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.asking import TIMEOUT_S, TimeoutOption, abort_of, ask_operator
from weightrollout.cli.output import Output, OutputOption


def abort(
    name: NameArgument,
    timeout: TimeoutOption = TIMEOUT_S,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Leave a version for the one before it; the spec stays as it is.

    Back to the newest older version that the whole fleet has verified. At any time, also after it is complete. The spec is not changed, so nothing that writes it can put the version back;
    it is rejected until retry, or until spec.weights says something else. Pods go back as they came, within maxUnavailable.

    \b
    Examples:
      kubectl weightrollout abort chat
      kubectl weightrollout abort chat && kubectl weightrollout status chat -w    # ends with 1: rolled back

    \b
    Exit codes:
      0    done: the way back begins
      1    not done; the answer says why
      2    wrong usage, not found, or no access
      3    asked, and no operator has answered yet
      130  interrupted
    """
    ask(
        Access(kubeconfig, context, namespace),
        lambda client: ask_operator(client, name, "abort", abort_of, timeout, output),
    )
