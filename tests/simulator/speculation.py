"""A speculative draft: its weights, and how many of its tokens the target accepts.

Accepted means: draft and target come from the same checkpoint. That is seen in the bytes: whatever
both of them hold under one name is equal. So a draft that is old, torn, or another one's is refused,
and an answer never depends on it.
"""

import threading
from dataclasses import dataclass, field

import numpy as np

from simulator.model import Model
from simulator.settings import Settings


def load_draft(settings: Settings) -> Model | None:
    """Of its own checkpoint or of the target's; None: the engine is started without one. Blocks."""
    if not settings.has_draft:
        return None
    return Model.load(settings.draft) if settings.draft else Model.load_mtp(settings.model)


@dataclass(slots=True)
class Speculation:
    target: Model
    draft: Model
    tokens: int  # speculated in each round
    rounds: int = 0
    accepted: int = 0  # tokens
    _judged: tuple[int, int] = (-1, -1)  # writes of target and draft at the newest comparison
    _fits: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def fresh(self) -> bool:
        """Whether `fits` answers without reading the weights."""
        return self._judged == (self.target.writes, self.draft.writes)

    def fits(self) -> bool:
        with self._lock:
            now = (self.target.writes, self.draft.writes)
            if self._judged != now:
                self._fits, self._judged = self._same_bytes(), now
            return self._fits

    def round(self) -> None:
        """One step of one request."""
        self.rounds += 1
        self.accepted += self.tokens if self.fits() else 0

    def _same_bytes(self) -> bool:
        mine = {tensor.name: tensor.data for tensor in self.draft.tensors}
        shared = [tensor for tensor in self.target.tensors if tensor.name in mine]
        return bool(shared) and all(
            np.array_equal(tensor.data, mine[tensor.name]) for tensor in shared
        )
