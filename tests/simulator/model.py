"""The loaded weights: one real buffer per tensor, and a fingerprint of all their bytes."""

import json
import struct
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

ITEM_BYTES: Final = {
    **dict.fromkeys(("F64", "I64", "U64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"), 1),
}


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    dtype: str  # as safetensors spells it
    shape: tuple[int, ...]
    data: Bytes  # live: updates write into it

    @property
    def item_bytes(self) -> int:
        return ITEM_BYTES[self.dtype]


#: What vLLM's plain models skip: the head for multi-token prediction.
MTP_PREFIX: Final = "mtp."
#: Loaded by the target and by its MTP head alike.
SHARED: Final = frozenset({"model.embed_tokens.weight"})


class Model:
    """Whoever writes into a tensor calls `touch` afterwards."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.tensors = tuple(sorted(tensors, key=lambda tensor: tensor.name))
        self.writes = 0  # calls of `touch`
        self.half_loaded = False  # set by a failed update: the next token kills the engine
        self._lock = threading.Lock()
        self._touched = True
        self._fingerprint = 0

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read every safetensors file below `folder`, but for an MTP head.

        Raises ValueError where there is none.
        """
        return cls([each for each in _read_all(folder) if not each.name.startswith(MTP_PREFIX)])

    @classmethod
    def load_mtp(cls, folder: Path) -> Self:
        """The MTP head of the checkpoint in `folder`, with copies of what it shares."""
        found = _read_all(folder)
        mine = [each for each in found if each.name.startswith(MTP_PREFIX) or each.name in SHARED]
        if not any(each.name.startswith(MTP_PREFIX) for each in mine):
            raise ValueError(f"{folder} holds no tensor {MTP_PREFIX}*")
        return cls(mine)

    def touch(self) -> None:
        self.writes += 1
        self._touched = True

    @property
    def fresh(self) -> bool:
        """Whether `fingerprint` answers without reading the weights."""
        return not self._touched

    def fingerprint(self) -> int:
        """crc32 over all tensors in name order, each name and then its bytes as they are now.

        Reads everything (0.5 s per GB) if a byte was written since the last call; a call in
        mid-update gives the fingerprint of a torn model.
        """
        with self._lock:
            if self._touched:
                self._touched = False  # before reading: a write from now on must be seen
                crc = 0
                for tensor in self.tensors:
                    crc = zlib.crc32(tensor.data.data, zlib.crc32(tensor.name.encode(), crc))
                self._fingerprint = crc
            return self._fingerprint

    def discard(self) -> None:
        """Level-2 sleep: the bytes are gone, and nothing reloads them."""
        for tensor in self.tensors:
            tensor.data[:] = 0
        self.touch()


def _read_all(folder: Path) -> list[Tensor]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ValueError(f"{folder} holds no *.safetensors file: give a checkpoint folder")
    return [tensor for file in files for tensor in _read(file)]


def _read(file: Path) -> list[Tensor]:
    with file.open("rb") as handle:
        (length,) = struct.unpack("<Q", handle.read(8))
        header = json.loads(handle.read(length))
    header.pop("__metadata__", None)
    start = 8 + length
    return [
        Tensor(
            name,
            entry["dtype"],
            tuple(entry["shape"]),
            _read_bytes(file, start + entry["data_offsets"][0], start + entry["data_offsets"][1]),
        )
        for name, entry in header.items()
    ]


def _read_bytes(file: Path, begin: int, end: int) -> Bytes:
    data = np.fromfile(file, dtype=np.uint8, count=end - begin, offset=begin)
    if data.size != end - begin:
        raise ValueError(f"{file} ends at byte {begin + data.size}, its header says {end}")
    return data
