"""No input makes the manifest parser do anything but answer or refuse by name."""

import json
import math
import struct
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.weights.manifest import ITEM_BYTES, FileEntry, ManifestError, read_file

_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
Forms = dict[str, tuple[str, list[int]]]


@st.composite
def _forms(draw: st.DrawFn) -> Forms:
    names = draw(
        st.lists(_NAMES.filter(lambda name: name != "__metadata__"), unique=True, max_size=6)
    )
    return {
        name: (
            draw(st.sampled_from(sorted(ITEM_BYTES))),
            draw(st.lists(st.integers(0, 5), max_size=3)),
        )
        for name in names
    }


def _header(forms: Forms) -> tuple[dict[str, Any], int]:
    header, at = {}, 0
    for name, (dtype, shape) in forms.items():
        size = math.prod(shape) * ITEM_BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return header, at


def _read(content: bytes) -> FileEntry:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.safetensors"
        path.write_bytes(content)
        return read_file(path)


def _file(header: Any, data_bytes: int) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data_bytes)


@settings(deadline=None)
@given(_forms(), st.randoms(use_true_random=False))
def test_every_sound_file_is_read_back_whatever_its_header_order(
    forms: Forms, random: Random
) -> None:
    header, size = _header(forms)
    items = list(header.items())
    random.shuffle(items)
    tensors = _read(_file(dict(items), size)).tensors
    assert {t.name: (t.dtype, list(t.shape)) for t in tensors} == forms
    ends = [tensor.end for tensor in tensors]
    assert [tensor.offset for tensor in tensors[1:]] == ends[:-1]


@settings(deadline=None)
@given(_forms(), st.data())
def test_every_truncation_is_refused(forms: Forms, data: st.DataObject) -> None:
    header, size = _header(forms)
    content = _file(header, size)
    kept = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(ManifestError):
        _read(content[:kept])


@settings(deadline=None)
@given(_forms(), st.integers(1, 9))
def test_bytes_that_belong_to_no_tensor_are_refused(forms: Forms, extra: int) -> None:
    header, size = _header(forms)
    with pytest.raises(ManifestError):
        _read(_file(header, size + extra))


@settings(deadline=None)
@given(_forms().filter(bool), st.data())
def test_moving_any_offset_is_refused(forms: Forms, data: st.DataObject) -> None:
    header, size = _header(forms)
    name = data.draw(st.sampled_from(sorted(header)))
    header[name]["data_offsets"][data.draw(st.integers(0, 1))] += data.draw(
        st.integers(-8, 8).filter(bool)
    )
    with pytest.raises(ManifestError):
        _read(_file(header, size))


@settings(deadline=None)
@given(st.binary(max_size=200) | _JSON.map(lambda value: _file(value, 0)))
def test_anything_else_is_refused_and_never_crashes(content: bytes) -> None:
    try:
        entry = _read(content)
    except ManifestError:
        return
    assert sum(tensor.bytes for tensor in entry.tensors) <= entry.bytes
