"""The program `kubectl-weightrollout`, which kubectl finds on PATH as `kubectl weightrollout`."""

import typer

from weightrollout.cli.commands.digest import digest
from weightrollout.cli.commands.inject import inject
from weightrollout.cli.commands.status import status

app = typer.Typer(
    name="kubectl weightrollout",
    help="Look at rollouts of new weights into running vLLM pods, and prepare pods for them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback must be copyable into a bug report
    rich_markup_mode=None,  # examples and tables in help keep their lines
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(status)
app.command()(digest)
app.command()(inject)


def main() -> None:
    app(prog_name="kubectl weightrollout")


if __name__ == "__main__":
    main()
