"""Nothing that lies in a volume makes the agent fall: cut at every byte, or any JSON at all."""

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus import hostile, seeds
from corpus.judges import JUDGES, Judge

VOLUME = ("journal", "report", "prepared", "receipt", "index", "exit-request", "stable")
#: Whole and sound; only then may it be believed.
SOUND = frozenset({"Understood", "Fits", "Prepared", "Proven", "Image", "Weights"})

pytestmark = pytest.mark.slow


def judged(judge: Judge, data: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return judge(data, Path(folder))


@pytest.mark.parametrize("kind", VOLUME)
def test_file_cut_at_any_byte_is_never_believed(kind: str) -> None:
    seed = seeds.DOCUMENTS[kind].rstrip()
    judge = JUDGES[kind][1]
    assert judged(judge, seed) in SOUND
    for kept in range(len(seed)):
        assert judged(judge, seed[:kept]) not in SOUND, kept


@pytest.mark.parametrize("kind", VOLUME)
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1 << 32))
def test_any_spoilt_field_or_bit_gets_an_answer(kind: str, seed: int) -> None:
    for data in hostile.spoilt(seeds.DOCUMENTS[kind], Random(seed), 3):
        judged(JUDGES[kind][1], data)


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "kind", [*VOLUME, "safetensors", "published", "swap-annotation", "metrics"]
)
@settings(max_examples=15, deadline=None)
@given(st.binary(max_size=200) | _JSON.map(lambda value: str(value).encode(errors="replace")))
def test_any_bytes_get_an_answer(kind: str, data: bytes) -> None:
    assert judged(JUDGES[kind][1], data)
