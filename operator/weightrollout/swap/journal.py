"""Keep the book on disk: whole or not at all, intent before effect.

Two strengths. `put` is atomic and survives the death of this process, which is all that a swap in
its pause needs: when the machine itself goes down, the engine goes with it and comes back as a new
instance. `sync` also survives that, and is awaited before a promise is given to the operator; it
runs in a thread, because a disk that is busy with staging may take seconds.
"""

import asyncio
import logging
import os
from itertools import count
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json

from weightrollout.swap.book import SCHEMA, Book

FILE: Final = "journal.json"
#: A full book has some ten kilobytes; what is longer was not written here and is not read.
MAX_BYTES: Final = 16 << 20
_BOOK: Final = TypeAdapter(Book)

log = logging.getLogger(__name__)


class JournalUnwritable(Exception):
    """The book could not be kept, so nothing new may start. The message names file and cause."""


class Journal:
    """One per staging volume and process."""

    def __init__(self, path: Path, book: Book) -> None:
        self.path = path
        self.book = book
        self.behind = False  # the disk has an older book than this one

    @classmethod
    def open(cls, folder: Path) -> "Journal":
        """Read what is there. What cannot be read is kept aside and the book says that it was lost."""
        path = folder / FILE
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return cls(path, Book())
        except OSError as error:
            log.error("journal %s cannot be read: %s", path, error)
            return cls(path, Book(lost=True))
        try:
            return cls(path, _understood(data))
        except ValueError as error:
            log.error("journal %s, kept as %s: %s", path, _set_aside(path).name, error)
            return cls(path, Book(lost=True))

    def put(self, book: Book) -> None:
        """Replace the book. Raises JournalUnwritable and keeps the old one."""
        temporary = self.path.with_name(f".{self.path.name}.tmp")
        try:
            temporary.write_bytes(_BOOK.dump_json(book))
            temporary.replace(self.path)
        except OSError as error:
            _remove(temporary)  # half a book is of no use, and takes space that is short
            raise JournalUnwritable(f"{self.path}: {error.strerror or error}") from error
        except PydanticSerializationError as error:  # text that is no Unicode
            raise JournalUnwritable(f"{self.path}: {error}") from error
        self.book = book
        self.behind = False

    def learn(self, book: Book) -> None:
        """For what has happened already: the book is replaced whatever the disk says.

        Until the disk takes it (`catch_up`), a restarted agent finds the older one and reads the
        engine back.
        """
        try:
            self.put(book)
        except JournalUnwritable as error:
            log.error("kept in memory until it can be written: %s", error)
            self.book = book
            self.behind = True

    def catch_up(self) -> None:
        """Try again to write what could not be written."""
        if not self.behind:
            return
        try:
            self.put(self.book)
        except JournalUnwritable:
            return  # said once; the disk is still full
        log.info("journal %s is written again", self.path)

    async def sync(self) -> None:
        """What was put is on the disk when this returns."""
        try:
            await asyncio.to_thread(_sync, self.path)
        except OSError as error:
            raise JournalUnwritable(f"{self.path}: {error.strerror or error}") from error


def _sync(path: Path) -> None:
    for each in (path, path.parent):
        handle = os.open(each, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _understood(data: bytes) -> Book:
    """Raises ValueError: written by another release, by nobody, or in part."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"longer than {MAX_BYTES} bytes")
    said = from_json(data)
    if not isinstance(said, dict) or "owner_uid" not in said:  # in every book, empty or not
        raise ValueError("is no book of an agent")
    schema = said.get("schema")
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"has schema {str(schema)[:20]}, not {SCHEMA}")
    try:
        return _BOOK.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise ValueError(f"cannot be understood: {first['loc']}: {first['msg']}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass  # the next write replaces it


def _set_aside(path: Path) -> Path:
    """Where it is kept; `path` itself on a disk that does not even rename."""
    try:
        return _renamed(path)
    except OSError as error:
        log.error("%s cannot be kept: %s", path, error)
        return path


def _renamed(path: Path) -> Path:
    for number in count(1):
        aside = path.with_name(f"journal.corrupt-{number}")
        if not aside.exists():
            path.replace(aside)
            return aside
    raise AssertionError("count() ends never")
