"""Hash the files of a checkpoint wherever they lie, and say how far it is."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NoReturn

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
from weightrollout.weights.digest import TENSORS, FolderError, matches, sha256_from, sums_by
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import folder, never, opened
from weightrollout.weights.sources.source import Source

#: More than this many readers of one disk or share do not read it faster.
MAX_THREADS: Final = 8


def uri_of(path: str) -> str:
    """Of what people write: a URI, or a folder here."""
    return path if "://" in path else Path(path).absolute().as_uri()


def folder_of(path: str) -> Path | None:
    """The folder here that is meant; None: it lies elsewhere. Raises typer.Exit."""
    with _told(path):
        return folder(uri_of(path))


def sums_of(path: str) -> dict[str, str]:
    """File name -> sha256 hex of each file that counts for the digest. Raises typer.Exit."""
    with _told(path), closing(opened(uri_of(path), never)) as source:
        return _sums(source)


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except FolderError as wrong:
        refuse(f"{path}: {wrong.message}")
    except WeightsError as wrong:
        refuse(wrong.message)
    except OSError as wrong:
        refuse(f"{path}: {wrong.strerror or wrong}")
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None


def _sums(source: Source) -> dict[str, str]:
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

    # To stderr, and only to a terminal: stdout is for the result alone.
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
        task = bar.add_task("hash", total=total)
        found = sums_by(
            sha256,
            list(stamps),
            threads=threads,
            progress=lambda done: bar.update(task, completed=done),
        )
    if source.stamps() != stamps:
        raise WeightsError(Reason.SOURCE_CHANGED, f"{source.where}: changed while it was read")
    return found


def refuse(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(Exit.REFUSED)
