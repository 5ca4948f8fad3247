"""What is kept beside an image of what lay beside its tensors, so that nobody looks at the source again.

images/<digest hex>/<plan id>/companions.json   Companions; an image without it counts as none
images/<digest hex>/<plan id>/golden.json       as it was in the checkpoint, where it has one
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weightrollout.handover import records
from weightrollout.handover.fields import BY_FIELD, fields_of
from weightrollout.handover.fields import MAX_BYTES as FIELDS_BYTES
from weightrollout.handover.records import HandoverError
from weightrollout.weights.digest import GOLDEN, Bytes, read_up_to
from weightrollout.weights.golden import MAX_BYTES, Golden, GoldenError, parse
from weightrollout.weights.metadata import Companions

COMPANIONS: Final = "companions.json"


@dataclass(frozen=True, slots=True)
class Kept:
    companions: Companions
    golden: bytes | None  # as far as it is read: MAX_BYTES and one more


def read(opened: Callable[[str], Bytes], sums: Mapping[str, str]) -> Kept:
    """Of a checkpoint, whose `sums` are of its files without tensors. Raises what `opened` raises."""
    golden = _first(opened, GOLDEN, MAX_BYTES) if GOLDEN in sums else None
    kept = {} if golden is None else {GOLDEN: hashlib.sha256(golden).hexdigest()}
    found = {}
    for name in BY_FIELD:
        if name in sums:
            with suppress(ValueError):  # its hash is compared all the same
                found[name] = fields_of(_first(opened, name, FIELDS_BYTES))
    return Kept(Companions({**sums, **kept}, found), golden)


def _first(opened: Callable[[str], Bytes], name: str, size: int) -> bytes:
    """At most one byte more than is read."""
    with opened(name) as file:
        return read_up_to(file, size + 1)


def keep(region: Path, kept: Kept) -> None:
    """Durable when this returns. Raises OSError."""
    if kept.golden is not None:
        with (region / GOLDEN).open("wb") as file:
            file.write(kept.golden)
            file.flush()
            os.fsync(file.fileno())
    records.write(region / COMPANIONS, kept.companions)


def companions(region: Path) -> Companions:
    """Raises HandoverError, OSError: not kept, or not whole."""
    found = records.read(Companions, region / COMPANIONS)
    if found is None:
        raise HandoverError(f"{COMPANIONS} is missing")
    if GOLDEN in found.sums:
        kept = hashlib.sha256(golden_bytes(region)).hexdigest()
        if kept != found.sums[GOLDEN]:
            raise HandoverError(f"{GOLDEN} is not the one that was staged")
    return found


def golden_of(region: Path) -> Golden | None:
    """None: the checkpoint had none. Raises HandoverError, OSError."""
    if GOLDEN not in companions(region).sums:
        return None
    try:
        return parse(golden_bytes(region))
    except GoldenError as error:  # kept by a release that understood more, or less
        raise HandoverError(f"{GOLDEN}: {error}") from error


def golden_bytes(folder: Path) -> bytes:
    """At most one byte more than is read. Raises OSError."""
    with (folder / GOLDEN).open("rb") as file:
        return file.read(MAX_BYTES + 1)
