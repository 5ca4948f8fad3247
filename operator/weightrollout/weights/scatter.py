"""The one pass over a checkpoint's tensor files: each byte is read once, hashed, checked, written.

A file's hash is a chain, so one thread reads and hashes it; checksum, scan and copy of each chunk
run beside that in a pool. All of these let go of the interpreter lock.
"""

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from weightrollout.weights import digest, finite, layout
from weightrollout.weights.checkpoint import Checkpoint, reading, source_changed
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.image import ImageWriter
from weightrollout.weights.layout import Chunk, Copy
from weightrollout.weights.manifest import ITEM_BYTES, FileEntry, TensorEntry

#: Fits a core's cache, so that hash, scan and copy read memory once; larger ones were not faster.
CHUNK_BYTES: Final = 1 << 20
#: Chunks of a file in flight: one is read, one is hashed, one or two are written.
_RING: Final = 4
#: How often the caller hears of progress and is asked whether to go on.
_TICK_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class NotFinite:
    tensor: TensorEntry
    offset: int  # of the element in the file

    def index(self) -> tuple[int, ...]:
        """Where it is in the tensor's shape."""
        flat = (self.offset - self.tensor.offset) // ITEM_BYTES[self.tensor.dtype]
        found = []
        for size in reversed(self.tensor.shape):
            flat, at = divmod(flat, size)
            found.append(at)
        return tuple(reversed(found))


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
    ) -> None:
        """`taken`: file name -> what goes from it into the images (layout.copies), by offset.

        `images`: those that `Copy.image` counts.
        """
        self._checkpoint = checkpoint
        self._taken = taken
        self._images = images
        self._threads = threads
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._read = 0

    def run(
        self, progress: Callable[[int], None], cancelled: Callable[[], bool]
    ) -> dict[str, Seen]:
        """File name -> what was seen. Both callables are called in this thread, every _TICK_S.

        Raises WeightsError when the source or the staging volume fails, or StagingCancelled.
        """
        # The longest file decides when the pass ends, so it goes first.
        files = sorted(self._checkpoint.manifest.files, key=lambda file: -file.bytes)
        lanes_wanted = min(self._threads, len(files))
        with (
            ThreadPoolExecutor(self._threads, thread_name_prefix="scatter") as pool,
            ThreadPoolExecutor(lanes_wanted, thread_name_prefix="read") as lanes,
        ):
            try:
                jobs = {file.name: lanes.submit(self._file, file, pool) for file in files}
                pending = set(jobs.values())
                while pending:
                    done, pending = wait(pending, _TICK_S, FIRST_EXCEPTION)
                    for job in done:
                        job.result()  # raises what the job raised
                    progress(self._read)
                    if cancelled():
                        raise WeightsError(Reason.STAGING_CANCELLED, "staging was cancelled")
            finally:
                self._stop.set()
        return {name: job.result() for name, job in jobs.items()}

    def _file(self, file: FileEntry, pool: ThreadPoolExecutor) -> Seen:
        """Read and hash one file here, while the pool deals with the chunks before."""
        where = f"{self._checkpoint.source.where}/{file.name}"
        ring = [memoryview(bytearray(CHUNK_BYTES)) for _ in range(_RING)]
        in_flight: deque[Future[NotFinite | None]] = deque()
        found: list[NotFinite] = []
        hasher = hashlib.sha256()

        def settle() -> None:
            if (bad := in_flight.popleft().result()) is not None:
                found.append(bad)

        with reading(where), self._checkpoint.opened(file.name) as source:
            chunks = layout.chunks(file, self._taken.get(file.name, ()), CHUNK_BYTES)
            for number, chunk in enumerate(chunks):
                if self._stop.is_set():
                    raise _Stopped
                if len(in_flight) == _RING:
                    settle()  # frees the oldest buffer, which is the next one
                data = ring[number % _RING][: chunk.bytes]
                _read_all(source, data, where)
                in_flight.append(pool.submit(self._scatter, chunk, data))
                hasher.update(data)
                self._count(chunk.bytes)
        while in_flight:
            settle()
        return Seen(hasher.hexdigest(), found[0] if found else None)

    def _scatter(self, chunk: Chunk, data: memoryview) -> NotFinite | None:
        for copy in chunk.copies:
            at = copy.offset - chunk.offset
            self._images[copy.image].write(copy, data[at : at + copy.bytes])
        for span in chunk.spans:
            at = span.offset - chunk.offset
            bad = finite.first_not_finite(span.tensor.dtype, data[at : at + span.bytes])
            if bad is not None:
                return NotFinite(span.tensor, span.offset + bad)
        return None

    def _count(self, size: int) -> None:
        with self._lock:
            self._read += size


def _read_all(source: digest.Bytes, data: memoryview, where: str) -> None:
    """Fill `data`; a file that ends before was longer when its header was read."""
    done = 0
    while done < len(data):
        size = source.readinto(data[done:])
        if not size:
            raise source_changed(where)
        done += size
