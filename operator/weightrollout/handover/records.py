"""The records, and how they become JSON and come back. A newer schema is refused, not guessed."""

import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from weightrollout.handover.decoding import HandoverError as HandoverError
from weightrollout.handover.decoding import decode, short

T = TypeVar("T")

SCHEMA: Final = 1
#: The plugin's name as a weight-transfer backend of vLLM.
BACKEND: Final = "weightrollout"
PAGE: Final = 4096
#: How a block gets into live parameters: copied in place; packed before the pause and exchanged in
#: it; packed in the pause; by vLLM's own reload.
PATHS: Final = ("direct", "flip", "repack", "layerwise")
#: A report of a model with 100,000 tensors is about 50 MB; what is longer is not read.
MAX_BYTES: Final = 256 << 20
#: The two sessions of a swap. A draft's comes second, and its Finish carries no version.
TARGET: Final = "target"
DRAFT: Final = "draft"


@dataclass(frozen=True, slots=True)
class TensorFact:
    """One checkpoint tensor that loading consumed. dtype as safetensors spells it: "BF16"."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    aliases: tuple[str, ...] = ()  # other checkpoint names that share its storage (tied heads)


@dataclass(frozen=True, slots=True)
class Piece:
    """A contiguous range of a checkpoint tensor and where it lands in its block; in bytes."""

    name: str
    source_offset: int
    block_offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Block:
    """One live parameter of one rank: where it lies in the image and what fills it."""

    parameter: str
    offset: int  # in the image, page aligned
    bytes: int
    path: str  # one of PATHS
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """How one rank's live parameters are filled from checkpoint tensors."""

    rank: int
    image_bytes: int
    blocks: tuple[Block, ...]

    def plan_id(self) -> str:
        """16 hex digits that name this layout: images of equal id are interchangeable."""
        return hashlib.sha256(dumps(self)).hexdigest()[:16]

    def consumed(self) -> frozenset[str]:
        return frozenset(piece.name for block in self.blocks for piece in block.pieces)


@dataclass(frozen=True, slots=True)
class LayerReport:
    """Layers of one model that are alike. Classes are exact, with their modules."""

    kind: str
    parts: tuple[
        str, ...
    ]  # classes beside it that hold its weights or decide on their form, sorted
    first: str  # name of one of them, such as "model.layers.0.mlp.gate_up_proj"
    count: int
    #: Why its tensors cannot be filled where they are. "": nothing was found; bytes are compared only where no layer has a reason.
    not_in_place: str = ""

    def held_by(self) -> str:
        """The parts as one word."""
        return " + ".join(self.parts)


@dataclass(frozen=True, slots=True)
class DraftReport:
    """One rank's speculative draft: what loading it consumed, and how it is filled."""

    method: str  # "eagle3", "mtp", "draft_model"
    model: str  # path or name that it was loaded from; the target's own for MTP heads
    tensors: tuple[TensorFact, ...]
    plan: LoadPlan
    layers: tuple[LayerReport, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineReport:
    """What one rank knows about itself, written at load. None means unknown, and is refused."""

    rank: int
    world_size: int
    instance: str  # ServerInfo.instance_id of this process
    boot_nonce: str
    engine_version: str
    plugin_version: str
    model: str
    file_hashes: dict[str, str]  # config.json, tokenizer files: name -> sha256 hex
    quantisation: str | None
    eplb: bool | None
    kv_connector: str | None  # "" for none
    speculative: str | None  # method, also one without weights such as "ngram"; "" for none
    draft: DraftReport | None  # absent: no draft whose weights can be loaded
    loras: int | None
    free_bytes: int | None
    tensors: tuple[TensorFact, ...]
    plan: LoadPlan
    refusal_reason: str = ""  # CamelCase: why the plugin cannot swap this engine
    refusal_message: str = ""
    #: Of the JSON files among them: name -> fields.fields_of. Absent: compared by hash alone.
    file_fields: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict)
    #: What the model is made of, of an engine that is refused too. Absent: the model was not looked at.
    layers: tuple[LayerReport, ...] = ()


@dataclass(frozen=True, slots=True)
class InitInfo:
    txn: str
    digest: str
    region: str  # folder of the image, relative to the staging volume
    draft_digest: str = ""  # "": the draft, if there is one, is left as it is
    draft_region: str = ""


@dataclass(frozen=True, slots=True)
class UpdateInfo:
    txn: str
    digest: str
    session: str = TARGET


@dataclass(frozen=True, slots=True)
class Prepared:
    """After Init: for all sessions that it named."""

    txn: str
    rank: int
    instance: str
    digest: str
    ok: bool
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class BlockSum:
    parameter: str
    bytes: int
    crc32: int  # of the block's bytes


@dataclass(frozen=True, slots=True)
class RankImage:
    rank: int
    bytes: int
    blocks: tuple[BlockSum, ...]


@dataclass(frozen=True, slots=True)
class ImageIndex:
    digest: str
    plan_id: str  # of rank 0's plan; all ranks are staged together
    ranks: tuple[RankImage, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one rank really wrote. `pointers_ok`: each live tensor was where the plan said."""

    txn: str
    rank: int
    instance: str
    digest: str
    plan_id: str
    names: tuple[str, ...]
    blocks: tuple[BlockSum, ...]
    pointers_ok: bool
    path: str
    millis: float
    session: str = TARGET


@dataclass(frozen=True, slots=True)
class ExitRequest:
    instance: str  # only this engine process ends; a later one ignores and removes the file
    reason: str


def dumps(record: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces, schema number on top."""
    body = {"schema": SCHEMA, **_fields(record)}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), default=_fields).encode()


def _fields(record: Any) -> dict[str, Any]:
    """Without copying what is in them, as `asdict` does: a receipt is written in the pause.

    A field that has its default value is left out: the other side may be of a release that does not
    know it, and has no need to while it says nothing.
    """
    given = (
        (name, getattr(record, name), default)
        for name, default in _defaults(cast("Hashable", type(record)))
    )
    return {
        name: value
        for name, value, default in given
        if default is dataclasses.MISSING or value != default
    }


@functools.cache
def _defaults(kind: Hashable) -> tuple[tuple[str, Any], ...]:
    """Each field with its default value; MISSING where it must be given."""
    return tuple(
        (
            field.name,
            field.default_factory()
            if field.default_factory is not dataclasses.MISSING
            else field.default,
        )
        for field in dataclasses.fields(cast("Any", kind))
    )


def loads(kind: type[T], data: bytes) -> T:
    """Read a record; unknown keys, missing keys, wrong types and other schemas raise HandoverError."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise HandoverError(f"{kind.__name__}: not JSON: {short(error)}") from error
    if not isinstance(body, dict):
        raise HandoverError(f"{kind.__name__}: must be an object, is {type(body).__name__}")
    schema = body.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        raise HandoverError(
            f"{kind.__name__}: schema {short(repr(schema))} is not {SCHEMA}: agent and plugin must be upgraded together"
        )
    return decode(kind, body)


def write(path: Path, record: Any, *, sync: bool = True) -> None:
    """Write whole or not at all; durable when this returns.

    Without `sync` it survives the death of this process, not that of the machine, which ends the
    engine, too: enough for what is written in a pause.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(dumps(record))
        file.flush()
        if sync:
            os.fsync(file.fileno())
    temporary.replace(path)


def read(kind: type[T], path: Path) -> T | None:
    """None where the file is absent; HandoverError where it is not what it should be."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_BYTES:
                raise HandoverError(f"{kind.__name__}: longer than {MAX_BYTES} bytes")
            return loads(kind, file.read(size))
    except FileNotFoundError:
        return None
