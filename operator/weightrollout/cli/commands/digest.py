"""`kubectl weightrollout digest`: the name of a checkpoint's content, for spec.weights.digest."""

import os
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from weightrollout.cli.exits import Exit
from weightrollout.weights.digest import TENSORS, FolderError, digest_of, matching_files
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.sources import resolve

#: More than this many readers of one disk or share do not read it faster.
MAX_THREADS: Final = 8


def digest(
    path: Annotated[
        str, typer.Argument(help="Folder with the checkpoint, or its file:/// URI.", metavar="PATH")
    ],
) -> None:
    """Print the digest of a checkpoint folder.

    Nothing else is on stdout. Only files that an engine reads count, so that a README changes nothing. Anyone can check it: it is
    the sha256 of what sha256sum prints over these files.

    \b
    Examples:
      kubectl weightrollout digest /models/chat/step-1200
      kubectl patch wr chat --type merge -p \\
        '{"spec":{"weights":{"version":"1200","uri":"file:///models/chat/step-1200/",
          "digest":"'$(kubectl weightrollout digest /models/chat/step-1200)'"}}}'

    \b
    Exit codes:
      0    printed
      2    wrong usage, or not a folder with safetensors that can be read
      130  interrupted
    """
    folder = _folder(path)
    try:
        print(_digest(folder))
    except FolderError as wrong:
        _refuse(f"{folder}: {wrong.message}")
    except OSError as wrong:
        _refuse(f"{folder}: {wrong.strerror or wrong}")
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def _folder(path: str) -> Path:
    if "://" not in path:
        return Path(path)
    try:
        return resolve(path)
    except WeightsError as wrong:
        _refuse(wrong.message)


def _digest(folder: Path) -> str:
    names = matching_files(folder)
    if not matching_files(folder, (TENSORS,)):
        raise FolderError(
            "SourceEmpty", f"holds no {TENSORS} file: name the checkpoint's own folder"
        )
    total = sum((folder / name).stat().st_size for name in names)
    threads = max(1, min(MAX_THREADS, len(names), os.cpu_count() or 1))
    # To stderr, and only to a terminal: stdout is for the digest alone.
    console = Console(stderr=True)
    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("digest", total=total)
        return digest_of(
            folder, threads=threads, progress=lambda done: bar.update(task, completed=done)
        )


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(Exit.REFUSED)
