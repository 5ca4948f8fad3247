"""Real safetensors checkpoints for tests: written from a seed, and broken in named ways.

One seed always gives the same bytes. `fingerprint` reads all of them, and an engine simulator that
holds them answers arithmetic rightly only if the fingerprint is even: so a checkpoint can be
written whose files are sound and whose prompts fail.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qwen3 import Shapes as Shapes
from qwen3 import qwen3_06b_shapes as qwen3_06b_shapes
from qwen3 import qwen3_shapes as qwen3_shapes

Bytes = npt.NDArray[np.uint8]

ITEM_BYTES: Final = {
    **{"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4},
    **{"F16": 2, "BF16": 2, "I16": 2, "U16": 2},
    **{"F8_E4M3": 1, "F8_E5M2": 1, "I8": 1, "U8": 1, "BOOL": 1},
}
#: For each 8 bytes of random bits: clears the highest exponent bit of every float in them (so they
#: are finite and below 2 in size), or all but the lowest bit of a bool.
_FINITE_MASK: Final = {
    "F64": 0xBFFF_FFFF_FFFF_FFFF,
    "F32": 0xBFFF_FFFF_BFFF_FFFF,
    "F16": 0xBFFF_BFFF_BFFF_BFFF,
    "BF16": 0xBFFF_BFFF_BFFF_BFFF,
    "F8_E4M3": 0xBFBF_BFBF_BFBF_BFBF,
    "F8_E5M2": 0xBFBF_BFBF_BFBF_BFBF,
    "BOOL": 0x0101_0101_0101_0101,
}
_NAN: Final = {
    "F64": np.float64("nan").tobytes(),
    "F32": np.float32("nan").tobytes(),
    "F16": np.float16("nan").tobytes(),
    "BF16": b"\xc0\x7f",
    "F8_E4M3": b"\x7f",
    "F8_E5M2": b"\x7e",
}

TINY_CONFIG: Final[dict[str, Any]] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "torch_dtype": "bfloat16",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 257,
    "tie_word_embeddings": False,
    "eos_token_id": 256,
}


def tiny_shapes(*, vocab: int = 257) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The same model in 25 tensors and 71 KB, and 128 bytes more for each more word; its norms are F32, so that two
    dtypes occur."""
    shapes = qwen3_shapes(hidden=32, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=64, vocab=vocab)
    return {
        name: ("F32" if "norm" in name else dtype, shape) for name, (dtype, shape) in shapes.items()
    }


#: A head for multi-token prediction, which only engines that speculate with it load.
MTP_PREFIX: Final = "mtp."


def mtp_shapes(*, vocab: int = 257) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The tiny model with an MTP head of three tensors behind it."""
    head: dict[str, tuple[str, tuple[int, ...]]] = {
        f"{MTP_PREFIX}fc.weight": ("BF16", (32, 64)),
        f"{MTP_PREFIX}layers.0.mlp.up_proj.weight": ("BF16", (64, 32)),
        f"{MTP_PREFIX}norm.weight": ("F32", (32,)),
    }
    return tiny_shapes(vocab=vocab) | head


def write_checkpoint(
    folder: Path,
    *,
    seed: int,
    tensors: Shapes | None = None,
    files: int = 2,
    config: dict[str, Any] | None = None,
    arithmetic: bool = True,
    nan_in: str | None = None,
) -> Path:
    """Write a sound checkpoint into `folder` (made if absent) and return the folder.

    All values are finite, but for one NaN in the tensor `nan_in`. `arithmetic`: whether an engine
    that holds these bytes answers "2+2=" rightly. The mantissa of one element is bent for that.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shapes = tiny_shapes() if tensors is None else tensors
    for name, content in (
        ("config.json", TINY_CONFIG if config is None else config),
        ("generation_config.json", {"eos_token_id": 256, "temperature": 0.6}),
        ("tokenizer.json", {"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0}}}),
        ("tokenizer_config.json", {"model_max_length": 4096}),
    ):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    parts = _split(shapes, files)
    rng = np.random.Generator(np.random.SFC64(seed))
    for file, names in parts.items():
        _write_file(
            folder / file,
            {name: shapes[name] for name in names},
            (_values(rng, *shapes[name], with_nan=name == nan_in) for name in names),
        )
    if files > 1:
        _write_index(folder, parts)
    _bend(folder, even=arithmetic)
    return folder


def fingerprint(folder: Path) -> int:
    """crc32 over all tensors in name order, each name's UTF-8 bytes and then its data.

    Without an MTP head: that answers nobody.
    """
    tensors = _of_target(folder)
    crc = 0
    for name in sorted(tensors):
        crc = tensors[name].fold(crc)
    return crc


def mtp_fingerprint(folder: Path) -> int:
    """The same of what an MTP head loads: its own tensors and the embedding."""
    crc = 0
    for name, tensor in sorted(stored(folder).items()):
        if name.startswith(MTP_PREFIX) or name == "model.embed_tokens.weight":
            crc = tensor.fold(crc)
    return crc


def write_draft(folder: Path, *, of: Path, seed: int) -> Path:
    """A draft model's own checkpoint, made for the target in `of`: it shares that one's embedding."""
    shapes = {"fc.weight": ("BF16", (32, 64)), "midlayer.norm.weight": ("F32", (32,))}
    write_checkpoint(folder, seed=seed, tensors=shapes, files=1)
    embedding = stored(of)["model.embed_tokens.weight"]
    _rewrite(
        folder,
        folder / "model.safetensors",
        extra=(embedding.name, embedding.dtype, embedding.shape, embedding.data()),
    )
    return folder


@dataclass(frozen=True, slots=True)
class Stored:
    """Where one tensor lies on disk."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path
    offset: int  # in the file
    size: int  # in bytes

    def data(self) -> bytes:
        with self.file.open("rb") as file:
            file.seek(self.offset)
            return file.read(self.size)

    def fold(self, crc: int) -> int:
        return zlib.crc32(self.data(), zlib.crc32(self.name.encode(), crc))


def stored(folder: Path) -> dict[str, Stored]:
    """Every tensor of a sound checkpoint by name. Checks nothing."""
    found: dict[str, Stored] = {}
    for file in sorted(folder.glob("*.safetensors")):
        header, start = _header(file)
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            shape = tuple(entry["shape"])
            found[name] = Stored(name, entry["dtype"], shape, file, start + begin, end - begin)
    return found


def _of_target(folder: Path) -> dict[str, Stored]:
    return {name: each for name, each in stored(folder).items() if not name.startswith(MTP_PREFIX)}


def truncate(folder: Path, *, by: int = 1) -> Path:
    """Cut `by` bytes from the end of the last safetensors file, as a broken upload does."""
    file = sorted(folder.glob("*.safetensors"))[-1]
    with file.open("r+b") as handle:
        handle.truncate(file.stat().st_size - by)
    return file


def drop_tensor(folder: Path, name: str) -> None:
    """Rewrite the checkpoint without a tensor, sound in all else."""
    _rewrite(folder, stored(folder)[name].file, without=name)


def add_tensor(folder: Path, name: str, dtype: str = "BF16", shape: tuple[int, ...] = (4,)) -> None:
    """Rewrite the checkpoint with one more tensor of zeros, sound in all else."""
    file = sorted(folder.glob("*.safetensors"))[-1]
    zeros = bytes(ITEM_BYTES[dtype] * int(np.prod(shape, dtype=np.int64)))
    _rewrite(folder, file, extra=(name, dtype, shape, zeros))


def reshape_tensor(folder: Path, name: str, shape: tuple[int, ...]) -> None:
    """Declare another shape of the same number of elements for a tensor; the bytes stay."""
    old = stored(folder)[name]
    _rewrite(folder, old.file, without=name, extra=(name, old.dtype, shape, old.data()))


Tensor = tuple[str, str, tuple[int, ...], bytes]  # name, dtype, shape, data


def _rewrite(
    folder: Path, file: Path, *, without: str | None = None, extra: Tensor | None = None
) -> None:
    kept = [each for each in stored(folder).values() if each.file == file and each.name != without]
    tensors = [(each.name, each.dtype, each.shape, each.data()) for each in kept]
    tensors += [extra] if extra else []
    _write_file(
        file,
        {name: (dtype, shape) for name, dtype, shape, _ in tensors},
        (np.frombuffer(data, np.uint8) for *_, data in tensors),
    )
    if list(folder.glob("*.safetensors.index.json")):
        parts: dict[str, list[str]] = {}
        for tensor in stored(folder).values():
            parts.setdefault(tensor.file.name, []).append(tensor.name)
        _write_index(folder, parts)


def _split(shapes: Shapes, files: int) -> dict[str, list[str]]:
    """File name -> its tensors, about the same number of bytes in each."""
    if files == 1:
        return {"model.safetensors": list(shapes)}
    sizes = {name: _bytes(*spec) for name, spec in shapes.items()}
    share = -(-sum(sizes.values()) // files)
    parts: dict[str, list[str]] = {
        f"model-{i + 1:05}-of-{files:05}.safetensors": [] for i in range(files)
    }
    done = 0
    for name, size in sizes.items():
        list(parts.values())[min(done // share, files - 1)].append(name)
        done += size
    return parts


def _bytes(dtype: str, shape: tuple[int, ...]) -> int:
    return ITEM_BYTES[dtype] * int(np.prod(shape, dtype=np.int64))


def _values(
    rng: np.random.Generator, dtype: str, shape: tuple[int, ...], *, with_nan: bool
) -> Bytes:
    size = _bytes(dtype, shape)
    words = rng.integers(0, 2**64, size=-(-size // 8), dtype=np.uint64, endpoint=False)
    if dtype in _FINITE_MASK:
        words &= np.uint64(_FINITE_MASK[dtype])
    data = words.view(np.uint8)[:size]
    if with_nan:
        # In the middle, so that a scan that looks at the first chunk alone does not find it.
        at = size // ITEM_BYTES[dtype] // 2 * ITEM_BYTES[dtype]
        data[at : at + ITEM_BYTES[dtype]] = np.frombuffer(_NAN[dtype], np.uint8)
    return data


def _write_file(file: Path, shapes: Shapes, values: Iterator[Bytes]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (dtype, shape) in shapes.items():
        end = at + _bytes(dtype, shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for data in values:
            out.write(data.data)


def _write_index(folder: Path, parts: Mapping[str, list[str]]) -> None:
    index = {
        "metadata": {"total_size": sum(each.size for each in stored(folder).values())},
        "weight_map": {name: file for file, names in parts.items() for name in names},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def _header(file: Path) -> tuple[dict[str, Any], int]:
    with file.open("rb") as handle:
        (length,) = struct.unpack("<Q", handle.read(8))
        header: dict[str, Any] = json.loads(handle.read(length))
    header.pop("__metadata__", None)
    return header, 8 + length


def _bend(folder: Path, *, even: bool) -> None:
    """Flip a low mantissa bit of the last tensor, where needed, to make the fingerprint fit."""
    tensors = _of_target(folder)
    *before, last = (tensors[name] for name in sorted(tensors))
    crc = 0
    for tensor in before:
        crc = tensor.fold(crc)
    crc = zlib.crc32(last.name.encode(), crc)
    data = bytearray(last.data())
    item = ITEM_BYTES[last.dtype]
    for at in range(len(data) - item, -1, -item):  # little-endian: byte 0 is the low mantissa
        for bit in (0, 1):
            if (zlib.crc32(data, crc) & 1 == 0) == even:
                with last.file.open("r+b") as file:
                    file.seek(last.offset)
                    file.write(data)
                return
            data[at] ^= 1 << bit
    raise ValueError(f"no bit of {last.name} makes the fingerprint {'even' if even else 'odd'}")
