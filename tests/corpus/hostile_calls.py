"""Calls to an agent that no operator would make."""

import copy
import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, Final

from corpus import seeds

BIG: Final = {"repeat": "x", "times": 1 << 20}
TEXTS: Final[tuple[Any, ...]] = (
    "",
    "../../../etc/passwd",
    "a\u0000b",
    "a\nb\r",
    "\u202eabc",
    "\U0001f680" * 70,
)
NUMBERS: Final = ("NaN", "Infinity", "-Infinity", -1.0, 0.0, 1e308, 5e-324)
WHOLE_NUMBERS: Final = (-1, 0, 2**31 - 1, -(2**31))
EPOCHS: Final = ("-1", "0", "9223372036854775807", "-9223372036854775808", "9007199254740993")


def calls(random: Random) -> Iterator[bytes]:
    prepared = [seeds.HELLO, seeds.STAGE, seeds.RESERVE]
    for sound in ([], [seeds.STAGE], [seeds.STAGE, seeds.RESERVE], [*prepared[1:], seeds.SWAP]):
        yield _calls([seeds.HELLO, *sound])
    yield _calls([seeds.STAGE])
    for call in (seeds.HELLO, seeds.STAGE, seeds.RESERVE, seeds.SWAP, seeds.RELEASE, seeds.RESTART):
        before = [] if call is seeds.HELLO else [seeds.HELLO]
        yield _calls([*before, {"call": call["call"], "request": {}}])
        yield _calls([*before, {"call": call["call"], "request": {"fence": seeds.FENCE}}])
        for epoch in random.sample(EPOCHS, 2):
            yield _calls([*before, changed(call, ("fence", "epoch"), epoch)])
    texts = [
        (seeds.HELLO, ("fence", "ownerUid"), []),
        (seeds.HELLO, ("operatorVersion",), []),
        (seeds.STAGE, ("weights", "uri"), [seeds.HELLO]),
        (seeds.STAGE, ("weights", "digest"), [seeds.HELLO]),
        (seeds.STAGE, ("weights", "version"), [seeds.HELLO]),
        (seeds.STAGE, ("weights", "revision"), [seeds.HELLO]),
        (seeds.RESERVE, ("txn",), [seeds.HELLO, seeds.STAGE]),
        (seeds.RESERVE, ("weights", "digest"), [seeds.HELLO]),
        (seeds.RESERVE, ("weights", "version"), [seeds.HELLO, seeds.STAGE]),
        (seeds.SWAP, ("txn",), prepared),
        (seeds.SWAP, ("prompts", 0, "prompt"), prepared),
        (seeds.SWAP, ("prompts", 0, "contains"), prepared),
        (seeds.RELEASE, ("txn",), prepared),
        (seeds.RESTART, ("serve", "digest"), [seeds.HELLO]),
        (seeds.RESTART, ("serve", "version"), [seeds.HELLO]),
        (seeds.RESTART, ("reason",), [seeds.HELLO]),
    ]
    for call, place, before in texts:
        for text in (*random.sample(TEXTS, 2), BIG):
            yield _calls([*before, changed(call, place, text)])
    for call, place, before in (
        (seeds.WATCH, ("heartbeatSeconds",), []),
        (seeds.RESERVE, ("ttlSeconds",), prepared[:2]),
        (seeds.SWAP, ("drainSeconds",), prepared),
        (seeds.SWAP, ("deadlineSeconds",), prepared),
    ):
        for number in NUMBERS:
            yield _calls([*before, changed(call, place, number)])
    for place in (("attempt",), ("prompts", 0, "maxTokens")):
        for whole in WHOLE_NUMBERS:
            yield _calls([*prepared, changed(seeds.SWAP, place, whole)])
    for uri in _uris():
        yield _calls([seeds.HELLO, changed(seeds.STAGE, ("weights", "uri"), uri)])


def _uris() -> tuple[str, ...]:
    return (
        "file:///",
        "file:///..",
        "file:///proc/self/mem",
        "file:///dev/zero",
        "file:///%00",
        "file:///%ff",
        "file:///%FF%FE/x",
        "file:///a%0ab",
        "file://host/x",
        "file:///a?b#c",
        "file:relative",
        "ftp://bucket/x",
        "s3://key:secret@bucket/x",
        "https://host/x?y",
        "hf://",
        "http://[",
        "//x",
        "file:///" + "a/" * 1000,
        "file:///" + "b" * 2000,
        "file:///" + "%f0" * 600,
    )


def changed(call: Mapping[str, Any], place: tuple[Any, ...], value: Any) -> Mapping[str, Any]:
    spoilt = copy.deepcopy(dict(call))
    parent = spoilt["request"]
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return spoilt


def _calls(calls: list[Mapping[str, Any]]) -> bytes:
    return json.dumps(calls).encode()
