"""`kubectl weightrollout explain`: why does it not move?"""

from rich.console import Console

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    NotPossible,
    ask,
)
from weightrollout.cli.exits import Exit, exit_of
from weightrollout.cli.explaining import screen_of
from weightrollout.cli.forecast import forecast
from weightrollout.cli.living import read_live
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.cli.screen import paper_for
from weightrollout.cli.why import why_of
from weightrollout.clock import SystemClock
from weightrollout.kube.client import Client
from weightrollout.kube.reader import read_rollout
from weightrollout.reading import InvalidSpec, read_spec


def explain(
    name: NameArgument,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Explain why a rollout does not move.

    What holds it, who can change that, what comes next and when. Below that the pods that are not updated, and the rules that apply with their defaults filled in.

    \b
    Examples:
      kubectl weightrollout explain chat
      kubectl weightrollout explain chat -o json | jq -r .waitsFor    # you, the operator or the cluster

    \b
    Exit codes:
      0    complete: there is nothing to explain
      1    stalled: it does not go on by itself
      2    wrong usage, not found, or no access
      3    still under way, paused or held
      130  interrupted
    """

    async def work(client: Client) -> Exit:
        live = await read_live(client, await read_rollout(client, name))
        try:
            spec = read_spec(live.rollout)
        except InvalidSpec as wrong:
            raise NotPossible(f"this release cannot read the spec: {wrong}") from wrong
        now = SystemClock().wall()
        found = why_of(live, spec, forecast(live, spec), now)
        console = Console(highlight=False)
        tell(found, output, screen_of(found, now, paper_for(console)), console)
        return exit_of(found.outcome)

    ask(Access(kubeconfig, context, namespace), work)
