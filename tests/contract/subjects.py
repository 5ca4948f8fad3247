"""What the suite is run against, and how each subject starts an engine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

import pytest

from contract.oracle import Oracle, RecordedOracle
from contract.under_test import CALL_S, EngineUnderTest, connected
from contract.weights import PlannedWeights, StockWeights, Weights
from realvllm import families, plugins, tiny
from realvllm.engine import engine
from realvllm.launch import Launch

OURS: Final = "weightrollout"
STOCK: Final = "stock"
STARTED_WITH: Final = "0.32"
CONTEXT_TOKENS: Final = 8192

StartEngine = Callable[..., AbstractAsyncContextManager[EngineUnderTest]]


class Subject(StrEnum):
    """`VLLM`: with its own reload. `PLUGIN`: with the product's plugin."""

    SIMULATOR = "simulator"
    VLLM = "vllm"
    PLUGIN = "vllm-plugin"

    @property
    def is_real(self) -> bool:
        return self is not Subject.SIMULATOR

    @property
    def backend(self) -> str:
        return STOCK if self is Subject.VLLM else OURS


@dataclass(frozen=True, slots=True)
class Pair:
    """Two checkpoints of one architecture, and what tells them apart."""

    a: Path
    b: Path
    oracle: Oracle


def params() -> list[object]:
    """Of the `subject` fixture. A start of a real engine may take minutes, and is part of a test's time."""
    real = [Subject.VLLM, *([Subject.PLUGIN] if plugins.ours_exists() else [])]
    marks = (pytest.mark.real_engine, pytest.mark.timeout(2400))
    return [Subject.SIMULATOR, *(pytest.param(subject, marks=marks) for subject in real)]


def real_pair() -> Pair:
    """Checkpoints that a real vLLM serves; the oracle has still to be told what it answers with them."""
    made = tiny.pair(families.ENDLESS)
    return Pair(made.a.target, made.b.target, RecordedOracle())


def real_launch(checkpoint: Path, backend: str) -> Launch:
    return Launch(checkpoint, backend, max_model_tokens=CONTEXT_TOKENS)


@asynccontextmanager
async def real(folder: Path, launch: Launch) -> AsyncIterator[EngineUnderTest]:
    """A real engine with its volumes below `folder`."""
    volumes = replace(launch, handover=folder / "handover", staging=folder / "staging")
    async with (
        engine(folder, volumes) as process,
        connected(process, _weights(launch.backend, folder)) as under_test,
    ):
        yield under_test


def _weights(backend: str, folder: Path) -> Weights:
    if backend == OURS:
        return PlannedWeights(folder / "handover", folder / "staging")
    return StockWeights()


@dataclass(frozen=True)
class RealStarts:
    """`start_engine` of a real subject: a fresh engine only where the shared one cannot show it."""

    shared: EngineUnderTest
    folder: Path
    pair: Pair
    subject: Subject

    @asynccontextmanager
    async def __call__(
        self,
        *,
        backend: str | None = None,
        vllm: str = STARTED_WITH,
        unmanaged: bool = True,
        update_seconds: float = 0.0,
        **cannot: object,
    ) -> AsyncIterator[EngineUnderTest]:
        """Skips, with the reason, what a real engine on this machine is not or cannot."""
        for flag in cannot:
            pytest.skip(_CANNOT[flag])
        if vllm != STARTED_WITH:
            pytest.skip(f"this engine is {STARTED_WITH}, not {vllm}")
        if not unmanaged:
            pytest.skip("`vllm serve` does not let its frontend manage the engine")
        if update_seconds and self.subject is not Subject.VLLM:
            pytest.skip("the product's plugin takes no longer than it must")
        if backend is None:
            await self.shared.settle(self.pair.a)
            self.shared.weights.update_seconds = update_seconds
            yield self.shared
        else:
            async with real(self.folder, real_launch(self.pair.a, backend)) as fresh:
                yield fresh


_CANNOT: Final = {
    "control_service": "0.32 and 0.33 name the service vllm.Control, and no flag changes it",
    "enable_sleep_mode": "sleep mode is not supported on CPU: vLLM does not start with it",
    "ranks": "one engine with several ranks is a subject of its own: see tests/vllm",
}


async def record(pair: Pair, name: str, fresh: EngineUnderTest) -> None:
    """Tell the oracle what a process that was started on this checkpoint answers."""
    assert isinstance(pair.oracle, RecordedOracle)
    assert await fresh.control.version(deadline_s=CALL_S) == "default"
    await pair.oracle.record(name, fresh)
