"""Which differences between two config.json mean something to an engine."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weightrollout.handover.fields import MAX_BYTES, PROVENANCE, SHOWN, fields_of, file_fields

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=12,
)


def fields(said: Any) -> dict[str, str]:
    return fields_of(json.dumps(said).encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"_name_or_path": "/a"}, {}),
        ({"transformers_version": "4.51.0"}, {"transformers_version": "4.57.1"}),
        ({"use_cache": True}, {"use_cache": False}),
        ({"torch_dtype": "bfloat16"}, {"dtype": "bfloat16"}),
        ({"torch_dtype": "torch.bfloat16"}, {"dtype": "bfloat16"}),
        ({"rope_theta": 10000}, {"rope_theta": 10000.0}),
        (
            {"text_config": {"torch_dtype": "float16", "_name_or_path": "x"}},
            {"text_config": {"dtype": "float16"}},
        ),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}}),
    ],
)
def test_what_only_says_who_wrote_it_is_no_difference(one: Any, other: Any) -> None:
    assert fields(one) == fields(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"torch_dtype": "bfloat16"}, {"dtype": "float16"}),
        ({"sliding_window": None}, {}),
        ({"tie_word_embeddings": True}, {"tie_word_embeddings": 1}),
        ({"eos_token_id": [1, 2]}, {"eos_token_id": [2, 1]}),
        ({"rope_scaling": {"factor": 8.0}}, {"rope_scaling": {"factor": 8.5}}),
        ({"eos_token_id": 1}, {"eos_token_id": "1"}),
        ({"layer_types": ["full"] * 60}, {"layer_types": ["full"] * 59 + ["sliding"]}),
    ],
)
def test_what_an_engine_would_read_differently_is_a_difference(one: Any, other: Any) -> None:
    assert fields(one) != fields(other)


def test_short_value_is_shown_and_a_long_one_is_named_by_its_hash() -> None:
    said = fields({"eos_token_id": [1, 2], "layers": ["full_attention"] * 40})
    assert said["eos_token_id"] == "[1,2]"
    assert said["layers"].startswith("sha256:")
    assert all(len(value) <= SHOWN + len("sha256:") for value in said.values())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b'{"\\ud800": 1}',
        b"\xff\xfe",
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b'{"a": ' + b"1" * 5000 + b"}",
        b'{"a": "' + b"x" * MAX_BYTES + b'"}',
    ],
)
def test_file_that_two_readers_could_understand_differently_has_no_fields(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        fields_of(data)


@given(st.dictionaries(st.text(max_size=6), JSON))
def test_writing_a_file_anew_never_makes_a_difference(said: dict[str, Any]) -> None:
    rewritten = json.dumps(said, indent=2, sort_keys=True, ensure_ascii=False)
    assert fields_of(rewritten.encode(errors="surrogatepass")) == fields(said)


@given(st.dictionaries(st.text(max_size=6), JSON, min_size=1), st.text(max_size=6), JSON)
def test_one_changed_field_is_the_only_one_named(
    said: dict[str, Any], key: str, value: Any
) -> None:
    before, after = fields(said), fields({**said, key: value})
    spelt_twice = {"dtype", "torch_dtype"} | PROVENANCE
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed <= {key} | spelt_twice


def test_file_that_cannot_be_read_is_left_to_its_hash(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    (tmp_path / "generation_config.json").write_text('{"top_k": 20}')
    assert file_fields(tmp_path) == {"generation_config.json": {"top_k": "20"}}
