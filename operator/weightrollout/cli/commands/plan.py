"""`kubectl weightrollout plan`: what would happen, by the real planner, without touching anything."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from weightrollout.api.names import KIND
from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NamespaceOption,
    NotPossible,
    ask,
    refuse,
)
from weightrollout.cli.exits import Exit
from weightrollout.cli.forecast import forecast
from weightrollout.cli.forecasting import screen_of
from weightrollout.cli.lint.check import ERROR, findings_of, rollouts_in
from weightrollout.cli.living import read_live
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.cli.screen import paper_for
from weightrollout.kube.client import Client
from weightrollout.kube.errors import NotFound
from weightrollout.kube.reader import read_rollout
from weightrollout.reading import InvalidSpec, read_spec

Json = dict[str, Any]


def plan(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of the WeightRollout; with -f the file says it.", metavar="[NAME]"
        ),
    ] = None,
    filename: Annotated[
        Path | None,
        typer.Option(
            "--filename",
            "-f",
            help="A WeightRollout that is not applied yet.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    all_pods: Annotated[
        bool,
        typer.Option("--all-pods", help="Name each pod, however many there are."),
    ] = False,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Show what would happen, without touching anything.

    Which pods, in which order, how many at once, where it waits. The operator's own planner runs on a copy of the fleet as it is now. With -f it is given an edited WeightRollout, or one that does
    not exist yet. Nothing is written anywhere.

    \b
    Examples:
      kubectl weightrollout plan chat
      kubectl weightrollout plan -f chat.yaml
      kubectl get wr chat -o yaml > chat.yaml && $EDITOR chat.yaml && kubectl weightrollout plan -f chat.yaml

    \b
    Exit codes:
      0    it leads to Complete
      1    it leads elsewhere, or stops for something that END names
      2    wrong usage, a file that would be refused, not found, or no access
      130  interrupted
    """
    edited = _edited(filename) if filename is not None else None
    if edited is not None:
        said = str(edited["metadata"]["name"])
        if name not in (None, said):
            refuse(f"{filename} is about {said}, not {name}")
        name, namespace = said, namespace or edited["metadata"].get("namespace")
    if name is None:
        raise typer.BadParameter("give a name, or a file with -f", param_hint="NAME")
    wanted = name

    async def work(client: Client) -> Exit:
        live = await read_live(client, await _rollout(client, wanted, edited))
        try:
            found = forecast(live, read_spec(edited or live.rollout))
        except InvalidSpec as wrong:
            raise NotPossible(str(wrong)) from wrong
        console = Console(highlight=False)
        tell(found, output, screen_of(found, paper_for(console, all_pods)), console)
        return Exit.COMPLETE if found.arrives else Exit.STALLED

    ask(Access(kubeconfig, context, namespace), work)


async def _rollout(client: Client, name: str, edited: Json | None) -> Json:
    """The live one; one that is only in a file has neither status nor history."""
    try:
        return await read_rollout(client, name)
    except NotFound:
        if edited is None:
            raise
        return {
            "metadata": {"name": name, "namespace": client.namespace, "uid": "", "generation": 0},
            "spec": {},
        }


def _edited(file: Path) -> Json:
    text = file.read_text(encoding="utf-8")
    wrong = [each for each in findings_of(str(file), text) if each.severity == ERROR]
    if wrong:
        first = wrong[0]
        refuse(f"{first.file}:{first.line}: {first.field}: {first.message}")
    found = rollouts_in(text)
    if len(found) != 1:
        refuse(f"{file} has {len(found)} objects of kind {KIND}: give one")
    return dict(found[0])
