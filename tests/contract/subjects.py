"""What the suite is about, one entry each, and what each of them can show.

A test that needs something which not every subject can show says so by `needs`, and in which
versions of vLLM a behaviour was seen by `seen`. No test knows a subject's name.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

import pytest

from frontend.binary import FetchFailed, frontend_binary
from frontend.process import frontend_process
from simulator.process import engine_process


class Can(StrEnum):
    """What a subject may be able to show; the value completes "this subject can not ..."."""

    ANSWER_BY_WEIGHTS = "answer with a function of the loaded bytes"
    BE_SLOW = "be told how long an update takes"
    DRAFT = "be started with a speculative draft model"
    FREEZE = "tell how many requests wait in a pause"
    RENAME_ITS_SERVICE = "serve vllm.Control under another name"
    RUN_UNMANAGED = "be started so that its frontend does not manage the engine"
    SLEEP = "be started with sleep mode"
    SPLIT_RANKS = "be started with several ranks"
    USE_OTHER_BACKENDS = "be started with another transfer backend, or none"


class Process(Protocol):
    """How a subject is reached and ended."""

    @property
    def http_url(self) -> str: ...

    @property
    def grpc_target(self) -> str: ...

    def kill(self, signal_number: int = ..., /) -> None: ...

    async def exit_code(self) -> int:
        """Wait until nothing of it runs any more."""
        ...

    async def restart(self) -> None:
        """As a kubelet does: kill what still runs, start again at the same address."""
        ...


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that this suite is about."""

    name: str
    versions: frozenset[str]  # of vLLM, that it behaves as
    can: frozenset[Can]
    start: Callable[..., AbstractAsyncContextManager[Process]]
    obtain: Callable[[], object] = lambda: None  # slow and once; raises `Unavailable`

    def cannot(self, wanted: frozenset[Can]) -> str | None:
        lacks = sorted(wanted - self.can)
        return f"this subject can not {' or '.join(lacks)}" if lacks else None


class Unavailable(Exception):
    """A subject can't be had on this machine; the message says why."""


def needs(*wanted: Can) -> pytest.MarkDecorator:
    """Only for subjects that can show all of this."""
    return pytest.mark.needs(*wanted)


def seen(*versions: str) -> pytest.MarkDecorator:
    """The minors of vLLM in which this behaviour was seen; absent: in all that are known."""
    return pytest.mark.seen(*versions)


def _obtain_frontend() -> None:
    try:
        frontend_binary()
    except FetchFailed as failed:
        raise Unavailable(str(failed)) from failed


#: The core behind it is the simulator's: only the frontend is vLLM's own word.
FRONTEND: Final = Subject(
    "vllm-rs",
    frozenset({"0.33"}),
    frozenset(Can) - {Can.RENAME_ITS_SERVICE},
    frontend_process,
    _obtain_frontend,
)
SUBJECTS: Final = (
    Subject(
        "simulator",
        frozenset(f"0.{minor}" for minor in range(27, 34)),
        frozenset(Can),
        engine_process,
    ),
    FRONTEND,
)
