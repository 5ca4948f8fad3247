"""What the suite is run against, what each subject can show, and how it starts an engine.

A test that needs something which not every subject can show says so by `needs`, and in which
versions of vLLM a behaviour was seen by `seen`. No test knows a subject's name.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from contract.oracle import Oracle, RecordedOracle
from contract.under_test import (
    CALL_S,
    Adapter,
    EngineUnderTest,
    by_dynamo,
    by_grpc,
    by_http,
    connected,
    planned,
)
from contract.weights import PlannedWeights, StockWeights, Weights
from dynamos.sidecar import DYNAMO_RUNTIME, engine_behind_dynamo
from frontend.binary import VLLM_RS
from frontend.process import frontend_process
from realvllm import families, plugins, tiny
from realvllm.engine import engine
from realvllm.guarded import guarded
from realvllm.launch import Frontend, Launch
from simulator.process import engine_process
from wheelmember import FetchFailed, Member

OURS: Final = "weightrollout"
STOCK: Final = "stock"
STARTED_WITH: Final = "0.32"
CONTEXT_TOKENS: Final = 8192
#: A tiny model answers 200 tokens before a busy machine has sent the next call.
STEP_S: Final = 0.01

StartEngine = Callable[..., AbstractAsyncContextManager[EngineUnderTest]]


class Can(StrEnum):
    """What a subject may be able to show; the value completes "this subject can not ..."."""

    ANSWER_BY_WEIGHTS = "answer with a function of the loaded bytes"
    BE_SLOW = "be told how long an update takes"
    BE_TORN = "be half-loaded by an update that was never prepared: it changes nothing"
    DRAIN = "be given time for running requests after SIGTERM"
    DRAFT = "be started with a speculative draft model"
    END_WHOLE = "end with its first process: its frontend lives on, until its container ends"
    MANAGE_ITS_ENGINE = "be started so that its frontend manages the engine: `vllm serve` does"
    NOTICE_WHO_LEFT = "be relied on to notice that a client left: in half of the runs it did not"
    RENAME_ITS_SERVICE = "serve vllm.Control under another name"
    RUN_UNMANAGED = "be started so that its frontend does not manage the engine"
    TAKE_ANY_TAG = "be woken by a tag that nobody knows"
    SPEAK_GRPC = "be asked by gRPC"
    INTERLEAVE = "take a call while another one has not ended"
    EMPTY_ITS_CACHE = "empty its prefix cache by itself"
    SERIALISE = "make changing calls wait for each other"
    SERVE_WHILE_LOADING = "serve between Start and Update: the next step finds no weights, and dies"
    SERVE_TWINS = "be asked over HTTP what vllm.Control is asked"
    SLEEP = "be started with sleep mode"
    SPLIT_RANKS = "be started with several ranks"
    STAY_WHOLE = "refuse an update that was never prepared without harm"
    TELL_LOGPROBS = "tell how likely its tokens were"
    USE_OTHER_BACKENDS = "be started with another transfer backend, or none"
    WRITE_FILES = "write reports, prepared files and receipts: it is vLLM's own reload"


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that this suite is about."""

    name: str
    versions: frozenset[str]  # of vLLM, that it behaves as
    can: frozenset[Can]
    start: StartEngine | None = None  # None: see `RealStarts`
    backend: str = OURS
    frontend: Frontend = Frontend.RUST
    obtain: Callable[[], object] = lambda: None  # slow and once; raises `Unavailable`

    def cannot(self, wanted: frozenset[Can]) -> str | None:
        lacks = sorted(wanted - self.can)
        return f"this subject can not {' or '.join(lacks)}" if lacks else None

    @property
    def is_real(self) -> bool:
        """A whole vLLM: it starts in half a minute, so one engine serves many tests."""
        return self.start is None


class Unavailable(Exception):
    """A subject can't be had on this machine; the message says why."""


def needs(*wanted: Can) -> pytest.MarkDecorator:
    """Only for subjects that can show all of this."""
    return pytest.mark.needs(*wanted)


def seen(*versions: str) -> pytest.MarkDecorator:
    """The minors of vLLM in which this behaviour was seen; absent: in all that are known."""
    return pytest.mark.seen(*versions)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two checkpoints of one architecture, and what tells them apart."""

    a: Path
    b: Path
    oracle: Oracle


def real_pair() -> Pair:
    """Checkpoints that a real vLLM serves; the oracle has still to be told what it answers with them."""
    made = tiny.pair(families.ENDLESS)
    return Pair(made.a.target, made.b.target, RecordedOracle())


def real_launch(checkpoint: Path, subject: Subject) -> Launch:
    environment = {"REALVLLM_STEP_SECONDS": str(STEP_S)}
    return Launch(
        *(checkpoint, subject.backend),
        frontend=subject.frontend,
        max_model_tokens=CONTEXT_TOKENS,
        environment=environment,
    )


@asynccontextmanager
async def real(folder: Path, launch: Launch) -> AsyncIterator[EngineUnderTest]:
    """A real engine with its volumes below `folder`."""
    started = replace(launch, handover=folder / "handover", staging=folder / "staging")
    adapter: Adapter = by_grpc
    if launch.frontend is Frontend.PYTHON:
        token = folder / "token"
        started, adapter = guarded(started, token), partial(by_http, token=token)
    async with (
        engine(folder, started) as process,
        connected(process, _weights(launch.backend, folder), adapter) as under_test,
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
        speculative: str = "",
        draft: Path | None = None,
        drain_seconds: float = 0.0,
        **cannot: object,
    ) -> AsyncIterator[EngineUnderTest]:
        """Skips, with the reason, what a real engine on this machine is not or cannot."""
        for flag in cannot:
            pytest.skip(_CANNOT[flag])
        if vllm != STARTED_WITH:
            pytest.skip(f"this engine is {STARTED_WITH}, not {vllm}")
        if not unmanaged:
            pytest.skip("`vllm serve` does not let its frontend manage the engine")
        if update_seconds and self.subject is not VLLM:
            pytest.skip("the product's plugin takes no longer than it must")
        flags: tuple[str, ...] = ()
        if speculative:
            flags += ("--speculative-config", _speculation(speculative, draft))
        if drain_seconds:
            flags += ("--shutdown-timeout", str(int(drain_seconds)))
        if backend is None and not flags:
            await self.shared.settle(self.pair.a)
            self.shared.weights.update_seconds = update_seconds
            yield self.shared
        else:
            wanted = real_launch(self.pair.a, self.subject)
            if backend is not None:
                wanted = replace(wanted, backend=backend)
            async with real(self.folder, replace(wanted, flags=wanted.flags + flags)) as fresh:
                yield fresh


def _speculation(method: str, draft: Path | None) -> str:
    return json.dumps({"method": method, "num_speculative_tokens": 2, "model": str(draft)})


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


def _obtain(member: Member) -> None:
    try:
        member.fetched()
    except FetchFailed as failed:
        raise Unavailable(str(failed)) from failed


_REAL: Final = frozenset(
    {
        Can.ANSWER_BY_WEIGHTS,
        Can.BE_SLOW,
        Can.BE_TORN,
        Can.DRAFT,
        Can.DRAIN,
        Can.NOTICE_WHO_LEFT,
        Can.RUN_UNMANAGED,
        Can.SERIALISE,
        Can.SERVE_WHILE_LOADING,
        Can.SERVE_TWINS,
        Can.SPEAK_GRPC,
        Can.TELL_LOGPROBS,
        Can.USE_OTHER_BACKENDS,
        Can.WRITE_FILES,
    }
)
#: Its plugin is as harsh as vLLM's own reload.
#: What the way to an engine has no part in is shown by the first subject alone.
_WHATEVER_THE_WAY: Final = frozenset(
    {Can.DRAIN, Can.SPLIT_RANKS, Can.TELL_LOGPROBS, Can.WRITE_FILES}
)
_OVER_HTTP: Final = frozenset({Can.EMPTY_ITS_CACHE, Can.INTERLEAVE})
_OVER_GRPC: Final = frozenset(
    {
        *(Can.SPEAK_GRPC, Can.SERIALISE, Can.SERVE_TWINS, Can.RENAME_ITS_SERVICE),
        *(Can.MANAGE_ITS_ENGINE, Can.RUN_UNMANAGED),
    }
)
_SIMULATED: Final = frozenset(Can) - {Can.SERVE_TWINS, Can.STAY_WHOLE} - _OVER_HTTP
SIMULATOR: Final = Subject(
    "simulator",
    frozenset(f"0.{minor}" for minor in range(27, 34)),
    _SIMULATED,
    partial(planned, engine_process),
)
#: As it is behind vLLM's Python frontend.
SIMULATOR_HTTP: Final = Subject(
    "simulator-http",
    frozenset({STARTED_WITH}),
    _SIMULATED - _OVER_GRPC - _WHATEVER_THE_WAY | _OVER_HTTP,
    partial(planned, engine_process, adapter=by_http, frontend="python", vllm=STARTED_WITH),
)
#: As it is reached through NVIDIA Dynamo's sidecar.
SIMULATOR_DYNAMO: Final = Subject(
    "simulator-dynamo",
    frozenset({"0.33"}),
    _SIMULATED
    - _WHATEVER_THE_WAY
    - {Can.SPEAK_GRPC, Can.RENAME_ITS_SERVICE, Can.USE_OTHER_BACKENDS, Can.TAKE_ANY_TAG},
    partial(planned, engine_process, adapter=by_dynamo, sidecar=True),
)
#: The same through the sidecar that Dynamo ships: its routes, its texts and its routing are its own word.
DYNAMO: Final = replace(
    SIMULATOR_DYNAMO,
    name="dynamo",
    start=partial(planned, engine_behind_dynamo, adapter=by_dynamo),
    obtain=partial(_obtain, DYNAMO_RUNTIME),
)
#: The core behind it is the simulator's: only the frontend is vLLM's own word.
FRONTEND: Final = Subject(
    "vllm-rs",
    frozenset({"0.33"}),
    _SIMULATED - {Can.NOTICE_WHO_LEFT, Can.RENAME_ITS_SERVICE, Can.TELL_LOGPROBS},
    partial(planned, frontend_process),
    obtain=partial(_obtain, VLLM_RS),
)
#: vLLM with its own reload.
VLLM: Final = Subject(
    "vllm",
    frozenset({STARTED_WITH}),
    _REAL - {Can.SERVE_WHILE_LOADING, Can.WRITE_FILES},
    backend=STOCK,
)
#: vLLM with the product's plugin, which takes no longer than it must.
PLUGIN: Final = Subject(
    "vllm-plugin",
    frozenset({STARTED_WITH}),
    _REAL - {Can.BE_SLOW, Can.BE_TORN} | {Can.STAY_WHOLE},
)
#: The same behind its Python frontend, in development mode and guarded.
PLUGIN_HTTP: Final = Subject(
    "vllm-plugin-http",
    frozenset({STARTED_WITH}),
    PLUGIN.can - _OVER_GRPC | _OVER_HTTP,
    frontend=Frontend.PYTHON,
)


def params() -> list[object]:
    """Of the `subject` fixture. A start of a real engine may take minutes, and is part of a test's time."""
    real = [VLLM, *([PLUGIN, PLUGIN_HTTP] if plugins.ours_exists() else [])]
    marks = (pytest.mark.real_engine, pytest.mark.timeout(2400))
    real_params = (pytest.param(subject, marks=marks) for subject in real)
    return [SIMULATOR, SIMULATOR_HTTP, SIMULATOR_DYNAMO, DYNAMO, FRONTEND, *real_params]
