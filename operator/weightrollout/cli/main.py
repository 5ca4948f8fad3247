"""The program `kubectl-weightrollout`, which kubectl finds on PATH as `kubectl weightrollout`."""

import os
import sys
from typing import Annotated, Final

import typer

from weightrollout import __version__
from weightrollout.cli.commands.abort import abort
from weightrollout.cli.commands.digest import digest
from weightrollout.cli.commands.explain import explain
from weightrollout.cli.commands.history import history
from weightrollout.cli.commands.inject import inject
from weightrollout.cli.commands.lint import lint
from weightrollout.cli.commands.list import list_
from weightrollout.cli.commands.pause import pause
from weightrollout.cli.commands.plan import plan
from weightrollout.cli.commands.promote import promote
from weightrollout.cli.commands.resume import resume
from weightrollout.cli.commands.retry import retry
from weightrollout.cli.commands.sign import sign
from weightrollout.cli.commands.status import status
from weightrollout.cli.commands.undo import undo
from weightrollout.cli.commands.version import version

PROGRAM: Final = "kubectl-weightrollout"
COMPLETE: Final = "_KUBECTL_WEIGHTROLLOUT_COMPLETE"

app = typer.Typer(
    name="kubectl weightrollout",
    no_args_is_help=True,
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
    """Look at rollouts of new weights into running vLLM pods, steer them, and prepare pods for them."""


#: In the order of the help: look, steer, prepare.
for _name, _command in (
    ("status", status),
    ("list", list_),
    ("explain", explain),
    ("plan", plan),
    ("promote", promote),
    ("abort", abort),
    ("retry", retry),
    ("undo", undo),
    ("history", history),
    ("pause", pause),
    ("resume", resume),
    ("lint", lint),
    ("digest", digest),
    ("sign", sign),
    ("inject", inject),
    ("version", version),
):
    app.command(_name)(_command)


def main() -> None:
    """Scripts for completion call the program by its own name; people see the one they type."""
    completing = COMPLETE in os.environ or any("-completion" in each for each in sys.argv[1:])
    app(prog_name=PROGRAM if completing else "kubectl weightrollout", complete_var=COMPLETE)


if __name__ == "__main__":
    main()
