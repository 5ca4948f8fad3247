"""Read a checkpoint's tensor files from its source into a folder of the node's volume: once, hashed while it comes."""

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

from weightrollout.weights.checkpoint import Checkpoint, reading, source_changed
from weightrollout.weights.manifest import FileEntry
from weightrollout.weights.node_notices import volume_failures
from weightrollout.weights.node_volume import cancelled_waiting

_CHUNK_BYTES: Final = 1 << 20
_TICK_S: Final = 0.1


class _Stopped(Exception):
    """Another file failed or the caller gave up."""


class Filling:
    """Of one folder. Used once."""

    def __init__(self, checkpoint: Checkpoint, folder: Path, *, threads: int) -> None:
        self._checkpoint = checkpoint
        self._folder = folder
        self._threads = threads
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._read = 0

    def run(self, progress: Callable[[int], None], cancelled: Callable[[], bool]) -> dict[str, str]:
        """File name -> sha256 hex. Both are called in this thread, every _TICK_S.

        Raises WeightsError for the source and when it is cancelled, Notice for the volume.
        """
        files = sorted(self._checkpoint.manifest.files, key=lambda file: -file.bytes)
        with ThreadPoolExecutor(min(self._threads, len(files)), thread_name_prefix="fill") as pool:
            try:
                jobs = {file.name: pool.submit(self._file, file) for file in files}
                pending = set(jobs.values())
                while pending:
                    done, pending = wait(pending, _TICK_S, FIRST_EXCEPTION)
                    for job in done:
                        job.result()
                    progress(self._read)
                    if cancelled():
                        raise cancelled_waiting()
            finally:
                self._stop.set()
        return {name: job.result() for name, job in jobs.items()}

    def _file(self, file: FileEntry) -> str:
        where = f"{self._checkpoint.source.where}/{file.name}"
        path = self._folder / file.name
        buffer = memoryview(bytearray(_CHUNK_BYTES))
        hasher = hashlib.sha256()
        left = file.bytes
        with volume_failures(path):
            into = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with reading(where), self._checkpoint.opened(file.name) as source:
                while left:
                    if self._stop.is_set():
                        raise _Stopped
                    size = source.readinto(buffer[: min(left, _CHUNK_BYTES)])
                    if not size:
                        raise source_changed(where)
                    with volume_failures(path):
                        _write(into, buffer[:size])
                    hasher.update(buffer[:size])
                    left -= size
                    with self._lock:
                        self._read += size
        finally:
            os.close(into)
        return hasher.hexdigest()


def _write(into: int, data: memoryview) -> None:
    while data:
        data = data[os.write(into, data) :]
