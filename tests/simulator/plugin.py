"""The plugin's side of `handover`: report at load, prepare beside serving, copy in the pause.

Direct path only: Start and Finish touch no weights. Harsher than that path on purpose: any failed
Update leaves the model half-loaded, as vLLM's own reload does.
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
from simulator.layout import reports, shards
from simulator.model import Bytes, Model
from simulator.settings import Settings
from weightrollout.handover import files, records
from weightrollout.handover.records import (
    BlockSum,
    ExitRequest,
    HandoverError,
    InitInfo,
    Prepared,
    Receipt,
    UpdateInfo,
)

EXIT_POLL_S: Final = 0.1
OURS: Final = ("report-*.json", "prepared-*.json", "receipt-*.json", files.EXIT_REQUEST)


class WorkerError(Exception):
    """An exception in a worker: the frontend answers INTERNAL with its text."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An image that is mapped for one transaction."""

    txn: str
    digest: str
    sources: list[RankSource]


class Plugin:
    def __init__(self, settings: Settings, model: Model) -> None:
        if settings.handover is None or settings.staging is None:
            raise ValueError("the plugin needs a handover and a staging volume")
        self._handover: Path = settings.handover
        self._staging: Path = settings.staging
        self._settings = settings
        self._model = model
        self._shards = shards(model, settings.ranks)
        self._bytes = sum(live.size for shard in self._shards for live in shard.live)
        self._lock = threading.Lock()
        self._ready: Ready | None = None
        self._newest = ""  # transaction of the newest Init: an older thread must not overwrite it
        self._session: str | None = None  # "target" or "draft" while an update session is open
        self._updated = False  # an Update of this session succeeded

    def announce(self) -> None:
        """At load: remove what earlier processes left behind, write one report per rank."""
        self._handover.mkdir(parents=True, exist_ok=True)
        for pattern in OURS:
            for path in self._handover.glob(pattern):
                path.unlink(missing_ok=True)
        for report in reports(self._settings, self._model, self._shards):
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
        if self._session is not None:
            raise WorkerError(
                "start_weight_update called while a weight update is already active."
                " Call finish_weight_update first."
            )
        self._session = session
        self._updated = False

    async def update(self, payload: bytes, *, asleep: bool, fault: Do | None) -> None:
        if self._session is None:
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
            self._model.half_loaded |= self._session == "target"
            self._session = None
            raise
        self._updated = True

    def finish(self) -> None:
        if self._session is None:
            raise WorkerError("finish_weight_update called without a matching start_weight_update.")
        self._session = None
        if self._updated:
            self._model.half_loaded = False

    # Inside.

    def _prepare(self, info: InitInfo) -> None:
        try:
            sources = open_image(info, self._staging, self._shards)
        except (ImageRefused, HandoverError) as error:
            reason = error.reason if isinstance(error, ImageRefused) else "ImageMismatch"
            self._write_prepared(info, reason, str(error))
            return
        with self._lock:
            if self._newest != info.txn:
                return
            self._ready = Ready(info.txn, info.digest, sources)
        self._write_prepared(info, "", "")

    def _write_prepared(self, info: InitInfo, reason: str, message: str) -> None:
        for shard in self._shards:
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
        if self._session == "draft":
            raise WorkerError("the simulator holds no draft weights")
        ready = self._ready
        if ready is None or (ready.txn, ready.digest) != (info.txn, info.digest):
            raise WorkerError(f"transaction {info.txn} is not prepared for {info.digest}")
        begun = time.monotonic()
        await asyncio.to_thread(self._copy, ready, fault)
        if fault is Do.ERROR:
            raise WorkerError("CUDA error: an illegal memory access was encountered (simulated)")
        if fault is Do.DIE_MIDWAY:
            die(CRASHED, "fault: died in the middle of an update")
        self._write_receipts(ready, fault, millis=1000 * (time.monotonic() - begun))

    def _copy(self, ready: Ready, fault: Do | None) -> None:
        pairs = list(self._pairs(ready))
        if fault is Do.STALE_BLOCK:
            pairs.pop()
        half = fault in (Do.ERROR, Do.DIE_MIDWAY)
        seconds = self._settings.update_seconds
        self._model.touch()
        copy(
            pairs,
            limit=self._bytes // 2 if half else self._bytes,
            bytes_per_second=self._bytes / seconds if seconds > 0 else float("inf"),
        )
        self._model.touch()

    def _pairs(self, ready: Ready) -> Iterator[tuple[Bytes, Bytes]]:
        for shard, source in zip(self._shards, ready.sources, strict=True):
            yield from zip(shard.live, source.blocks, strict=True)

    def _write_receipts(self, ready: Ready, fault: Do | None, *, millis: float) -> None:
        for shard, source in zip(self._shards, ready.sources, strict=True):
            receipt = Receipt(
                txn=ready.txn,
                rank=shard.plan.rank,
                instance=self._settings.instance,
                digest=ready.digest,
                plan_id=self._shards[0].plan.plan_id(),
                names=tuple(sorted(shard.plan.consumed())),
                blocks=source.sums,
                pointers_ok=True,
                path="direct",
                millis=millis,
            )
            self._hand_in(receipt, fault)

    def _hand_in(self, receipt: Receipt, fault: Do | None) -> None:
        path = files.receipt(self._handover, receipt.txn, receipt.rank)
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
            case Do.RECEIPT_OF_RANK_MISSING if receipt.rank == len(self._shards) - 1:
                return
        records.write(path, receipt)
