"""Ways to spoil an input. Seeded: the same seed gives the same cases on every machine."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

#: JSON text that stands where a sound value stood. Not every one is a value that Python can dump.
VALUES: Final = (
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "NaN",
    "Infinity",
    "1e999",
    "9223372036854775808",
    "1" + "0" * 400,
    "1" + "0" * 4400,
    '""',
    '"x"',
    '"\\ud800"',
    '"\\u0000"',
    '"a\\nb"',
    '"../../etc/passwd"',
    '"\\uFEFF\\u202E"',
    json.dumps("y" * 3000),
    "[]",
    "{}",
    "[[]]",
    '{"a": {"b": [1]}}',
    "[" * 3000 + "]" * 3000,
)
#: Whole inputs that are right for no kind of JSON.
WHOLES: Final = (
    b"",
    b"\n",
    b"null",
    b"[]",
    b"{}",
    b"0",
    b'"text"',
    b"{",
    b"\xff\xfe\x00",
    b"\xef\xbb\xbf{}",
    b"\x00" * 64,
    b"[" * 20_000,
    b'{"a":' * 5_000,
    b'{"schema":1}',
    b'{"schema":2}',
    b'{"schema":true}',
    b'{"schema":1.0}',
    b'{"schema":1,"schema":2}',
    b'{"schema":"' + b"z" * 2000 + b'"}',
    b'{"schema":1' + b"0" * 5000 + b"}",
)
_MARK: Final = "@@hostile@@"


def spoilt(seed: bytes, random: Random, count: int) -> Iterator[bytes]:
    """`count` inputs made of a sound JSON text: fields, cuts and flipped bits in turn."""
    document = json.loads(seed)
    places = list(_places(document, ()))
    random.shuffle(places)
    for number in range(count):
        match number % 4:
            case 0:
                yield cut(seed, random)
            case 1:
                yield flipped(seed, random)
            case _:
                place = places[number % len(places)]
                yield field_replaced(document, place, random.choice(VALUES))


def cut(seed: bytes, random: Random) -> bytes:
    return seed[: random.randrange(len(seed))]


def flipped(seed: bytes, random: Random) -> bytes:
    at = random.randrange(len(seed))
    return seed[:at] + bytes([seed[at] ^ (1 << random.randrange(8))]) + seed[at + 1 :]


def field_replaced(document: Any, place: tuple[Any, ...], text: str) -> bytes:
    """`text` is put in as it is: it need not be what json.dumps would write."""
    document = copy.deepcopy(document)
    parent = document
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = _MARK
    return json.dumps(document).replace(f'"{_MARK}"', text).encode()


def _places(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _places(value[key], (*at, key))
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _places(each, (*at, number))
