"""Faults by script: which call goes wrong, which time, and how.

    [{"call": "UpdateWeights", "at": 1, "do": "die_midway"},
     {"call": "completions", "do": "slow", "seconds": 0.5}]

`call` is an RPC of vllm.Control, or "completions", or "metrics", or "health" (gRPC's own service). An RPC with "/draft" behind it is
met only while the session of the speculative draft is open. `at` counts calls of that name since the list
was loaded, from 1; absent means every call. The first fault that fits is taken.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from weightrollout.wire.vllm import control_pb2 as pb

IN_DRAFT: Final = "/draft"
_RPCS: Final = frozenset(
    method.name for method in pb.DESCRIPTOR.services_by_name["Control"].methods
)
CALLS: Final = (
    _RPCS | frozenset(f"{name}{IN_DRAFT}" for name in _RPCS) | {"completions", "metrics", "health"}
)


class Do(StrEnum):
    REFUSE = "refuse"  # `code` (FAILED_PRECONDITION, HTTP 503), nothing executed
    ERROR = "error"  # `code` (INTERNAL, HTTP 500), nothing executed; UpdateWeights: half of the bytes are
    ERROR_AFTER = "error_after"  # executed, then `code` (INTERNAL)
    LABEL_FAILS = "label_fails"  # FinishWeightUpdate: weights finalised, label not set, INTERNAL
    HANG = "hang"  # never answers, nothing executed; a mutating call holds the mutex meanwhile
    LATE = "late"  # never answers; executed when the faults are replaced, whatever came in between
    SLOW = "slow"  # the engine core is busy for `seconds` before it executes
    DIE = "die"  # the process ends at once
    DIE_MIDWAY = "die_midway"  # UpdateWeights: the process ends when half of the bytes are written
    OK_NOTHING = "ok_nothing"  # answers OK and did nothing
    STALE_BLOCK = "stale_block"  # UpdateWeights: the last block stays old, the receipt denies it
    LIE_RECEIPT = "lie_receipt"  # UpdateWeights: good weights, a receipt with a wrong checksum
    RECEIPT_WITHOUT_BLOCK = "receipt_without_block"  # of good weights, as the next four
    RECEIPT_OF_OTHER_TXN = "receipt_of_other_txn"
    RECEIPT_OF_OTHER_INSTANCE = "receipt_of_other_instance"
    RECEIPT_TORN = "receipt_torn"  # half a file
    RECEIPT_OF_RANK_MISSING = "receipt_of_rank_missing"  # that of the highest rank
    RESUMES = "resumes"  # executed and answered; then the engine resumes by itself
    PAUSES = "pauses"  # executed and answered; then someone pauses the engine
    LIE_VERSION = "lie_version"  # GetWeightVersion: answers another label
    LIE_INSTANCE = "lie_instance"  # GetServerInfo: answers as another process


@dataclass(frozen=True, slots=True)
class Fault:
    call: str
    do: Do
    at: int | None = None
    seconds: float = 0.0
    code: str | None = None  # name of a gRPC code; completions: an HTTP status

    @classmethod
    def parse(cls, entry: Any) -> "Fault":
        known = {"call", "do", "at", "seconds", "code"}
        if not isinstance(entry, dict) or not {"call", "do"} <= set(entry) <= known:
            raise ValueError(f"a fault is an object with call, do [at, seconds, code]: {entry!r}")
        call = "GetServerInfo" if entry["call"] == "info" else str(entry["call"])
        if call not in CALLS:
            raise ValueError(f"no call {call!r} for a fault: one of {', '.join(sorted(CALLS))}")
        code = entry.get("code")
        return cls(
            call,
            Do(entry["do"]),
            entry.get("at"),
            float(entry.get("seconds", 0.0)),
            None if code is None else str(code),
        )


@dataclass(slots=True)
class _Armed:
    fault: Fault
    seen: int = 0

    def fits(self) -> bool:
        self.seen += 1
        return self.fault.at in (None, self.seen)


@dataclass(slots=True)
class Faults:
    """Counts calls and says which of them fail. `file` is read again when it changes."""

    file: Path | None = None
    calls: Counter[str] = field(default_factory=Counter)
    pending: int = 0  # calls that are late, and not executed yet
    replaced: asyncio.Event = field(default_factory=asyncio.Event)  # the present faults were
    _armed: list[_Armed] = field(default_factory=list)
    _file_seen: tuple[int, int] | None = None  # mtime in ns, size

    def load(self, entries: Sequence[Any]) -> None:
        """Replace all faults. Raises ValueError and keeps the old ones where one is wrong."""
        self._armed = [_Armed(Fault.parse(entry)) for entry in entries]
        replaced, self.replaced = self.replaced, asyncio.Event()
        replaced.set()

    def take(self, call: str, *, in_draft: bool = False) -> Fault | None:
        """Count a call; the fault it meets. `in_draft`: the draft's session is open."""
        self._reload()
        self.calls[call] += 1
        hit: Fault | None = None
        names = (call, f"{call}{IN_DRAFT}") if in_draft else (call,)
        for armed in self._armed:
            if armed.fault.call in names and armed.fits() and hit is None:
                hit = armed.fault
        return hit

    def _reload(self) -> None:
        if self.file is None:
            return
        try:
            stat = self.file.stat()
            seen = (stat.st_mtime_ns, stat.st_size)
            if seen == self._file_seen:
                return
            self._file_seen = seen
            self.load(json.loads(self.file.read_text()))
        except FileNotFoundError:
            self._armed = []
        except ValueError as error:
            # Not fatal: the writer may be in the middle of it, and then the file changes again.
            print(f"simulator: {self.file} ignored: {error}", file=sys.stderr, flush=True)
