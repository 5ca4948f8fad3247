"""A staged image, mapped into the engine's process: one block per checkpoint tensor.

The mapping is private and copy-on-write: nothing that a loader does reaches the staging volume.
"""

import ctypes
import errno
import mmap
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import torch

from weightrollout.handover import files, records
from weightrollout.handover.records import BlockSum, ImageIndex, LoadPlan, TensorFact

#: Linux 5.14: fault all pages in at once, so that no page fault is taken in the pause.
_MADV_POPULATE_READ: Final = 22
DTYPES: Final = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E4M3": torch.float8_e4m3fn,
    "I16": torch.int16,
    "U16": torch.uint16,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "F32": torch.float32,
    "F64": torch.float64,
    "I64": torch.int64,
    "U64": torch.uint64,
}
NAMES: Final = {dtype: name for name, dtype in DTYPES.items()}


class RegionError(Exception):
    """The image is not what was announced. `reason` is CamelCase."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def inside(staging: Path, name: str) -> Path:
    """The folder of an image. Raises RegionError for one that is not in the staging volume."""
    folder = (staging / name).resolve()
    if not folder.is_relative_to(staging.resolve()):
        raise RegionError("RegionUnsafe", f"{name} lies outside the staging volume")
    return folder


class Region:
    """One rank's image. Kept until nobody holds a tensor of it."""

    def __init__(
        self, folder: Path, digest: str, plan: LoadPlan, facts: dict[str, TensorFact]
    ) -> None:
        """`facts`: by name, of all tensors that the plan's blocks hold. Raises RegionError."""
        index = _index(folder, digest)
        mine = [image for image in index.ranks if image.rank == plan.rank]
        if len(mine) != 1 or [(block.parameter, block.bytes) for block in mine[0].blocks] != [
            (block.parameter, block.bytes) for block in plan.blocks
        ]:
            raise RegionError("ImageMismatch", f"{folder.name} holds another model's tensors")
        self._plan = plan
        self._facts = facts
        self._map = _mapped(files.rank_image(folder, plan.rank), plan.image_bytes)
        self._bytes = torch.frombuffer(self._map, dtype=torch.uint8) if self._map else None

    def populate(self) -> None:
        """Read all of it into memory. Old kernels do it page by page, later."""
        if self._map is not None:
            try:
                self._map.madvise(_MADV_POPULATE_READ)
            except (OSError, ValueError) as error:
                if getattr(error, "errno", errno.EINVAL) != errno.EINVAL:
                    raise RegionError("ImageUnreadable", str(error)) from error

    def tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Name and typed view of each block, in the order of the checkpoint the engine loaded."""
        for block in self._plan.blocks:
            fact = self._facts[block.pieces[0].name]
            yield fact.name, self._view(block.offset, block.bytes, fact)

    def sums(self) -> tuple[BlockSum, ...]:
        """What was mapped: the receipt says so, and the agent compares."""
        return tuple(
            BlockSum(block.parameter, block.bytes, self._crc32(block.offset, block.bytes))
            for block in self._plan.blocks
        )

    def holds(self, tensor: torch.Tensor) -> bool:
        if self._bytes is None or tensor.device.type != "cpu":
            return False
        begin = self._bytes.data_ptr()
        return bool(begin <= tensor.data_ptr() < begin + self._bytes.numel())

    def _view(self, offset: int, size: int, fact: TensorFact) -> torch.Tensor:
        dtype = DTYPES[fact.dtype]
        if self._bytes is None or size == 0:
            return torch.empty(fact.shape, dtype=dtype)
        return self._bytes[offset : offset + size].view(dtype).view(fact.shape)

    def _crc32(self, offset: int, size: int) -> int:
        if self._bytes is None or size == 0:
            return 0
        begin = self._bytes.data_ptr() + offset
        return zlib.crc32((ctypes.c_char * size).from_address(begin))


def _index(folder: Path, digest: str) -> ImageIndex:
    try:
        index = records.read(ImageIndex, folder / files.INDEX)
    except (records.HandoverError, OSError) as error:
        raise RegionError("ImageUnreadable", f"{folder.name}: {error}") from error
    if index is None:
        raise RegionError("ImageMissing", f"{folder.name} has no index: it is not staged")
    if index.digest != digest:
        raise RegionError("ImageMismatch", f"{folder.name} is {index.digest}, not {digest}")
    return index


def _mapped(path: Path, size: int) -> mmap.mmap | None:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise RegionError("ImageMismatch", f"{path.name} has {found} bytes, not {size}")
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY) if size else None
    except OSError as error:
        raise RegionError("ImageUnreadable", f"{path.name}: {error}") from error
