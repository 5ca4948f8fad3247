"""One pod of a node: its staging in a process of its own, which may end or freeze at a named place.

python -m sources.sharer ORDER   prints what came of it as a line of JSON
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reports import report_of
from weightrollout.weights import filling
from weightrollout.weights.build import StageCount
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.node_notices import Notice, Waiting
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.weights.sharing import Sharing
from weightrollout.weights.sources.retry import PATIENCE
from weightrollout.weights.staging import Store

#: Where a pod may be struck -> what is called there, and whether before or after the call.
PLACES = {
    "the lock is taken": (NodeVolume, "reader", False),
    "the first bytes are written": (filling, "_write", False),
    "all is read and not yet shown": (NodeVolume, "publish", True),
    "it was just shown": (NodeVolume, "publish", False),
}


@dataclass(frozen=True)
class Order:
    model: str  # folder with the same checkpoint, for the engine's report
    uri: str
    digest: str | None
    root: str  # the pod's own staging volume
    volume: str | None
    stalled_s: float = 30.0
    strike: str = ""  # one of PLACES
    signal: int = 0
    keep_free_percent: int = 0  # the disk of the tests may be as full as it likes
    gate: str = ""  # a file: begin when it is there, and say `<root>.ready` before


@dataclass
class Outcome:
    digest: str = ""
    reason: str = ""
    notices: list[str] | None = None
    notes: int = 0  # times that it said for whom it waits
    shared: int = 0  # bytes from the volume
    begun: float = 0.0  # of the machine's monotonic clock
    ended: float = 0.0


def stage(order: Order, *, cancelled: Callable[[], bool] = lambda: False) -> Outcome:
    found = Outcome(notices=[])
    notices = found.notices
    assert notices is not None

    def tell(notice: Notice) -> None:
        notices.append(str(notice))

    def progress(count: StageCount) -> None:
        found.notes += bool(count.note)
        found.shared = max(found.shared, count.shared)

    sharing = None
    if order.volume is not None:
        waiting = Waiting(stalled_s=order.stalled_s, tick_s=0.01)
        volume = NodeVolume(Path(order.volume), waiting, keep_free_percent=order.keep_free_percent)
        sharing = Sharing(volume, tell)
    store = Store(Path(order.root), threads=2, patience=PATIENCE, sharing=sharing)
    reports = [report_of(Path(order.model))]
    _wait_for(order)
    found.begun = time.monotonic()
    try:
        index = store.stage(
            order.uri,
            digest=order.digest,
            reports=reports,
            progress=progress,
            cancelled=cancelled,
        )
    except WeightsError as error:
        found.reason = str(error)
    else:
        found.digest = index.digest
    found.ended = time.monotonic()
    return found


def _wait_for(order: Order) -> None:
    if order.gate:
        Path(f"{order.root}.ready").touch()
        while not Path(order.gate).exists():
            time.sleep(0.005)


def started(order: Order, environment: Mapping[str, str] = {}) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "sources.sharer", json.dumps(asdict(order))],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def outcome(process: "subprocess.Popen[str]") -> Outcome:
    """Waits for its end."""
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0, process.returncode
    return Outcome(**json.loads(said.splitlines()[-1]))


def _arm(place: str, number: int) -> None:
    owner, name, before = PLACES[place]
    called: Callable[..., Any] = getattr(owner, name)
    once = threading.Lock()  # several threads come by, and a frozen one comes by again

    def strike() -> None:
        if once.acquire(blocking=False):
            os.kill(os.getpid(), number)

    def struck(*args: Any) -> Any:
        if before:
            strike()
        result = called(*args)
        if not before:
            strike()
        return result

    setattr(owner, name, struck)


if __name__ == "__main__":
    order = Order(**json.loads(sys.argv[1]))
    if order.strike:
        _arm(order.strike, signal.Signals(order.signal))
    print(json.dumps(asdict(stage(order))))
