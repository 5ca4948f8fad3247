"""The folders of stagings that have not ended, in one volume.

images/.part-<key>/journal   what lies in the images already
images/.part-<key>/0, 1      the images, as far as they are written
images/.tmp-<random>/        the same of a staging that nobody can go on with; and what is being removed
"""

import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.image import staging_failures
from weightrollout.weights.journal import Journal

_PART: Final = ".part-"
_TEMPORARY: Final = ".tmp-"
#: Failures after which the same weights are likely to be asked for again.
_PASSES: Final = frozenset(
    {
        Reason.STAGING_CANCELLED,  # also by an agent that ends
        Reason.SOURCE_UNREACHABLE,
        Reason.SOURCE_UNREADABLE,
        Reason.SOURCE_BUSY,
        Reason.SOURCE_DENIED,
    }
)


class Unfinished:
    """Safe across threads."""

    def __init__(self, images: Path, step_bytes: int) -> None:
        """Removes what an earlier process left and nobody can go on with, as far as the volume lets it.

        `step_bytes`: of the journals.
        """
        self._images = images
        self._step_bytes = step_bytes
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        # A volume that fails is told by the next staging; here nobody could be told.
        try:
            images.mkdir(parents=True, exist_ok=True)
            leftovers = list(images.glob(f"{_TEMPORARY}*"))
        except OSError:
            return
        for leftover in leftovers:
            shutil.rmtree(leftover, ignore_errors=True)

    def away(self) -> Path:
        """A name that nobody uses and that the next process removes."""
        return self._images / f"{_TEMPORARY}{secrets.token_hex(8)}"

    @contextmanager
    def home(self, key: str | None) -> Iterator[tuple[Path, Journal]]:
        """That of `key`, as an earlier process left it, or a new one; None: of nothing that comes again.

        Those of other keys are removed: their space is wanted. So is this one at the end, but where the
        failure may pass. Raises WeightsError.
        """
        key = self._taken(key)
        folder = self.away() if key is None else self._images / f"{_PART}{key}"
        keep = False
        try:
            with staging_failures(folder, 0):
                self._make_room()
                self._images.mkdir(exist_ok=True)  # a full volume may have refused it at our start
                folder.mkdir(exist_ok=True)
            with closing(
                Journal(None if key is None else folder / "journal", self._step_bytes)
            ) as j:
                yield folder, j
        except WeightsError as error:
            keep = key is not None and error.reason in _PASSES
            raise
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
            if key is not None:
                with self._lock:
                    self._busy.discard(key)

    def _taken(self, key: str | None) -> str | None:
        """None, too, where another thread is in there."""
        with self._lock:
            if key is None or key in self._busy:
                return None
            self._busy.add(key)
            return key

    def _make_room(self) -> None:
        with self._lock:
            names = {f"{_PART}{each}" for each in self._busy}
            for other in self._images.glob(f"{_PART}*"):
                if other.name not in names:
                    shutil.rmtree(other, ignore_errors=True)
