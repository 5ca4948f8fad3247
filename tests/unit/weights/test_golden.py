"""golden.json: read whole or refused by place, and compared number by number."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import checkpoints
from corpus.hostile import VALUES
from reports import report_of
from stagings import stage, visible
from weightrollout.api.swap import FailureClass
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.golden import (
    MAX_BYTES,
    MAX_TOP,
    GoldenError,
    GoldenPrompt,
    Token,
    mismatch,
    parse,
)
from weightrollout.weights.staging import Store

GOOD: dict[str, Any] = {
    "prompt": "The capital of France is",
    "tokenIds": [12095, 13],
    "topLogprobs": [{"12095": -0.31, "264": -2.9}, {"13": -0.8}],
    "tolerance": 0.05,
}


def file(*prompts: Any, **fields: Any) -> bytes:
    return json.dumps({"schema": 1, "prompts": list(prompts), **fields}).encode()


def test_what_is_written_is_what_is_read() -> None:
    (prompt,) = parse(file(GOOD)).prompts
    tokens = (Token(12095, {12095: -0.31, 264: -2.9}), Token(13, {13: -0.8}))
    assert prompt == GoldenPrompt("The capital of France is", tokens, 0.05)
    assert prompt.top == 2


def test_probabilities_may_be_left_out() -> None:
    (prompt,) = parse(file({"prompt": "a", "tokenIds": [1]})).prompts
    assert (prompt.tokens, prompt.top) == ((Token(1, {}),), 0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not JSON"),
        (b"[" * 20_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "it: must be an object"),
        (b"{}", "prompts, schema missing"),
        (file(GOOD, schema=2), "schema 2 is not 1"),
        (file(GOOD, schema=True), "schema True is not 1"),
        (file(GOOD, extra=1), "unknown 'extra'"),
        (file(), r"prompts: must be a list of 1 to 16"),
        (file(*[GOOD] * 17), r"prompts: must be a list of 1 to 16"),
        (file({**GOOD, "prompt": ""}), r"prompts\[0\]\.prompt"),
        (file({**GOOD, "prompt": "\ud800"}), r"prompts\[0\]\.prompt"),
        (file({**GOOD, "prompt": "x" * 8193}), r"prompts\[0\]\.prompt"),
        (file({**GOOD, "tokenIds": []}), r"tokenIds: must be a list of 1 to 256"),
        (file({**GOOD, "tokenIds": [True, 1]}), r"tokenIds\[0\]: True is no token id"),
        (file({**GOOD, "tokenIds": [1, 2**31]}), r"tokenIds\[1\]: 2147483648 is no token id"),
        (file({**GOOD, "tokenIds": [-1, 1]}), r"tokenIds\[0\]: -1 is no token id"),
        (file({**GOOD, "topLogprobs": [{"12095": -1}]}), r"topLogprobs: must be a list of 2"),
        (file({**GOOD, "topLogprobs": [{}, {}]}), r"\[0\]: must be an object of 1 to 20 ids"),
        (file({**GOOD, "topLogprobs": [{"012095": -1}, {"13": -1}]}), "'012095' is no token id"),
        (file({**GOOD, "topLogprobs": [{"\u0661": -1}, {"13": -1}]}), "is no token id"),
        (file({**GOOD, "topLogprobs": [{"12095": 0.1}, {"13": -1}]}), r"from -9999 to 0, is 0\.1"),
        (file({**GOOD, "topLogprobs": [{"264": -1}, {"13": -1}]}), "not greedy"),
        (
            file({**GOOD, "topLogprobs": [{"12095": -2, "264": -1}, {"13": -1}]}),
            r"topLogprobs\[0\]: id 12095 was taken and is not the likeliest listed: not greedy",
        ),
        (file({**GOOD, "tolerance": -1}), r"tolerance: must be a number from 0 to 10"),
        (file({**GOOD, "tolerance": 10**400}), r"tolerance: must be a number from 0 to 10"),
        (file({**GOOD, "tolerance": math.nan}), "NaN is no JSON number"),
        (file({"prompt": "a", "tokenIds": [1], "tolerance": 1}), "belong together"),
        (b'{"schema": 1, "schema": 1, "prompts": []}', "'schema' is there twice"),
        (file({**GOOD, "prompt": "x" * MAX_BYTES}), "longer than"),
    ],
)
def test_file_that_cannot_be_what_was_meant_is_refused_with_its_place(
    data: bytes, message: str
) -> None:
    with pytest.raises(GoldenError, match=message) as caught:
        parse(data)
    assert len(str(caught.value)) < 400


@given(st.binary(max_size=200) | st.sampled_from([value.encode() for value in VALUES]))
def test_no_bytes_do_anything_but_be_refused(data: bytes) -> None:
    with pytest.raises(GoldenError):
        parse(data)


PLACES = [("schema",), ("prompts",), ("prompts", 0), ("prompts", 0, "prompt")] + [
    ("prompts", 0, *rest)
    for rest in (
        ("tokenIds",),
        ("tokenIds", 0),
        ("topLogprobs",),
        ("topLogprobs", 0),
        ("topLogprobs", 0, "264"),
        ("tolerance",),
    )
]


@given(st.sampled_from(PLACES), st.sampled_from(VALUES))
def test_a_spoilt_field_is_refused_or_still_means_what_it_says(
    place: tuple[Any, ...], value: str
) -> None:
    document = json.loads(file(GOOD))
    parent = document
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = "@@"
    try:
        golden = parse(json.dumps(document).replace('"@@"', value).encode())
    except GoldenError:
        return
    for prompt in golden.prompts:
        assert 0 <= prompt.tolerance <= 10
        assert all(math.isfinite(each) for token in prompt.tokens for each in token.top.values())
        assert prompt.top <= MAX_TOP


LOGPROBS = st.floats(min_value=-30, max_value=0)


@st.composite
def prompts(draw: st.DrawFn) -> GoldenPrompt:
    tokens = []
    for _ in range(draw(st.integers(1, 5))):
        top = draw(st.dictionaries(st.integers(0, 999), LOGPROBS, min_size=1, max_size=5))
        tokens.append(Token(max(top, key=lambda each: top[each]), top))
    return GoldenPrompt("p", tuple(tokens), draw(st.floats(0.001, 1)))


@given(prompts())
def test_what_was_recorded_always_matches_itself(prompt: GoldenPrompt) -> None:
    written = {
        "prompt": prompt.prompt,
        "tokenIds": [token.id for token in prompt.tokens],
        "topLogprobs": [
            {str(key): value for key, value in token.top.items()} for token in prompt.tokens
        ],
        "tolerance": prompt.tolerance,
    }
    (again,) = parse(file(written)).prompts
    assert again == prompt
    assert mismatch(again, prompt.tokens) is None


@given(prompts(), st.data())
def test_a_logprob_beyond_the_tolerance_is_found_wherever_it_is(
    prompt: GoldenPrompt, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(prompt.tokens) - 1))
    token = prompt.tokens[at]
    which = data.draw(st.sampled_from(sorted(token.top)))
    off = token.top[which] - 2 * prompt.tolerance - 1e-6
    told = list(prompt.tokens)
    told[at] = Token(token.id, {**token.top, which: off})
    said = mismatch(prompt, told)
    assert said is not None
    assert said.startswith(f"token {at}: logprob of id {which}: expected {token.top[which]:.4f}")


WANT = GoldenPrompt("p", (Token(7, {7: -0.1, 8: -2.4, 9: -5.0}), Token(3, {3: -0.2})), 0.05)


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (
            [Token(8, {8: -0.3, 7: -0.4})],
            "token 0: expected id 7, got 8 (their logprobs are -0.4000",
        ),
        ([Token(8, {})], "token 0: expected id 7, got 8"),
        ([], "2 tokens are expected, the answer ended after 0"),
        (
            [Token(7, {7: -0.2, 8: -2.4, 9: -5.0})],
            "token 0: logprob of id 7: expected -0.1000, got -0.2000, which is off by 0.1000;"
            " tolerance 0.05",
        ),
        (
            [Token(7, {7: -0.1, 8: -2.4, 1: -6.0})],
            "logprob of id 9: expected -5.0000, but it is not among the 3 likeliest",
        ),
        ([Token(7, {7: math.nan, 8: -2.4, 9: -5.0})], "logprob of id 7"),
        ([Token(7, {})], "logprob of id 7"),
    ],
)
def test_mismatch_is_told_with_its_position_and_the_numbers(got: list[Token], message: str) -> None:
    said = mismatch(WANT, got)
    assert said is not None
    assert message in said


def test_id_that_lost_its_place_to_a_near_tie_is_no_mismatch() -> None:
    """The engine tells the likeliest only: what it leaves out is at most as likely as the last."""
    first = Token(7, {7: -0.1, 8: -2.4, 1: -4.98})
    assert mismatch(WANT, [first, Token(3, {3: -0.2})]) is None


# -- staging ------------------------------------------------------------------------------


def test_broken_golden_is_refused_before_any_tensor_is_read(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    report = report_of(folder)
    (folder / "golden.json").write_bytes(file({**GOOD, "tokenIds": "all"}))
    store = Store(tmp_path / "staging", threads=1)
    with pytest.raises(WeightsError, match=r"golden\.json: prompts\[0\]\.tokenIds") as caught:
        stage(store, folder, [report])
    assert caught.value.reason is Reason.GOLDEN_MALFORMED
    assert caught.value.failure_class is FailureClass.WEIGHTS
    assert visible(store) == []


def test_golden_is_kept_beside_the_image_and_the_source_is_not_needed_again(
    tmp_path: Path,
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    report = report_of(folder)
    (folder / "golden.json").write_bytes(file(GOOD))
    store = Store(tmp_path / "staging", threads=1)
    index = stage(store, folder, [report])
    (folder / "golden.json").unlink()
    assert store.golden(index.digest, index.plan_id) == parse(file(GOOD))


def test_checkpoint_without_a_golden_says_nothing(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    store = Store(tmp_path / "staging", threads=1)
    index = stage(store, folder, [report_of(folder)])
    assert store.golden(index.digest, index.plan_id) is None


def test_golden_that_is_not_what_was_staged_makes_the_image_none(tmp_path: Path) -> None:
    """Whoever shares the volume could else make any weights pass."""
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    report = report_of(folder)
    (folder / "golden.json").write_bytes(file(GOOD))
    store = Store(tmp_path / "staging", threads=1)
    index = stage(store, folder, [report])
    kept = store.region(index.digest, index.plan_id) / "golden.json"
    kept.write_bytes(file({"prompt": "a", "tokenIds": [1]}))
    assert store.index(index.digest, index.plan_id) is None
    assert store.staged(index.plan_id, [report]) == frozenset()
