"""The program `kubectl-weightrollout`, which kubectl finds on PATH as `kubectl weightrollout`."""

from typing import Annotated

import typer

from weightrollout import __version__
from weightrollout.cli.commands.digest import digest
from weightrollout.cli.commands.inject import inject
from weightrollout.cli.commands.status import status

app = typer.Typer(
    name="kubectl weightrollout",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback must be copyable into a bug report
    rich_markup_mode=None,  # examples and tables in help keep their lines
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _before(
    _version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Look at rollouts of new weights into running vLLM pods, and prepare pods for them."""


app.command()(status)
app.command()(digest)
app.command()(inject)


def main() -> None:
    app(prog_name="kubectl weightrollout")


if __name__ == "__main__":
    main()
