"""The one pass over a checkpoint's tensor files: each byte is read once, hashed, checked, written.

A file's hash is a chain, so one thread reads and hashes it; checksum, scan and copy of each chunk
run beside that in a pool. All of these let go of the interpreter lock.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from weightrollout.weights import layout
from weightrollout.weights.checkpoint import Checkpoint, read_all, reading
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.finite import NotFinite, first_in
from weightrollout.weights.image import ImageWriter
from weightrollout.weights.journal import Journal, Mark
from weightrollout.weights.layout import Chunk, Copy
from weightrollout.weights.manifest import FileEntry
from weightrollout.weights.recall import Recall

#: Fits a core's cache, so that hash, scan and copy read memory once; larger ones were not faster.
CHUNK_BYTES: Final = 1 << 20
#: Chunks of a file in flight: one is read, one is hashed, one or two are written.
_RING: Final = 4
#: Goes to the medium at once, while the next so much is read.
_FLUSH_BYTES: Final = 32 << 20
#: How often the caller hears of progress and is asked whether to go on.
_TICK_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Seen:
    """What the pass learned of one file."""

    sha256: str
    not_finite: NotFinite | None  # the first one


class _Stopped(Exception):
    """Another file failed or the caller gave up: this one's end is nobody's news."""


class Pass:
    """One pass over one checkpoint into the images that take from it. Used once."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        taken: Mapping[str, Sequence[Copy]],
        images: Sequence[ImageWriter],
        *,
        threads: int,
        journal: Journal,
    ) -> None:
        """`taken`: file name -> what goes from it into the images (layout.copies), by offset.

        `images`: those that `Copy.image` counts.
        """
        self._checkpoint = checkpoint
        self._taken = taken
        self._images = images
        self._threads = threads
        self._journal = journal
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._read = 0
        self._kept = 0

    @property
    def kept(self) -> int:
        """Bytes that were in the images, put there by an earlier process."""
        return self._kept

    def run(
        self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> dict[str, Seen]:
        """File name -> what was seen. Both callables are called in this thread, every _TICK_S.

        `progress` is given the bytes that were hashed, and how many of them were there already.
        Raises WeightsError when the source or the staging volume fails, or StagingCancelled.
        """
        # The longest file decides when the pass ends, so it goes first.
        files = sorted(self._checkpoint.manifest.files, key=lambda file: -file.bytes)
        lanes_wanted = min(self._threads, len(files))
        with (
            ThreadPoolExecutor(self._threads, thread_name_prefix="scatter") as pool,
            ThreadPoolExecutor(lanes_wanted, thread_name_prefix="read") as lanes,
            ThreadPoolExecutor(1, thread_name_prefix="flush") as flusher,
        ):
            try:
                jobs = {file.name: lanes.submit(self._file, file, pool) for file in files}
                pending = set(jobs.values())
                flush, flushed = flusher.submit(self._flush), 0
                while pending:
                    done, pending = wait(pending, _TICK_S, FIRST_EXCEPTION)
                    for job in done:
                        job.result()  # raises what the job raised
                    progress(self._read, self._kept)
                    if flush.done() and self._read - flushed >= _FLUSH_BYTES:
                        flush.result()  # an error is told once, so not to `seal` again
                        flush, flushed = flusher.submit(self._flush), self._read
                    if cancelled():
                        raise WeightsError(Reason.STAGING_CANCELLED, "staging was cancelled")
                flush.result()
            except BaseException:
                self._checkpoint.source.close()  # nobody waits for what is not wanted any more
                raise
            finally:
                self._stop.set()
        return {name: job.result() for name, job in jobs.items()}

    def _file(self, file: FileEntry, pool: ThreadPoolExecutor) -> Seen:
        """Read and hash one file here, while the pool deals with the chunks before."""
        where = f"{self._checkpoint.source.where}/{file.name}"
        ring = [memoryview(bytearray(CHUNK_BYTES)) for _ in range(_RING)]
        in_flight: deque[tuple[Future[NotFinite | None], Mark | None]] = deque()
        found: list[NotFinite] = []

        def settle() -> None:
            future, mark = in_flight.popleft()
            if (bad := future.result()) is not None:
                found.append(bad)
            if mark is not None:  # all before it has settled before
                self._journal.set(file.name, mark)

        with reading(where), self._checkpoint.opened(file.name) as source:
            chunks = layout.chunks(file, self._taken.get(file.name, ()), CHUNK_BYTES)
            known = Recall(chunks, self._images, source, where, self._go_on)
            known.run(self._journal.marks(file.name))
            found += known.not_finite
            hasher, marked = known.hasher, known.to
            source.seek(marked)
            self._count(marked, kept=True)
            for number, chunk in enumerate(known.rest):
                self._go_on()
                if len(in_flight) == _RING:
                    settle()  # frees the oldest buffer, which is the next one
                data = ring[number % _RING][: chunk.bytes]
                read_all(source, data, where)
                job = pool.submit(self._scatter, chunk, data)
                hasher.update(data)
                mark, end = None, chunk.offset + chunk.bytes
                if end - marked >= self._journal.step_bytes or end == file.bytes:
                    mark, marked = Mark(end, hasher.hexdigest()), end
                in_flight.append((job, mark))
                self._count(chunk.bytes)
            while in_flight:
                settle()
        return Seen(hasher.hexdigest(), found[0] if found else None)

    def _flush(self) -> None:
        for image in self._images:
            image.flush()

    def _scatter(self, chunk: Chunk, data: memoryview) -> NotFinite | None:
        for copy in chunk.copies:
            at = copy.offset - chunk.offset
            self._images[copy.image].write(copy, data[at : at + copy.bytes])
        return first_in(chunk, data)

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _count(self, size: int, *, kept: bool = False) -> None:
        with self._lock:
            self._read += size
            self._kept += size if kept else 0
