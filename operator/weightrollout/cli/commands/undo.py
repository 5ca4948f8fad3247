"""`kubectl weightrollout undo`: to an older version, by the way that lasts."""

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.text import Text

from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NameArgument,
    NamespaceOption,
    ask,
)
from weightrollout.cli.asking import TIMEOUT_S, TimeoutOption, abort_of, ask_operator
from weightrollout.cli.exits import Exit
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.cli.past import own_records
from weightrollout.cli.undoing import Undo, undo_of, weights_of
from weightrollout.cli.view import view_of
from weightrollout.kube.client import Client, Json
from weightrollout.kube.person import change, keeper_of, replacing
from weightrollout.kube.reader import read_revisions, read_rollout


@dataclass(frozen=True, slots=True)
class Undone:
    name: str
    left: str  # version
    version: str
    number: int


def undo(
    name: NameArgument,
    to_revision: Annotated[
        int | None,
        typer.Option("--to-revision", min=1, help="A number that history shows."),
    ] = None,
    timeout: TimeoutOption = TIMEOUT_S,
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Go back to an older version.

    To the newest that the whole fleet verified, or to --to-revision. It writes that version into spec.weights. Where a GitOps controller keeps spec.weights (as managedFields tell) that would be
    written back, so the operator is asked to abort instead, which leaves the spec alone.

    \b
    Examples:
      kubectl weightrollout undo chat
      kubectl weightrollout history chat && kubectl weightrollout undo chat --to-revision 3
      kubectl weightrollout undo chat && kubectl weightrollout status chat -w

    \b
    Exit codes:
      0    done: the way back begins
      1    not done: the operator says why
      2    wrong usage, no such revision, not found, or no access
      3    asked, and no operator has answered yet
      130  interrupted
    """

    async def work(client: Client) -> Exit:
        read = await read_rollout(client, name)
        records = own_records(read["metadata"], await read_revisions(client, name))

        def chosen(body: Json) -> Undo:
            keeper = keeper_of(body, "spec", "weights")
            return undo_of(name, view_of(body, ()), records, keeper, to_revision)

        way = chosen(read)
        if way.keeper:
            typer.echo(
                f"note: {way.keeper} keeps spec.weights, so this is an abort: the spec stays as it"
                " is, and its source is to be changed, too",
                err=True,
            )
            return await ask_operator(client, name, "abort", abort_of, timeout, output)

        def decide(body: Json) -> Json:
            weights = weights_of(chosen(body).to)
            return {"spec": {"weights": replacing(body["spec"].get("weights") or {}, weights)}}

        await change(client, name, decide)
        said = Undone(name, way.leaves, way.to.version, way.to.number)
        tell(said, output, _told(said))
        return Exit.COMPLETE

    ask(Access(kubeconfig, context, namespace), work)


def _told(said: Undone) -> Text:
    left = f" instead of {said.left}" if said.left else ""
    return Text.assemble(
        (said.name, "bold"), f": spec.weights is revision {said.number} ({said.version}){left}"
    )
