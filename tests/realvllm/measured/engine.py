"""The backend `measured`: the product's, with a choice of path and a clock at each of its parts.

`choice.json` in the handover volume names the path of the next transaction; `own` is vLLM's own reload of a checkpoint folder.
After Finish `parts.json` has milliseconds and minor page faults of each part, apart from those of the parts inside it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import resource
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from stockreload.engine import tensors_of

from weightrollout.handover.records import TARGET
from weightrollout.plugin import engine, paths
from weightrollout.plugin.exchange import Exchange
from weightrollout.plugin.region import Region
from weightrollout.plugin.shadow import Shadow
from weightrollout.plugin.transfer import Transfer

CHOICE: Final = "choice.json"
PARTS: Final = "parts.json"


class Parts:
    """What each part of one thread took, by name."""

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, float]] = {}
        self._inner: list[list[float]] = []  # of what is running: what the parts inside it took

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        self._inner.append([0.0, 0.0])
        faults, begun = _faults(), time.perf_counter()
        try:
            return work()
        finally:
            millis, faulted = 1000 * (time.perf_counter() - begun), _faults() - faults
            inner_millis, inner_faulted = self._inner.pop()
            own = self.taken.setdefault(name, {"ms": 0.0, "faults": 0.0})
            own["ms"] += millis - inner_millis
            own["faults"] += faulted - inner_faulted
            if self._inner:
                self._inner[-1][0] += millis
                self._inner[-1][1] += faulted


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


_threads = threading.local()


def _parts() -> Parts:
    if not hasattr(_threads, "parts"):
        _threads.parts = Parts()
    parts: Parts = _threads.parts
    return parts


def _timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **keywords: Any) -> Any:
        return _parts().timed(name, lambda: function(*args, **keywords))

    return wrapper


class Own(paths.Path):
    """vLLM's own reload of the chosen folder: nothing before the pause, all of it in it."""

    folder = ""

    def prepare(self) -> None:
        """Nothing."""

    def start(self) -> None:
        from vllm.model_executor.model_loader.reload import initialize_layerwise_reload

        _parts().timed("begin", lambda: initialize_layerwise_reload(self.subject.model))

    def apply(self) -> None:
        folder = Path(self.folder)
        with torch.no_grad():
            _parts().timed(
                "load and pack", lambda: self.subject.model.load_weights(tensors_of(folder))
            )

    def finish(self) -> None:
        from vllm.model_executor.model_loader.reload import finalize_layerwise_reload

        with torch.no_grad():
            _parts().timed(
                "end",
                lambda: finalize_layerwise_reload(self.subject.model, self.subject.model_config),
            )


class Measured(engine.WeightRolloutEngine):
    """One transaction at a time."""

    def _made_ready(self, txn: str, session: str, digest: str, region_name: str) -> engine.Ready:
        if session == TARGET:
            _threads.parts = Parts()
        choice = json.loads((self._handover / CHOICE).read_bytes())
        Own.folder = choice["folder"]
        side = self._sides[session]
        self._sides[session] = dataclasses.replace(side, path=choice["path"])
        ready = super()._made_ready(txn, session, digest, region_name)
        self._before = _parts().taken
        return ready

    def start_weight_update(self) -> None:
        if self.model is self._default_model:
            _threads.parts = Parts()
        super().start_weight_update()

    def finish_weight_update(self) -> None:
        super().finish_weight_update()
        said = {"prepare": self._before, "pause": _parts().taken}
        (self._handover / PARTS).write_text(json.dumps(said))


def _install() -> None:
    paths.PATHS["own"] = Own
    paths._let_go = _timed("let go", paths._let_go)
    engine.heal = _timed("look for parked tensors", engine.heal)  # type: ignore[attr-defined]
    Shadow.of = classmethod(_timed("build", Shadow.of.__func__))  # type: ignore[attr-defined, method-assign, assignment]
    Exchange.of = classmethod(_timed("compare", Exchange.of.__func__))  # type: ignore[attr-defined, method-assign, assignment]
    Transfer.prepare = classmethod(_timed("plan copies", Transfer.prepare.__func__))  # type: ignore[attr-defined, method-assign, assignment]
    kinds: tuple[tuple[Any, str, str], ...] = (
        (Shadow, "load", "load"),
        (Shadow, "process", "pack"),
        (Exchange, "apply", "exchange"),
        (Transfer, "run", "copy"),
        (paths.Direct, "guard", "guard"),
        (Region, "populate", "map"),
        (Region, "sums", "checksum"),
    )
    for kind, method, name in kinds:
        setattr(kind, method, _timed(name, getattr(kind, method)))


_install()
