"""Judges of what lies in the agent's volumes: whoever shares a volume may have written it."""

import asyncio
from pathlib import Path
from typing import Final

from weightrollout.agent import stable as stable_file
from weightrollout.agent.engine_watch import EngineSight, incompatible
from weightrollout.agent.handover_volume import read_reports, was_visited
from weightrollout.agent.state import is_baseline, loaded
from weightrollout.api.names import STABLE_KEY
from weightrollout.clock import SystemClock
from weightrollout.engine.protocol import EngineInfo
from weightrollout.handover import files, records
from weightrollout.handover.records import (
    BACKEND,
    PAGE,
    Block,
    BlockSum,
    EngineReport,
    ExitRequest,
    HandoverError,
    ImageIndex,
    LoadPlan,
    Piece,
    Prepared,
    RankImage,
    Receipt,
    TensorFact,
)
from weightrollout.swap import machine
from weightrollout.swap.backends.protocol import BackendError, Transfer
from weightrollout.swap.backends.shared_memory import SharedMemory
from weightrollout.swap.journal import FILE, Journal
from weightrollout.swap.records import Content
from weightrollout.weights import beside
from weightrollout.weights.beside import Kept
from weightrollout.weights.golden import Golden
from weightrollout.weights.manifest import ManifestError, read_file
from weightrollout.weights.metadata import Companions
from weightrollout.weights.staging import Store

INSTANCE: Final = "engine-1"
DIGEST: Final = "sha256:" + "2" * 64
TXN: Final = "cr/rev-2/pod/1"
PLAN: Final = LoadPlan(0, PAGE, (Block("w", 0, 8, "direct", (Piece("w", 0, 0, 8),)),))
REPORT: Final = EngineReport(
    rank=0,
    world_size=1,
    instance=INSTANCE,
    boot_nonce="n",
    engine_version="0.33.0",
    plugin_version="0.1.0",
    model="/models/a",
    file_hashes={"config.json": "00"},
    quantisation="",
    eplb=False,
    kv_connector="",
    speculative="",
    draft=None,
    loras=0,
    free_bytes=1 << 30,
    tensors=(TensorFact("w", "F32", (2,)),),
    plan=PLAN,
)
SUMS: Final = (BlockSum("w", 8, 4711),)
INDEX: Final = ImageIndex(DIGEST, PLAN.plan_id(), (RankImage(0, PAGE, SUMS),))
PREPARED: Final = Prepared(TXN, 0, INSTANCE, DIGEST, True)
RECEIPT: Final = Receipt(
    TXN, 0, INSTANCE, DIGEST, PLAN.plan_id(), ("w",), SUMS, True, "direct", 1.5
)
EXIT: Final = ExitRequest(INSTANCE, "Poisoned")
TRANSFER: Final = Transfer(TXN, Content("rev-2", "v2", "file:///v2", DIGEST), INSTANCE)


def journal(data: bytes, folder: Path) -> str:
    """Lost and kept aside, or understood: then it can be lived with and written again."""
    (folder / FILE).write_bytes(data)
    opened = Journal.open(folder)
    aside = folder / "journal.corrupt-1"
    if aside.exists():
        assert opened.book.lost
        assert aside.read_bytes() == data
        return "Lost"
    sight = EngineSight(instance=INSTANCE, weight_version="default")
    loaded(opened.book, sight)
    is_baseline(opened.book, sight)
    if opened.book.running is not None:
        machine.todo(machine.recover(opened.book.running.state))
    opened.put(opened.book)
    assert Journal.open(folder).book == opened.book
    return "Understood"


def report(data: bytes, folder: Path) -> str:
    files.report(folder, 0).write_bytes(data)
    found = read_reports(folder)
    if not found:
        return "Ignored"
    refusal = incompatible(EngineInfo(INSTANCE, "0.33.0", BACKEND, 1), found)
    found[0].plan.plan_id()
    return "Fits" if refusal is None else refusal.reason


def prepared(data: bytes, folder: Path) -> str:
    files.prepared(folder, TXN, 0).write_bytes(data)
    was_visited(folder, INSTANCE)
    try:
        asyncio.run(_backend(folder).prepared(TRANSFER, deadline_s=0.0))
    except BackendError as error:
        return error.failure.reason
    return "Prepared"


def receipt(data: bytes, folder: Path) -> str:
    """Proven only by the one receipt that says the truth."""
    files.receipt(folder, TXN, 0).write_bytes(data)
    was_visited(folder, INSTANCE)
    try:
        _backend(folder).prove(TRANSFER)
    except BackendError as error:
        error.failure.message.encode()
        return error.failure.reason if len(error.failure.message) <= 2000 else "TooManyWords"
    return "Proven"


def index(data: bytes, folder: Path) -> str:
    store = Store(folder, threads=1)
    region = store.region(DIGEST, PLAN.plan_id())
    region.mkdir(parents=True)
    files.rank_image(region, 0).write_bytes(bytes(PAGE))
    (region / files.INDEX).write_bytes(data)
    beside.keep(region, Kept(Companions({}, {}), None))
    found = store.index(DIGEST, PLAN.plan_id())
    assert (found is not None) == (DIGEST in store.staged(PLAN.plan_id()))
    return "NoImage" if found is None else "Image"


def exit_request(data: bytes, folder: Path) -> str:
    path = files.exit_request(folder)
    path.write_bytes(data)
    try:
        return "Ignored" if records.read(ExitRequest, path) is None else "Understood"
    except HandoverError:
        return "Refused"


def safetensors(data: bytes, folder: Path) -> str:
    path = folder / "model.safetensors"
    path.write_bytes(data)
    try:
        entry = read_file(path)
    except ManifestError as error:
        return error.reason
    assert sum(tensor.bytes for tensor in entry.tensors) <= entry.bytes
    return "Sound"


def stable(data: bytes, folder: Path) -> str:
    """A file says some weights, or nobody knows: never the baseline, which is served at once."""
    (folder / STABLE_KEY).write_bytes(data)
    said = stable_file.read(folder).content
    assert said is None or not said.is_baseline
    return "Unknown" if said is None else "Weights"


class _Images:
    def index(self, digest: str, plan_id: str) -> ImageIndex | None:
        return INDEX

    def golden(self, digest: str, plan_id: str) -> Golden | None:
        return None


def _backend(folder: Path) -> SharedMemory:
    return SharedMemory(_Images(), folder, [REPORT], SystemClock())
