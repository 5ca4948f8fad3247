"""The plugin's side of `handover`: report at load, prepare beside serving, copy in the pause.

Direct path only: Start and Finish touch no weights. Harsher than that path on purpose: any failed
Update leaves the model half-loaded, as vLLM's own reload does. A torn draft only speculates badly.
"""

import asyncio
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from simulator.death import CRASHED, die
from simulator.faults import Do
from simulator.image import ImageRefused, RankSource, copy, open_image
from simulator.layout import Side, reports
from simulator.model import Bytes, Model
from simulator.settings import Settings
from weightrollout.handover import answers, files, records
from weightrollout.handover.records import (
    DRAFT,
    TARGET,
    BlockSum,
    ExitRequest,
    HandoverError,
    InitInfo,
    Prepared,
    Receipt,
    UpdateInfo,
)

EXIT_POLL_S: Final = 0.1


class WorkerError(Exception):
    """An exception in a worker: the frontend answers INTERNAL with its text."""


@dataclass(frozen=True, slots=True)
class Loadable:
    """An image that is mapped, and where its bytes go."""

    digest: str
    side: Side
    sources: list[RankSource]


@dataclass(frozen=True, slots=True)
class Ready:
    """What is mapped for one transaction, by session."""

    txn: str
    images: dict[str, Loadable]


class Plugin:
    def __init__(self, settings: Settings, model: Model, draft: Model | None = None) -> None:
        if settings.handover is None or settings.staging is None:
            raise ValueError("the plugin needs a handover and a staging volume")
        self._handover: Path = settings.handover
        self._staging: Path = settings.staging
        self._settings = settings
        self._target = Side.of(model, settings.ranks)
        self._draft = Side.of(draft, settings.ranks) if draft is not None else None
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        self._newest = ""  # transaction of the newest Init: an older thread must not overwrite it
        self.session = ""  # TARGET or DRAFT while an update session is open
        self.draft_updates = 0  # that were executed
        self._updated = False  # an Update of this session succeeded

    def announce(self) -> None:
        """At load: remove what earlier processes left behind, write one report per rank."""
        for rank in range(self._settings.ranks):
            answers.remove_old(self._handover, rank)
        for report in reports(self._settings, self._target, self._draft):
            records.write(files.report(self._handover, report.rank), report)

    async def obey_exit_requests(self) -> None:
        """End this process when the agent asks this very process to."""
        path = files.exit_request(self._handover)
        while True:
            if path.exists():
                self._obey(path)
            await asyncio.sleep(EXIT_POLL_S)

    def _obey(self, path: Path) -> None:
        try:
            request = records.read(ExitRequest, path)
        except HandoverError:
            request = None
        path.unlink(missing_ok=True)
        if request is not None and request.instance == self._settings.instance:
            die(CRASHED, f"exit request: {request.reason}")

    # Utility calls, run by the core.

    def init(self, payload: bytes) -> None:
        """Answers at once; `prepared` files tell when and how it ended."""
        try:
            info = records.loads(InitInfo, payload)
        except HandoverError as error:
            raise WorkerError(f"Invalid init_info for WeightRolloutEngine: {error}") from error
        with self._lock:
            self._ready = None
            self._newest = info.txn
        threading.Thread(target=self._prepare, args=(info,), daemon=True).start()

    def start(self, session: str) -> None:
        if self.session:
            raise WorkerError(
                "start_weight_update called while a weight update is already active."
                " Call finish_weight_update first."
            )
        if self._ready is None or session not in self._ready.images:
            raise WorkerError(f"no {session} is prepared in this process: send Init first")
        self.session = session
        self._updated = False

    async def update(self, payload: bytes, *, asleep: bool, fault: Do | None) -> None:
        if not self.session:
            raise WorkerError("start_weight_update must be called before update_weights.")
        if asleep:
            die(
                CRASHED,
                "segmentation fault: weights were written while they were unmapped (vLLM #57853)",
            )
        if fault is Do.OK_NOTHING:
            return
        try:
            await self._update(payload, fault)
        except WorkerError:
            self._target.model.half_loaded |= self.session == TARGET
            self.session = ""
            raise
        self._updated = True

    def finish(self) -> None:
        if not self.session:
            raise WorkerError("finish_weight_update called without a matching start_weight_update.")
        session, self.session = self.session, ""
        if self._updated and session == TARGET:
            self._target.model.half_loaded = False

    # Inside.

    def _prepare(self, info: InitInfo) -> None:
        try:
            images = self._map(info)
        except (ImageRefused, HandoverError) as error:
            reason = error.reason if isinstance(error, ImageRefused) else "ImageMismatch"
            self._write_prepared(info, reason, str(error))
            return
        with self._lock:
            if self._newest != info.txn:
                return
            self._ready = Ready(info.txn, images)
        self._write_prepared(info, "", "")

    def _map(self, info: InitInfo) -> dict[str, Loadable]:
        target = self._target
        sources = open_image(info.digest, info.region, self._staging, target.shards)
        images = {TARGET: Loadable(info.digest, target, sources)}
        if not info.draft_digest:
            return images
        if self._draft is None:
            raise ImageRefused("DraftMissing", "this engine has no draft")
        where = (info.draft_digest, info.draft_region)
        sources = open_image(*where, self._staging, self._draft.shards)
        return {**images, DRAFT: Loadable(info.draft_digest, self._draft, sources)}

    def _write_prepared(self, info: InitInfo, reason: str, message: str) -> None:
        for shard in self._target.shards:
            rank = shard.plan.rank
            prepared = Prepared(
                txn=info.txn,
                rank=rank,
                instance=self._settings.instance,
                digest=info.digest,
                ok=not reason,
                reason=reason,
                message=message,
            )
            records.write(files.prepared(self._handover, info.txn, rank), prepared)

    async def _update(self, payload: bytes, fault: Do | None) -> None:
        try:
            info = records.loads(UpdateInfo, payload)
        except HandoverError as error:
            raise WorkerError(f"Invalid update_info for WeightRolloutEngine: {error}") from error
        if info.session != self.session:
            raise WorkerError(f"an update of the {info.session} in a session of the {self.session}")
        ready = self._ready
        image = ready.images.get(info.session) if ready is not None else None
        if ready is None or image is None or (ready.txn, image.digest) != (info.txn, info.digest):
            raise WorkerError(f"transaction {info.txn} is not prepared for {info.digest}")
        begun = time.monotonic()
        await asyncio.to_thread(self._copy, image, fault)
        self.draft_updates += self.session == DRAFT
        if fault is Do.ERROR:
            raise WorkerError("CUDA error: an illegal memory access was encountered (simulated)")
        if fault is Do.DIE_MIDWAY:
            die(CRASHED, "fault: died in the middle of an update")
        self._write_receipts(ready.txn, image, fault, millis=1000 * (time.monotonic() - begun))

    def _copy(self, image: Loadable, fault: Do | None) -> None:
        side, pairs = image.side, list(_pairs(image))
        if fault is Do.STALE_BLOCK:
            pairs.pop()
        half = fault in (Do.ERROR, Do.DIE_MIDWAY)
        seconds = self._settings.update_seconds
        side.model.touch()
        copy(
            pairs,
            limit=side.bytes // 2 if half else side.bytes,
            bytes_per_second=side.bytes / seconds if seconds > 0 else float("inf"),
        )
        side.model.touch()

    def _write_receipts(
        self, txn: str, image: Loadable, fault: Do | None, *, millis: float
    ) -> None:
        for shard, source in zip(image.side.shards, image.sources, strict=True):
            receipt = Receipt(
                txn=txn,
                rank=shard.plan.rank,
                instance=self._settings.instance,
                digest=image.digest,
                plan_id=image.side.shards[0].plan.plan_id(),
                names=tuple(sorted(shard.plan.consumed())),
                blocks=source.sums,
                pointers_ok=True,
                path="direct",
                millis=millis,
                session=self.session,
            )
            self._hand_in(receipt, fault)

    def _hand_in(self, receipt: Receipt, fault: Do | None) -> None:
        session = receipt.session
        path = files.receipt(self._handover, receipt.txn, receipt.rank, session=session)
        match fault:
            case Do.LIE_RECEIPT:
                first, *rest = receipt.blocks
                wrong = BlockSum(first.parameter, first.bytes, zlib.crc32(b"a lie"))
                receipt = replace(receipt, blocks=(wrong, *rest))
            case Do.RECEIPT_WITHOUT_BLOCK:
                receipt = replace(receipt, blocks=receipt.blocks[:-1])
            case Do.RECEIPT_OF_OTHER_TXN:
                receipt = replace(receipt, txn="another")
            case Do.RECEIPT_OF_OTHER_INSTANCE:
                receipt = replace(receipt, instance="another")
            case Do.RECEIPT_TORN:
                whole = records.dumps(receipt)
                path.write_bytes(whole[: len(whole) // 2])
                return
            case Do.RECEIPT_OF_RANK_MISSING if receipt.rank == self._settings.ranks - 1:
                return
        records.write(path, receipt)


def _pairs(image: Loadable) -> Iterator[tuple[Bytes, Bytes]]:
    for shard, source in zip(image.side.shards, image.sources, strict=True):
        yield from zip(shard.live, source.blocks, strict=True)
