"""`kubectl weightrollout lint`: what an API server would refuse, and what is unwise, before anybody applies it."""

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from weightrollout.cli.access import refuse
from weightrollout.cli.exits import Exit
from weightrollout.cli.lint.check import ERROR, Finding, findings_of
from weightrollout.cli.output import Output, OutputOption, tell

STDIN: Final = "-"


def lint(
    files: Annotated[
        list[str], typer.Argument(help="YAML or JSON files, or - for stdin.", metavar="FILE...")
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    output: OutputOption = Output.TEXT,
) -> None:
    """Check files with WeightRollouts without a cluster.

    It says what an API server with this release's CRD would refuse or drop, in its words and with the line. Warnings are about
    what works and is perhaps unwise; how many pods there are is taken from workloads in the same file.

    \b
    Examples:
      kubectl weightrollout lint chat.yaml
      kustomize build overlays/prod | kubectl weightrollout lint --strict -

    \b
    Exit codes:
      0    nothing is wrong; warnings may be printed
      1    something would be refused or dropped, or with --strict there are warnings
      2    wrong usage, or a file that cannot be read
    """
    found = [finding for file in files for finding in findings_of(_shown(file), _text(file))]
    tell(found, output, told(found, len(files)))
    bad = [each for each in found if strict or each.severity == ERROR]
    raise typer.Exit(Exit.STALLED if bad else Exit.COMPLETE)


def told(found: list[Finding], files: int) -> Text:
    """One line each, as editors and CI understand it: FILE:LINE: severity: field: message."""
    if not found:
        return Text(
            f"{files} file: nothing to say" if files == 1 else f"{files} files: nothing to say"
        )
    rows = []
    for each in found:
        row = Text(f"{each.file}:{each.line}: ")
        row.append(each.severity, "bold red" if each.severity == ERROR else "yellow")
        row.append(f": {each.field}: " if each.field else ": ")
        row.append(each.message)
        if each.severity != ERROR:
            row.append(f" ({each.reason})")
        rows.append(row)
    return Text("\n").join(rows)


def _shown(file: str) -> str:
    return "stdin" if file == STDIN else file


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        refuse(f"{file}: {wrong}")
