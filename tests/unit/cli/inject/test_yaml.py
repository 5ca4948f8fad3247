"""What kubectl would read from our output is what it would have read from the input."""

from typing import Any

import pytest

from weightrollout.cli.inject import documents, sizes
from weightrollout.cli.inject.report import Reason, Refused


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-11-29", "2026-11-29"),  # no date
        ("12:30", "12:30"),  # no number to the base of 60
        ("8000", 8000),
        ("0x10", 16),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        ("yes", True),
        ("", None),
        ('"1e3"', "1e3"),
        ("10.0.0.1", "10.0.0.1"),
        ("16Gi", "16Gi"),
        ("--port=80", "--port=80"),
    ],
)
def test_plain_scalars_are_read_as_kubectl_reads_them(text: str, value: Any) -> None:
    assert documents.read(f"a: {text}\n") == [{"a": value}]


@pytest.mark.parametrize(
    "text",
    [
        "1e3",
        "0o17",
        "y",
        "No",
        "on",
        "~",
        "null",
        "12:30",
        "2026-11-29",
        "1_000",
        "+1",
        ".5",
        "=",
        "",
    ],
)
def test_strings_that_some_reader_takes_for_something_else_are_quoted(text: str) -> None:
    written = documents.write([{"a": text}])
    assert written in (f'a: "{text}"\n', f"a: '{text}'\n")


def test_scripts_stay_readable() -> None:
    text = "set -e\nvllm serve /m\n"
    assert documents.write([{"a": text}]) == "a: |\n  set -e\n  vllm serve /m\n"


def test_anchors_are_written_out() -> None:
    [found] = documents.read("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n")
    assert documents.write([found]) == "a:\n  b: 1\nc:\n  b: 1\nd:\n  b: 1\n  e: 2\n"


@pytest.mark.parametrize("text", ["a: [", "a: 1\na: 2\n", "\ta: 1", "a: !!python/object:os.x {}"])
def test_what_is_no_plain_yaml_is_refused(text: str) -> None:
    with pytest.raises(Refused) as refused:
        documents.read(text)
    assert refused.value.reason is Reason.MALFORMED


@pytest.mark.parametrize(
    ("text", "found"), [("# a\nb: 1", True), ("b: 1 # a", True), ("b: a#c", False)]
)
def test_lost_comments_are_noticed(text: str, found: bool) -> None:
    assert documents.has_comments(text) is found


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16Gi", 16 << 30),
        ("1.5k", 1500),
        ("1e9", 10**9),
        (4, 4),
        ("100m", 1),
        ("0", 0),
        ("2Ti", 2 << 40),
    ],
)
def test_quantities_are_bytes(text: object, size: int) -> None:
    assert sizes.read(text) == size
    assert sizes.read(sizes.write(size)) == size


@pytest.mark.parametrize("text", ["", "16 Gi", "-1", "Gi", "1gi", "nan", "1e", None])
def test_what_is_no_quantity_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="quantity"):
        sizes.read(text)
