"""Whatever two safetensors readers could understand differently is refused, with file and tensor."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import checkpoints
from weightrollout.weights.manifest import MAX_HEADER_BYTES, ManifestError, read_file, read_manifest

Header = dict[str, Any]


def _header() -> Header:
    return {
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "BF16", "shape": [4], "data_offsets": [16, 24]},
    }


def _write(path: Path, header: Header | bytes, data: bytes = bytes(24)) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def _reason(path: Path) -> str:
    with pytest.raises(ManifestError) as caught:
        read_file(path)
    assert path.name in caught.value.message
    return caught.value.reason


def test_sound_file_gives_every_tensor_with_its_place(tmp_path: Path) -> None:
    path = _write(tmp_path / "m.safetensors", _header(), bytes(range(24)))
    a, b = read_file(path).tensors
    assert (a.name, a.dtype, a.shape, a.bytes) == ("a", "F32", (2, 2), 16)
    assert path.read_bytes()[b.offset : b.end] == bytes(range(16, 24))


def test_header_order_need_not_be_the_order_of_the_bytes(tmp_path: Path) -> None:
    path = _write(tmp_path / "m.safetensors", dict(reversed(_header().items())))
    assert [tensor.name for tensor in read_file(path).tensors] == ["a", "b"]


def _set(name: str, key: str, value: object) -> Callable[[Header], None]:
    return lambda header: header[name].__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_set("b", "data_offsets", [8, 16]), "Overlap"),
        (_set("a", "data_offsets", [16, 0]), "HeaderMalformed"),
        (_set("a", "data_offsets", [-16, 0]), "HeaderMalformed"),
        (_set("a", "data_offsets", [0, 16.0]), "HeaderMalformed"),
        (_set("a", "data_offsets", [False, 16]), "HeaderMalformed"),
        (_set("a", "data_offsets", [0]), "HeaderMalformed"),
        (_set("a", "shape", [2, 3]), "SizeMismatch"),
        (_set("a", "shape", [-2, -2]), "HeaderMalformed"),
        (_set("a", "shape", "4"), "HeaderMalformed"),
        (_set("a", "shape", [1] * 65), "HeaderMalformed"),
        (_set("a", "shape", [1 << 63, 0]), "HeaderMalformed"),
        (_set("a", "dtype", "F4"), "DtypeUnknown"),
        (_set("a", "dtype", ["F32"]), "DtypeUnknown"),
        (_set("a", "surprise", 1), "HeaderMalformed"),
        (lambda header: header["a"].pop("shape"), "HeaderMalformed"),
        (lambda header: header.update(a=[]), "HeaderMalformed"),
        (lambda header: header.update({"\ud800": header.pop("a")}), "HeaderMalformed"),
        (lambda header: header.update(__metadata__={"step": 3}), "HeaderMalformed"),
    ],
)
def test_header_that_lies_about_a_tensor_is_refused(
    tmp_path: Path, change: Callable[[Header], object], reason: str
) -> None:
    header = _header()
    change(header)
    assert _reason(_write(tmp_path / "m.safetensors", header)) == reason


def test_gap_between_tensors_is_refused(tmp_path: Path) -> None:
    header = _header()
    header["b"]["data_offsets"] = [17, 25]
    assert _reason(_write(tmp_path / "m.safetensors", header, bytes(25))) == "Gap"


def test_bytes_behind_the_last_tensor_are_refused(tmp_path: Path) -> None:
    assert _reason(_write(tmp_path / "m.safetensors", _header(), bytes(25))) == "Gap"


@pytest.mark.parametrize("kept", [0, 7, 8, 60, 140])
def test_truncated_file_is_refused_wherever_it_was_cut(tmp_path: Path, kept: int) -> None:
    path = _write(tmp_path / "m.safetensors", _header())
    path.write_bytes(path.read_bytes()[:kept])
    assert _reason(path) == "Truncated"


def test_header_longer_than_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", MAX_HEADER_BYTES + 1))
        file.truncate(MAX_HEADER_BYTES + 100)  # sparse: takes no space
    assert _reason(path) == "HeaderTooLong"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{",
        b"\xff{}",
        b"[" * 100_000,
        b'{"a": ' * 100_000,
        b'{"a":' + b"9" * 5000 + b"}",
    ],
    ids=["empty", "list", "cut", "no-utf8", "deep-list", "deep-object", "huge-number"],
)
def test_header_that_is_no_json_object_is_refused(tmp_path: Path, text: bytes) -> None:
    assert _reason(_write(tmp_path / "m.safetensors", text, b"")) == "HeaderNotJson"


def test_key_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    entry = json.dumps(_header()["b"]).replace("16, 24", "0, 8")
    text = f'{{"b": {entry}, "b": {entry}}}'.encode()
    assert _reason(_write(tmp_path / "m.safetensors", text, bytes(8))) == "KeyTwice"


def test_tensor_in_two_files_is_refused_with_both_names(tmp_path: Path) -> None:
    _write(tmp_path / "one.safetensors", _header())
    _write(tmp_path / "two.safetensors", _header())
    with pytest.raises(ManifestError, match=r"a is in two files: one\.safetensors and two"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("files", [1, 3])
def test_folder_gives_all_tensors_of_all_files(tmp_path: Path, files: int) -> None:
    checkpoints.write_checkpoint(tmp_path, seed=1, files=files)
    manifest = read_manifest(tmp_path)
    assert manifest.tensors().keys() == checkpoints.tiny_shapes().keys()
    assert len(manifest.files) == files


def test_several_files_without_an_index_are_accepted(tmp_path: Path) -> None:
    checkpoints.write_checkpoint(tmp_path, seed=1)
    (tmp_path / "model.safetensors.index.json").unlink()
    assert len(read_manifest(tmp_path).tensors()) == 25


@pytest.mark.parametrize("how", ["dropped", "moved", "invented"])
def test_index_that_disagrees_with_its_files_is_refused(tmp_path: Path, how: str) -> None:
    checkpoints.write_checkpoint(tmp_path, seed=1)
    path = tmp_path / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    match how:
        case "dropped":
            del index["weight_map"]["model.norm.weight"]
        case "moved":
            index["weight_map"]["model.norm.weight"] = "model-00001-of-00002.safetensors"
        case "invented":
            index["weight_map"]["model.norm.weight.2"] = "model-00002-of-00002.safetensors"
    path.write_text(json.dumps(index))
    with pytest.raises(ManifestError, match=r"tensor model\.norm\.weight") as caught:
        read_manifest(tmp_path)
    assert caught.value.reason == "IndexDisagrees"


def test_shard_that_was_not_copied_is_refused(tmp_path: Path) -> None:
    checkpoints.write_checkpoint(tmp_path, seed=1)
    (tmp_path / "model-00001-of-00002.safetensors").unlink()
    with pytest.raises(ManifestError, match="it is in no file"):
        read_manifest(tmp_path)


def test_index_without_a_weight_map_is_refused(tmp_path: Path) -> None:
    checkpoints.write_checkpoint(tmp_path, seed=1)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": []}')
    with pytest.raises(ManifestError, match="weight_map must be an object"):
        read_manifest(tmp_path)


def test_tensor_without_elements_is_accepted(tmp_path: Path) -> None:
    header = _header() | {"empty": {"dtype": "F32", "shape": [0, 7], "data_offsets": [16, 16]}}
    tensors = read_file(_write(tmp_path / "m.safetensors", header)).tensors
    assert [tensor.bytes for tensor in tensors] == [16, 0, 8]
