"""How the weights of a checkpoint get in front of an engine under test."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol, TypeVar

from contract.staged import stage
from weightrollout.handover import files, records
from weightrollout.handover.records import EngineReport, InitInfo, Prepared, Receipt, UpdateInfo

Record = TypeVar("Record")
_transactions = itertools.count(1)

NO_FILES: Final = "vLLM's own reload writes no files: this test lacks needs(Can.WRITE_FILES)"


class Weights(Protocol):
    """One backend of weight transfer, from the agent's side."""

    update_seconds: float  # how long an Update takes at least, where it can be told

    @property
    def handover(self) -> Path:
        """The volume with the engine's files."""

    @property
    def staging(self) -> Path:
        """The volume with the images."""

    def staged(self, checkpoint: Path, draft: Path | None = None) -> InitInfo:
        """Make `checkpoint` available to the engine under a new transaction; `draft`: of its draft, too."""

    def init_payload(self, info: InitInfo) -> bytes:
        """For InitWeightTransferEngine."""

    def update_payload(self, info: InitInfo) -> bytes:
        """For UpdateWeights."""

    def prepared(self, info: InitInfo, rank: int = 0) -> Prepared | None:
        """What the engine says of an Init; None: nothing yet."""

    def reports(self) -> list[EngineReport]:
        """What the engine wrote of itself at load, by rank."""

    def receipt(self, info: InitInfo, rank: int = 0) -> Receipt:
        """What a rank wrote of an Update that it executed."""

    def wrote_files(self) -> bool:
        """Whether there is anything of an engine on the handover volume."""


@dataclass(slots=True)
class PlannedWeights:
    """The product's plugin, or the simulator's stand-in for it: images laid out by the engine's load plan."""

    _handover: Path
    _staging: Path
    update_seconds: float = 0.0

    @property
    def handover(self) -> Path:
        return self._handover

    @property
    def staging(self) -> Path:
        return self._staging

    def staged(self, checkpoint: Path, draft: Path | None = None) -> InitInfo:
        reports = self.reports()
        plans = [report.plan for report in reports]
        info = stage(checkpoint, plans, self.staging, txn=_new_transaction())
        plans = [report.draft.plan for report in reports if report.draft is not None]
        if draft is None or not plans:
            return info
        own = stage(draft, plans, self.staging, txn=info.txn)
        return replace(info, draft_digest=own.digest, draft_region=own.region)

    def init_payload(self, info: InitInfo) -> bytes:
        return records.dumps(info)

    def update_payload(self, info: InitInfo) -> bytes:
        return records.dumps(UpdateInfo(info.txn, info.digest))

    def prepared(self, info: InitInfo, rank: int = 0) -> Prepared | None:
        return records.read(Prepared, files.prepared(self.handover, info.txn, rank))

    def reports(self) -> list[EngineReport]:
        first = _read(EngineReport, files.report(self.handover, 0))
        others = range(1, first.world_size)
        return [first, *(_read(EngineReport, files.report(self.handover, r)) for r in others)]

    def wrote_files(self) -> bool:
        return any(self._handover.glob("*.json"))

    def receipt(self, info: InitInfo, rank: int = 0) -> Receipt:
        return _read(Receipt, files.receipt(self.handover, info.txn, rank))


@dataclass(slots=True)
class StockWeights:
    """vLLM's own layer-wise reload of a folder (`realvllm.stockreload`): nothing is staged or prepared."""

    update_seconds: float = 0.0
    _folders: dict[str, Path] = field(default_factory=dict)  # by transaction

    def staged(self, checkpoint: Path, draft: Path | None = None) -> InitInfo:
        info = InitInfo(_new_transaction(), f"sha256:{checkpoint.name}", "")
        self._folders[info.txn] = checkpoint
        return info

    def init_payload(self, info: InitInfo) -> bytes:
        return b"{}"

    def update_payload(self, info: InitInfo) -> bytes:
        folder = self._folders.get(
            info.txn, Path("/nowhere")
        )  # a transaction that was never staged
        return json.dumps({"folder": str(folder), "seconds": self.update_seconds}).encode()

    @property
    def handover(self) -> Path:
        raise AssertionError(NO_FILES)

    @property
    def staging(self) -> Path:
        raise AssertionError(NO_FILES)

    def prepared(self, info: InitInfo, rank: int = 0) -> Prepared | None:
        return Prepared(info.txn, rank, "", info.digest, ok=True, reason="", message="")

    def reports(self) -> list[EngineReport]:
        raise AssertionError(NO_FILES)

    def wrote_files(self) -> bool:
        return False

    def receipt(self, info: InitInfo, rank: int = 0) -> Receipt:
        raise AssertionError(NO_FILES)


def _new_transaction() -> str:
    return f"uid/1/pod/{next(_transactions)}"


def _read(kind: type[Record], path: Path) -> Record:
    record = records.read(kind, path)
    assert record is not None, f"{path} is absent"
    return record
