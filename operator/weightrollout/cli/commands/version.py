"""`kubectl weightrollout version`: of this program, and of the operator where it can be seen."""

from dataclasses import dataclass
from typing import Final

from rich.text import Text

from weightrollout import __version__
from weightrollout.api.schema import schema_hash
from weightrollout.cli.access import (
    Access,
    ContextOption,
    KubeconfigOption,
    NamespaceOption,
    ask,
)
from weightrollout.cli.exits import Exit
from weightrollout.cli.output import Output, OutputOption, tell
from weightrollout.kube.client import EVERYWHERE, Client
from weightrollout.kube.errors import KubeError
from weightrollout.kube.reader import OperatorSeen, read_operators, read_schema

NONE: Final = "none seen"


@dataclass(frozen=True, slots=True)
class Versions:
    client: str
    client_schema: str
    cluster_schema: str  # "" where it cannot be read
    operators: tuple[OperatorSeen, ...]
    unseen: str  # why there may be more


def version(
    output: OutputOption = Output.TEXT,
    namespace: NamespaceOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
) -> None:
    """Print the versions of this program, the operator and the CRD.

    The latter two where they can be seen.

    \b
    Examples:
      kubectl weightrollout version
      kubectl weightrollout version -o json | jq -r .client
      kubectl-weightrollout --version                # asks no cluster

    \b
    Exit codes:
      0    printed
      2    wrong usage, or no cluster answers
      130  interrupted
    """

    async def work(client: Client) -> Exit:
        unseen = ""
        try:
            operators = await read_operators(client.within(EVERYWHERE))
        except KubeError as refused:
            unseen = str(refused)
            operators = await read_operators(client)
        said = Versions(__version__, schema_hash(), await read_schema(client), operators, unseen)
        tell(said, output, _told(said))
        return Exit.COMPLETE

    ask(Access(kubeconfig, context, namespace), work)


def _told(said: Versions) -> Text:
    same = said.cluster_schema == said.client_schema
    cluster = said.cluster_schema or "cannot be read"
    rows = [
        f"client     {said.client}",
        f"schema     {said.client_schema}" + ("" if same else f" (the cluster's: {cluster})"),
    ]
    for each in said.operators:
        leads = each.leader or "nobody leads"
        rows.append(
            f"operator   {each.version or 'unknown'}   in {each.namespace}   leader {leads}"
        )
    if not said.operators:
        rows.append(f"operator   {NONE}" + (f": {said.unseen}" if said.unseen else ""))
    return Text("\n".join(rows))
