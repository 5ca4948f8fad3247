"""Read a checkpoint once for all pods of a node, where a node volume is offered.

One pod reads the source into the volume; the others wait for it, or read alone when it does not come on. All of them, the
first one too, then write their own image from what lies there, and hash it while they do.
"""

import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from weightrollout.weights import digest
from weightrollout.weights.build import Build, StageCount
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.filling import Filling
from weightrollout.weights.node_notices import Notice, Wait, Why
from weightrollout.weights.node_volume import SUMS, Entry, NodeVolume, cancelled_waiting, key_of
from weightrollout.weights.sources.node import Shared

T = TypeVar("T")

Tell = Callable[[Notice], None]
#: What may be the volume's fault: said of the weights only after the source was read itself.
_DOUBTFUL: Final = frozenset(
    {Reason.DIGEST_MISMATCH, Reason.SOURCE_CORRUPT, Reason.TIED_HEAD_DIFFERS}
)
#: One that was spoilt is read from the source again; then somebody spoils them all the time.
_TRIES: Final = 2
_MAX_SUMS: Final = 1 << 20
#: Of the key under which a second pod reads what a first one came no further with.
_IN_ITS_PLACE: Final = ".second"


@dataclass(frozen=True, slots=True)
class Wish:
    """One staging. `progress` and `cancelled` are called about ten times a second."""

    build: Build
    digest: str | None
    threads: int
    progress: Callable[[StageCount], None]
    cancelled: Callable[[], bool]


class Sharing:
    """The volume of one agent. `tell` is given every reason to read alone."""

    def __init__(self, volume: NodeVolume, tell: Tell) -> None:
        self._volume = volume
        self._tell = tell

    def run(self, wish: Wish, write: Callable[[Build, str | None, StageCount], T]) -> T:
        """What `write` returns: it is given a build that reads from the volume, or the source's own.

        Its StageCount is what was read before. Raises WeightsError.
        """
        done = StageCount(0, 0)
        for _ in range(_TRIES):
            try:
                self._volume.prepare()
                entry, read = self._entry(wish, done)
            except Notice as notice:
                self._tell(notice)
                break
            done = StageCount(done.bytes + read, done.total + read)
            with closing(entry):
                try:
                    return write(self._from(entry, wish), entry.digest, done)
                except Notice as notice:
                    found = notice
                except WeightsError as error:
                    if error.reason not in _DOUBTFUL:
                        raise
                    found = Notice(Why.SPOILT, f"{_spoilt(entry, wish)}: {error.message}")
                self._volume.remove(entry)
                self._tell(found)
        return write(wish.build, wish.digest, done)

    def collect(self, keep: Collection[str]) -> list[str]:
        try:
            self._volume.prepare()
            return self._volume.collect(keep)
        except Notice as notice:
            self._tell(notice)
            return []

    def _entry(self, wish: Wish, done: StageCount) -> tuple[Entry, int]:
        """And what was read from the source for it. Raises Notice, WeightsError."""
        wait, key = Wait(self._volume.waiting), key_of(wish.digest, wish.build.source.where)
        try:
            return self._awaited(wish, done, wait, key)
        except Notice as notice:
            if notice.why is not Why.STALLED:
                raise
            self._tell(notice)
        # One of those that waited reads in its place, and the others wait for that one; no third time.
        wait.begin_again()
        return self._awaited(wish, done, wait, f"{key}{_IN_ITS_PLACE}")

    def _awaited(self, wish: Wish, done: StageCount, wait: Wait, key: str) -> tuple[Entry, int]:
        while True:
            if wish.digest is not None and (entry := self._volume.take(wish.digest)) is not None:
                return entry, 0
            if (held := self._volume.reader(key)) is not None:
                with _closed(held):
                    if wish.digest is None or (entry := self._volume.take(wish.digest)) is None:
                        return self._filled(wish, key, done)
                    return entry, 0
            came = self._volume.came(key)
            wait.look(came)
            wish.progress(
                replace(
                    done,
                    total=done.total + wish.build.checkpoint.bytes,
                    note=f"waits for another pod of its node, which has read {came} bytes of the tensors",
                )
            )
            if wish.cancelled():
                raise cancelled_waiting()
            time.sleep(self._volume.waiting.tick_s)

    def _filled(self, wish: Wish, key: str, done: StageCount) -> tuple[Entry, int]:
        checkpoint, small = wish.build.checkpoint, wish.build.small_bytes

        def progress(read: int) -> None:
            wish.progress(StageCount(done.bytes + small + read, done.total + 2 * checkpoint.bytes))

        size = checkpoint.bytes - small
        with self._volume.part(key, size) as part:
            sums = Filling(checkpoint, part, threads=wish.threads).run(progress, wish.cancelled)
            found = wish.build.proven(sums, wish.digest)
            with suppress(OSError):  # for words only
                (part / SUMS).write_text(json.dumps(sums))
            # Another one may have put it there meanwhile, and others may be reading that.
            entry = self._volume.take(found)
            if entry is None:
                self._volume.publish(part, found)
                entry = self._volume.take(found)
        if entry is None:
            raise Notice(Why.UNUSABLE, f"{self._volume.root}: {found} was removed as it came")
        return entry, checkpoint.bytes

    def _from(self, entry: Entry, wish: Wish) -> Build:
        """Raises Notice: a file that is not whole is named before a byte of it is read."""
        files = {file.name: file for file in wish.build.checkpoint.manifest.files}
        for name, file in files.items():
            os.close(entry.open(name, file.bytes))
        return wish.build.reading_from(Shared(wish.build.source, entry, files))


def _spoilt(entry: Entry, wish: Wish) -> str:
    """The files that are not what the one who wrote them read, by its own word: for people only."""
    sums = _noted(entry)
    bad = [
        file.name
        for file in wish.build.checkpoint.manifest.files
        if file.name in sums and _sha256(entry, file.name) != sums[file.name]
    ]
    return f"{entry.path}/{bad[0]}" if bad else f"a file in {entry.path}"


def _noted(entry: Entry) -> Mapping[str, object]:
    try:
        with os.fdopen(entry.open(SUMS), "rb") as file:
            found = json.loads(file.read(_MAX_SUMS))
    except (Notice, OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _sha256(entry: Entry, name: str) -> str:
    try:
        with os.fdopen(entry.open(name), "rb", buffering=0) as file:
            return digest.sha256_from(file)
    except (Notice, OSError) as error:
        return str(error)


@contextmanager
def _closed(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)
