"""python -m corpus.generate: write the corpus anew, with the class of every case as it is answered now.

Look at the diff of the expected classes: it is a change of behaviour.
"""

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from corpus import found, seeds
from corpus.hostile import VALUES, WHOLES, cut, field_replaced, flipped, spoilt
from corpus.hostile_calls import EPOCHS, NUMBERS, WHOLE_NUMBERS, calls, changed
from corpus.judges import EXPECTED, HERE, JUDGES

#: Cases made of a seed, beside those that are written out.
SPOILT: Final = {
    "journal": 70,
    "report": 60,
    "prepared": 24,
    "receipt": 40,
    "index": 32,
    "exit-request": 10,
    "stable": 40,
    "published": 10,
    "swap-annotation": 16,
    "golden": 60,
    "config": 48,
}


def documents(kind: str, random: Random) -> Iterator[bytes]:
    seed = seeds.DOCUMENTS[kind]
    yield seed
    yield from WHOLES
    yield from spoilt(seed, random, SPOILT[kind])


def safetensors(random: Random) -> Iterator[bytes]:
    data = bytes(seeds.HEADER_BYTES)
    sound = seeds.safetensors(json.dumps(seeds.HEADER), data)
    yield sound
    for text in ("", "{}", "[]", "null", "{", "[" * 20_000, '{"a":' * 4_000, "\ufeff{}"):
        yield seeds.safetensors(text, b"")
        yield seeds.safetensors(text, data)
    for length in (0, 1, 2**32, 2**63, 2**64 - 1, 100_000_000, 100_000_001):
        yield length.to_bytes(8, "little") + b"{}"
    for value in VALUES:
        for place in (("a", "shape"), ("a", "data_offsets"), ("b", "dtype"), ("a", "shape", 0)):
            if random.random() < 0.6:
                spoilt_header = field_replaced(seeds.HEADER, place, value)
                yield len(spoilt_header).to_bytes(8, "little") + spoilt_header + data
    for _ in range(16):
        yield cut(sound, random)
        yield flipped(sound, random)


def objects(seed: Mapping[str, Any], random: Random, count: int) -> Iterator[bytes]:
    """Objects as an API server keeps them: any JSON where it checks nothing, never broken text."""
    text = json.dumps(seed).encode()
    yield text
    for case in spoilt(text, random, 2 * count):
        try:
            json.loads(case)
        except (ValueError, RecursionError):
            continue
        yield case


def revisions(random: Random) -> Iterator[bytes]:
    values = [value.encode() for value in VALUES if len(value) < 4000]
    yield json.dumps(seeds.REVISION).encode()
    yield from (b'{"data": %s}' % value for value in values)
    yield from (b'{"data": {"weights": %s}}' % value for value in values)
    yield from (
        b'{"data": {"schema": 1, "weights": {"version": %s, "uri": "u"}}}' % value
        for value in values
    )
    of_a_stateful_set = {
        "metadata": {"ownerReferences": [{"kind": "StatefulSet", "uid": "s", "controller": True}]},
        "data": {"spec": {"template": {"metadata": {"labels": {}}}}},
        "revision": 41,
    }
    yield json.dumps(of_a_stateful_set).encode()
    owned_by_another = {
        **seeds.REVISION,
        "metadata": {"ownerReferences": [{"kind": "X", "uid": "s"}]},
    }
    yield json.dumps(owned_by_another).encode()


def pods(random: Random) -> Iterator[bytes]:
    """Annotations and labels are text, and conditions have a type: the API server sees to that."""
    yield json.dumps(seeds.POD).encode()
    for value in ("null", '""', '"x"', '"\\u202e"', json.dumps("y" * 3000), '"[[[["'):
        for place in (
            ("metadata", "labels", "weightrollout.dev/name"),
            ("metadata", "annotations", "weightrollout.dev/swap"),
            ("status", "conditions", 1, "status"),
            ("status", "conditions", 1, "reason"),
            ("status", "conditions", 1, "lastTransitionTime"),
            ("status", "phase"),
        ):
            if value != "null" or (place[0] == "status" and place[-1] != "phase"):
                yield field_replaced(seeds.POD, place, value)
    deep = json.dumps(
        {**seeds.POD, "metadata": {"annotations": {"weightrollout.dev/swap": "[" * 9000}}}
    )
    yield deep.encode()
    yield from (
        b'{"status": {}}',
        b'{"status": null}',
        b'{"status": {"conditions": null}}',
        b"{}",
    )


def metrics(random: Random) -> Iterator[bytes]:
    sound = seeds.METRICS.encode()
    yield sound
    name = "vllm:num_requests_running"
    for value in (
        "NaN",
        "+Inf",
        "-Inf",
        "1e999",
        "abc",
        "0x10",
        "",
        "1_0",
        "\u0663",
        "-5",
        "9" * 400,
    ):
        yield f"{name} {value}\n".encode()
        yield f'{name}{{a="1"}} {value}\n{name}{{a="2"}} 1\n'.encode()
    yield from (b"", b"\xff\xfe\xfd", b"\n" * 5000, b"{" * 9000, (name + "{").encode() * 300)
    yield f"{name}{{{'}' * 4000}".encode()
    yield f"{name}{' ' * 9000}".encode()
    for _ in range(12):
        yield cut(sound, random)
        yield flipped(sound, random)


def completions(random: Random) -> Iterator[bytes]:
    body = json.dumps(seeds.COMPLETION).encode()
    yield seeds.answer(body)
    for number, case in enumerate(spoilt(body, random, 72)):
        if number % 4 >= 2:
            yield seeds.answer(case)
    for whole in WHOLES:
        yield seeds.answer(whole)
    for status in ("204 No Content", "301 Moved", "400 Bad", "404 No", "500 Oops", "503 Busy"):
        yield seeds.answer(b"\xff<html>", status)
    for kind in ("text/plain; charset=utf-16", "x; charset=zlib", "x; charset=nonsense", "\xff"):
        yield seeds.answer(body, kind=kind)
    sse = b'data: {"choices":[{"text":"4"}]}\n\ndata: [DONE]\n\n'
    yield seeds.answer(sse, kind="text/event-stream")
    yield b""
    yield b"garbage\r\n\r\n"
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\nConnection: close\r\n\r\n{"
    yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"
    yield b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
    yield b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20_000 + b"\r\n\r\n"
    yield b"HTTP/1.1 302 F\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n"


def specs(random: Random) -> Iterator[bytes]:
    yield b"{}"
    yield from objects(seeds.FULL_SPEC, random, 34)


def agent_states(random: Random) -> Iterator[bytes]:
    """What protobuf takes: its own JSON form refuses the rest before any code of ours."""
    yield b"{}"
    yield json.dumps(seeds.AGENT_STATE).encode()
    for place, values in (
        (("transaction", "pauseMillis"), NUMBERS),
        (("staging", "bytes"), EPOCHS),
        (("staging", "total"), EPOCHS),
        (("attempts", 0, "attempts"), WHOLE_NUMBERS),
        (("transaction", "attempt"), WHOLE_NUMBERS),
        (("reservation", "ttlSeconds"), NUMBERS),
        (("transaction", "outcome"), ("", "Committed", "Undone", "Poisoned", "Sideways")),
        (("transaction", "phase"), ("", "Sideways", "Draining")),
        (("transaction", "failureClass"), ("Weights", "Pod", "Environment", "Sideways")),
        (("transaction", "txn"), ("", "/", "a/b/c/d", "cr-uid/chat-1/pod-uid/x")),
        (("serving", "version"), ("", "default", "v9", "\u202e", "z" * 5000)),
        (("serving", "digest"), ("", "sha256:", "z" * 5000)),
        (("incompatibleReason",), ("", "EplbEnabled", "z" * 5000)),
        (("incompatibleMessage",), ("z" * 5000,)),
        (("notReadyMessage",), ("z" * 5000,)),
        (("transaction", "message"), ("z" * 5000,)),
        (("poisoned",), (True,)),
        (("paused",), (True,)),
        (("fence", "epoch"), EPOCHS),
    ):
        for value in values:
            state = changed({"request": seeds.AGENT_STATE}, place, value)["request"]
            yield json.dumps(state).encode()


def all_cases(kind: str) -> Iterator[bytes]:
    random = Random(kind)
    match kind:
        case "safetensors":
            yield from safetensors(random)
        case "revision":
            yield from revisions(random)
        case "pod":
            yield from pods(random)
        case "metrics":
            yield from metrics(random)
        case "completion":
            yield from completions(random)
        case "rpc":
            yield from calls(random)
        case "spec":
            yield from specs(random)
        case "agent-state":
            yield from agent_states(random)
        case _:
            yield from documents(kind, random)
    yield from found.CASES.get(kind, ())


def write(kind: str) -> int:
    folder = HERE / kind
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    ending, judge = JUDGES[kind]
    expected = {}
    for number, data in enumerate(dict.fromkeys(all_cases(kind)), 1):
        name = f"{number:03}.{ending}"
        (folder / name).write_bytes(data)
        with TemporaryDirectory() as scratch:
            expected[name] = judge(data, Path(scratch))
    (folder / EXPECTED).write_text(json.dumps(expected, indent=0) + "\n")
    return len(expected)


if __name__ == "__main__":
    for each in sys.argv[1:] or JUDGES:
        print(f"{each}: {write(each)} cases")
