"""Staged images in a shared volume, copied by the engine's own plugin; proof by receipts."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, Self, TypeVar

from weightrollout.api.swap import FailureClass
from weightrollout.clock import Clock
from weightrollout.handover import files, records
from weightrollout.handover.proof import disproof
from weightrollout.handover.records import (
    TARGET,
    EngineReport,
    HandoverError,
    ImageIndex,
    InitInfo,
    LoadPlan,
    Prepared,
    Receipt,
    UpdateInfo,
)
from weightrollout.swap.backends.protocol import BackendError, Transfer
from weightrollout.swap.records import Answer, Failure
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.golden import Golden

T = TypeVar("T")

log = logging.getLogger(__name__)

#: How often the volume is looked at for the plugin's answer: two stats per rank, and the pause of
#: a resent cycle waits for it.
POLL_S: Final = 0.005
#: A failure is journaled, and what the plugin wrote may have any length.
MAX_MESSAGE: Final = 1024


class Images(Protocol):
    """The part of the staging store that a swap needs."""

    def index(self, digest: str, plan_id: str) -> ImageIndex | None: ...

    def golden(self, digest: str, plan_id: str) -> Golden | None:
        """Raises WeightsError."""
        ...


class SharedMemory:
    """For one transaction with one engine process, whose reports were read before."""

    def __init__(
        self, images: Images, handover: Path, reports: Sequence[EngineReport], clock: Clock
    ) -> None:
        self._images = images
        self._handover = handover
        self._target = _Wanted.of([report.plan for report in reports])
        drafts = [report.draft.plan for report in reports if report.draft is not None]
        self._draft = _Wanted.of(drafts)
        self._clock = clock
        self._indexes: dict[tuple[str, str], ImageIndex] = {}
        self._goldens: dict[str, Golden | None] = {}

    def init_info(self, transfer: Transfer) -> bytes:
        digest = transfer.content.digest
        self._index(digest, self._target)
        region = files.region(digest, self._target.plan_id)
        if not transfer.draft:
            return records.dumps(InitInfo(txn=transfer.id, digest=digest, region=region))
        self._index(transfer.draft, self._draft)
        draft_region = files.region(transfer.draft, self._draft.plan_id)
        info = InitInfo(transfer.id, digest, region, transfer.draft, draft_region)
        return records.dumps(info)

    def update_info(self, transfer: Transfer, *, session: str = TARGET) -> bytes:
        digest, _ = self._of(transfer, session)
        return records.dumps(UpdateInfo(txn=transfer.id, digest=digest, session=session))

    async def prepared(self, transfer: Transfer, *, deadline_s: float) -> None:
        until = self._clock.monotonic() + deadline_s
        waiting = {plan.rank for plan in self._target.plans}
        while True:
            waiting -= {rank for rank in waiting if self._is_prepared(transfer, rank)}
            if not waiting:
                return
            if self._clock.monotonic() >= until:
                raise _failed(
                    Answer.UNKNOWN,
                    "PrepareTimedOut",
                    f"rank {min(waiting)} was not prepared within {deadline_s:.1f} s",
                )
            await asyncio.sleep(POLL_S)

    def golden(self, transfer: Transfer) -> Golden | None:
        digest = transfer.content.digest
        if digest not in self._goldens:
            self._index(digest, self._target)
            try:
                self._goldens[digest] = self._images.golden(digest, self._target.plan_id)
            except WeightsError as error:
                raise _not_staged(error.message) from error
        return self._goldens[digest]

    def prove(self, transfer: Transfer, *, session: str = TARGET) -> None:
        digest, wanted = self._of(transfer, session)
        index = self._index(digest, wanted)
        found = [
            _read(Receipt, files.receipt(self._handover, transfer.id, plan.rank, session=session))
            for plan in wanted.plans
        ]
        wrong = disproof(
            [receipt for receipt in found if receipt is not None],
            index,
            wanted.plans,
            txn=transfer.id,
            instance=transfer.instance,
            session=session,
        )
        if wrong is not None:
            failure = Failure(FailureClass.WEIGHTS, "ReceiptsDiffer", wrong[:MAX_MESSAGE])
            raise BackendError(Answer.WRONG, failure)

    def _is_prepared(self, transfer: Transfer, rank: int) -> bool:
        found = _read(Prepared, files.prepared(self._handover, transfer.id, rank))
        if found is None or found.instance != transfer.instance:
            return False
        if found.digest != transfer.content.digest or not found.ok:
            raise _failed(
                Answer.WRONG,
                "PrepareFailed",
                f"rank {rank}: {found.reason or 'WrongDigest'}: {found.message or found.digest}",
            )
        return True

    def _of(self, transfer: Transfer, session: str) -> tuple[str, "_Wanted"]:
        """Digest and layout of what a session loads."""
        if session == TARGET:
            return transfer.content.digest, self._target
        return transfer.draft, self._draft

    def _index(self, digest: str, wanted: "_Wanted") -> ImageIndex:
        key = (digest, wanted.plan_id)
        index = self._indexes.get(key)
        if index is None and wanted.plan_id:  # without a report nothing is known to fit
            index = self._images.index(digest, wanted.plan_id)
        if index is None:
            raise _not_staged(f"{digest} has no image for this engine")
        self._indexes[key] = index
        return index


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The layout of an image on all ranks."""

    plans: tuple[LoadPlan, ...]
    plan_id: str  # of rank 0; "" where nobody reported one

    @classmethod
    def of(cls, plans: Sequence[LoadPlan]) -> Self:
        """Hashing a plan takes milliseconds: done once, while the engine serves."""
        plan_id = next((plan.plan_id() for plan in plans if plan.rank == 0), "")
        return cls(tuple(plans), plan_id)


def _read(kind: type[T], path: Path) -> T | None:
    try:
        return records.read(kind, path)
    except (HandoverError, OSError) as error:
        raise _failed(Answer.WRONG, "HandoverUnreadable", f"{path.name}: {error}") from error


def _not_staged(message: str) -> BackendError:
    return BackendError(Answer.REFUSED, Failure(FailureClass.ENVIRONMENT, "NotStaged", message))


def _failed(answer: Answer, reason: str, message: str) -> BackendError:
    return BackendError(answer, Failure(FailureClass.POD, reason, message[:MAX_MESSAGE]))


def forget_others(handover: Path, txn: str) -> None:
    """Remove answers of earlier transactions. The newest stay: they are evidence.

    What cannot be removed stays too: answers name their transaction, so they deceive nobody.
    """
    try:
        for kind in ("prepared", "receipt"):
            for path in handover.glob(f"{kind}-*.json"):
                if not files.is_answer_of(txn, path.name):
                    path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("old answers in %s: %s", handover, error)
