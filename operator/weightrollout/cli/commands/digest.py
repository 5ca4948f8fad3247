"""`kubectl weightrollout digest`: the name of a checkpoint's content, for spec.weights.digest."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from weightrollout.cli.exits import Exit
from weightrollout.weights.digest import TENSORS, FolderError, digest_by, matches, sha256_from
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import never, opened
from weightrollout.weights.sources.source import Source

#: More than this many readers of one disk or share do not read it faster.
MAX_THREADS: Final = 8


def digest(
    path: Annotated[
        str,
        typer.Argument(
            help="Folder with the checkpoint, or its URI: file:///, s3://, gs://, az://, https://, hf://.",
            metavar="PATH",
        ),
    ],
) -> None:
    """Print the digest of a checkpoint folder.

    Nothing else is on stdout. Only files that an engine reads count, so that a README changes nothing. Anyone can check it: it is
    the sha256 of what sha256sum prints over these files. Of a URI all bytes are read, with the credentials of whoever calls.

    \b
    Examples:
      kubectl weightrollout digest /models/chat/step-1200
      kubectl weightrollout digest s3://models/chat/step-1200/
      kubectl patch wr chat --type merge -p \\
        '{"spec":{"weights":{"version":"1200","uri":"file:///models/chat/step-1200/",
          "digest":"'$(kubectl weightrollout digest /models/chat/step-1200)'"}}}'

    \b
    Exit codes:
      0    printed
      2    wrong usage, or no safetensors there that can be read
      130  interrupted
    """
    uri = path if "://" in path else Path(path).absolute().as_uri()
    try:
        with closing(opened(uri, never)) as source:
            print(_digest(source))
    except FolderError as wrong:
        _refuse(f"{path}: {wrong.message}")
    except WeightsError as wrong:
        _refuse(wrong.message)
    except OSError as wrong:
        _refuse(f"{path}: {wrong.strerror or wrong}")
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def _digest(source: Source) -> str:
    stamps = source.stamps()
    if not any(matches(name, (TENSORS,)) for name in stamps):
        raise FolderError(
            "SourceEmpty", f"holds no {TENSORS} file: name the checkpoint's own folder"
        )
    total = sum(stamp.bytes for stamp in stamps.values())
    threads = max(1, min(MAX_THREADS, len(stamps), os.cpu_count() or 1))

    def sha256(name: str, count: Callable[[int], None]) -> str:
        with source.open(name) as file:
            found = sha256_from(file, count)
        if found != source.promised.get(name, found):
            raise WeightsError(
                Reason.SOURCE_CORRUPT, f"{source.where}/{name}: is not what the source says it is"
            )
        return found

    # To stderr, and only to a terminal: stdout is for the digest alone.
    console = Console(stderr=True)
    columns = (
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("digest", total=total)
        found = digest_by(
            sha256,
            list(stamps),
            threads=threads,
            progress=lambda done: bar.update(task, completed=done),
        )
    if source.stamps() != stamps:
        raise WeightsError(Reason.SOURCE_CHANGED, f"{source.where}: changed while it was read")
    return found


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(Exit.REFUSED)
