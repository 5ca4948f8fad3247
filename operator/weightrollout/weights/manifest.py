"""The tensors of a safetensors folder: what they are and where each one lies. Reads headers only.

Standard library only, no import of any other room. Refuses whatever two readers could understand
differently: a header that is too long, no JSON, or holds a key twice; a dtype it does not know;
bytes that belong to no tensor or to two; a name in two files; an index that disagrees with its
files. The safetensors format: 8 bytes little-endian header length, JSON header, data.
"""

import itertools
import json
import math
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weightrollout.weights import digest

#: The limit of the safetensors library; a header is about 100 bytes for each tensor.
MAX_HEADER_BYTES: Final = 100_000_000
#: More than torch's 64 dimensions, or sizes that no machine holds, only make arithmetic slow.
MAX_RANK: Final = 64
MAX_DIMENSION: Final = 1 << 63
_LENGTH: Final = struct.Struct("<Q")
_METADATA: Final = "__metadata__"

#: Bytes of one element. Types smaller than a byte are refused: no engine path loads them yet.
ITEM_BYTES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 1),
    **dict.fromkeys(("I8", "U8", "BOOL"), 1),
}


class ManifestError(ValueError):
    """Not a sound safetensors folder. `reason` is CamelCase; `message` names file and tensor."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class TensorEntry:
    name: str
    dtype: str  # as safetensors spells it: "BF16"
    shape: tuple[int, ...]
    file: str  # name inside the folder
    offset: int  # of its first byte in the file
    bytes: int

    @property
    def end(self) -> int:
        return self.offset + self.bytes


@dataclass(frozen=True, slots=True)
class FileEntry:
    name: str
    bytes: int  # of the whole file
    tensors: tuple[
        TensorEntry, ...
    ]  # in the order of their bytes: from the header's end to the file's


@dataclass(frozen=True, slots=True)
class Manifest:
    files: tuple[FileEntry, ...]

    def tensors(self) -> dict[str, TensorEntry]:
        return {tensor.name: tensor for file in self.files for tensor in file.tensors}


def read_manifest(folder: Path) -> Manifest:
    """Read a folder with one or more safetensors files, with or without an index.

    Raises ManifestError, digest.FolderError (links, odd names) and OSError.
    """
    names = digest.matching_files(folder, (digest.TENSORS, digest.TENSORS_INDEX))
    if not any(digest.matches(name, (digest.TENSORS,)) for name in names):
        raise ManifestError("NoSafetensors", f"no {digest.TENSORS} file in {folder}")
    sizes = {name: (folder / name).stat().st_size for name in names}
    return manifest_of(sizes, lambda name: (folder / name).open("rb"))


def manifest_of(sizes: Mapping[str, int], opened: Callable[[str], digest.Bytes]) -> Manifest:
    """The same of files that lie anywhere: name -> bytes, and how to read one. Raises what that raises."""
    files = tuple(
        _read_header_of(name, sizes[name], opened)
        for name in sizes
        if digest.matches(name, (digest.TENSORS,))
    )
    holder: dict[str, str] = {}
    for tensor in itertools.chain.from_iterable(file.tensors for file in files):
        if (other := holder.setdefault(tensor.name, tensor.file)) != tensor.file:
            raise ManifestError(
                "TensorTwice", f"tensor {tensor.name} is in two files: {other} and {tensor.file}"
            )
    for name in sizes:
        if digest.matches(name, (digest.TENSORS_INDEX,)):
            _check_index(name, sizes[name], opened, holder)
    return Manifest(files)


def read_file(path: Path) -> FileEntry:
    """Read and check one file's header against the file's size."""
    return _read_header_of(path.name, path.stat().st_size, lambda _: path.open("rb"))


def _read_header_of(file: str, size: int, opened: Callable[[str], digest.Bytes]) -> FileEntry:
    with opened(file) as source:
        header, data_start = _read_header(source, file, size)
    tensors = [
        _tensor(file, name, entry, data_start)
        for name, entry in header.items()
        if name != _METADATA
    ]
    tensors.sort(key=lambda tensor: (tensor.offset, tensor.end))
    _check_coverage(file, tensors, data_start, size)
    return FileEntry(file, size, tuple(tensors))


def _read_header(file: digest.Bytes, name: str, size: int) -> tuple[dict[str, Any], int]:
    """The header and where the data begins."""
    if size < _LENGTH.size:
        raise ManifestError("Truncated", f"{name}: {size} bytes are no safetensors file")
    (length,) = _LENGTH.unpack(_read(file, _LENGTH.size, name))
    if length > MAX_HEADER_BYTES:
        raise ManifestError(
            "HeaderTooLong",
            f"{name}: header of {length} bytes, at most {MAX_HEADER_BYTES} are read",
        )
    if length > size - _LENGTH.size:
        raise ManifestError(
            "Truncated", f"{name}: header of {length} bytes in a file of {size} bytes"
        )
    header = _parse_object(_read(file, length, name), name)
    metadata = header.get(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ManifestError("HeaderMalformed", f"{name}: {_METADATA} must map text to text")
    return header, _LENGTH.size + length


def _read(file: digest.Bytes, size: int, name: str) -> bytes:
    found = digest.read_up_to(file, size)
    if len(found) < size:
        raise ManifestError("Truncated", f"{name}: ended while its header was read")
    return found


def _parse_object(text: bytes, name: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ManifestError("KeyTwice", f"{name}: key {twice!r} occurs twice in one object")

    try:
        found = json.loads(text.decode(), object_pairs_hook=unique)
    except ManifestError:
        raise
    except (ValueError, RecursionError) as error:
        raise ManifestError("HeaderNotJson", f"{name}: header is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ManifestError("HeaderNotJson", f"{name}: header must be a JSON object")
    return found


def _tensor(file: str, name: str, entry: Any, data_start: int) -> TensorEntry:
    where = f"{file}: tensor {name!r}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ManifestError(
            "HeaderMalformed", f"{where}: must have dtype, shape and data_offsets, and nothing else"
        )
    if not name.isprintable():  # also a lone surrogate, which no file name or message can hold
        raise ManifestError("HeaderMalformed", f"{where}: name must be printable")
    item = ITEM_BYTES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if item is None:
        raise ManifestError("DtypeUnknown", f"{where}: dtype {entry['dtype']!r} is not known")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_sizes(shape) or len(shape) > MAX_RANK:
        raise ManifestError("HeaderMalformed", f"{where}: shape {_short(shape)} is not a shape")
    if not _are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ManifestError("HeaderMalformed", f"{where}: data_offsets {_short(offsets)}")
    begin, end = offsets
    if (want := math.prod(shape) * item) != end - begin:
        raise ManifestError(
            "SizeMismatch",
            f"{where}: {entry['dtype']} {shape} needs {want} bytes, data_offsets give {end - begin}",
        )
    return TensorEntry(name, entry["dtype"], tuple(shape), file, data_start + begin, end - begin)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(
        type(each) is int and 0 <= each < MAX_DIMENSION for each in value
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _check_coverage(file: str, tensors: list[TensorEntry], start: int, size: int) -> None:
    """Every byte between the header and the end belongs to exactly one tensor."""
    at = start
    for tensor in tensors:
        if tensor.offset != at:
            kind, what = (
                ("Overlap", "overlaps") if tensor.offset < at else ("Gap", "leaves a gap to")
            )
            raise ManifestError(kind, f"{file}: tensor {tensor.name} {what} the bytes before it")
        at = tensor.end
    if at > size:
        raise ManifestError(
            "Truncated",
            f"{file}: {size} bytes, the header promises {at}: {at - size} are missing",
        )
    if at < size:
        raise ManifestError("Gap", f"{file}: {size - at} bytes at the end belong to no tensor")


def _check_index(
    file: str, size: int, opened: Callable[[str], digest.Bytes], holder: Mapping[str, str]
) -> None:
    if size > MAX_HEADER_BYTES:
        raise ManifestError("HeaderTooLong", f"{file}: {size} bytes are too long an index")
    with opened(file) as source:
        weight_map = _parse_object(_read(source, size, file), file).get("weight_map")
    if not isinstance(weight_map, dict):
        raise ManifestError("IndexMalformed", f"{file}: weight_map must be an object")
    if weight_map == holder:
        return
    name = min(
        name
        for name in weight_map.keys() | holder.keys()
        if weight_map.get(name) != holder.get(name)
    )
    raise ManifestError(
        "IndexDisagrees",
        f"{file}: tensor {name}: index says {weight_map.get(name, 'nothing')},"
        f" it is in {holder.get(name, 'no file')}",
    )
