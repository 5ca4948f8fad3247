"""The check for a machine with a GPU, as far as a machine without one can run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from gpu import bytes_arrive, speed
from gpu.check import LIMIT, check
from qwen3 import qwen3_06b_shapes, qwen3_shapes
from transfercore.lazystream import LazyStream
from transfercore.payload import payload
from weightrollout.plugin.transfer import Ring
from weightrollout.plugin.transfer.streams import Copies

CPU = torch.device("cpu")
TINY = qwen3_shapes(hidden=32, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=64, vocab=257)


def ring(stream: LazyStream | None = None, slot_bytes: int = 4096) -> Ring:
    buffers = [torch.zeros(slot_bytes, dtype=torch.uint8) for _ in range(2)]
    return Ring(buffers, stream or LazyStream())


class Forgetful(LazyStream):
    """Loses the last copy of every buffer: what the check must see."""

    def send(self, copies: Copies, slot: int) -> None:
        super().send(copies[:-1], slot)


def test_the_reference_payload_is_what_the_figures_say() -> None:
    shapes = qwen3_06b_shapes()
    numel = sum(torch.Size(sizes).numel() for _, sizes in shapes.values())
    assert (len(shapes), 2 * numel) == (311, 1_503_264_768)


@pytest.mark.slow
def test_random_pairs_pass_through_a_ring_and_without_one() -> None:
    assert bytes_arrive.random_pairs(CPU, ring(), lists=20) == []
    assert bytes_arrive.random_pairs(CPU, None, lists=20) == []


def test_payloads_pass() -> None:
    both = {"main": payload(TINY, CPU, seed=1), "draft": payload(TINY, CPU, seed=2)}
    assert bytes_arrive.payloads(both, ring()) == []
    assert not torch.equal(both["main"].live[0], both["draft"].live[0])


def test_a_device_that_loses_copies_is_seen() -> None:
    assert bytes_arrive.random_pairs(CPU, ring(Forgetful()), lists=20)
    lost = bytes_arrive.payloads({"main": payload(TINY, CPU, seed=1)}, ring(Forgetful()))
    assert lost
    assert lost[0].startswith("main, run 0: ")


def test_figures_are_of_the_same_bytes_in_turn() -> None:
    tiny = payload(TINY, CPU, seed=1)
    turns: list[str] = []
    ways = {"limit": lambda: turns.append("limit"), "other": lambda: turns.append("other")}
    ways |= speed.ways_of("tiny", tiny, {"small": ring()}, threads=(1, 2))
    seconds = speed.interleaved(ways, 3)
    assert turns == ["limit", "other"] * 4
    assert {len(values) for values in seconds.values()} == {3}
    assert tiny.wrong() == []
    text = speed.table({"limit": [0.1, 0.3, 0.2], "half": [0.2, 0.6, 0.4]}, 10**9, limit="limit")
    assert [line.split()[1:] for line in text.splitlines()[1:]] == [
        ["200.0", "5.0", "1.00"],
        ["400.0", "2.5", "0.50"],
    ]


class Elsewhere:
    """A place like a GPU that is none: its queue is as late as one can be."""

    name = "no device"
    device = CPU

    def __init__(self, *, pins: bool = True, stream: type[LazyStream] = LazyStream) -> None:
        self._pins = pins
        self._stream = stream

    def ring(self, slots: int, slot_bytes: int) -> Ring | None:
        return ring(self._stream(), min(slot_bytes, 1 << 14)) if self._pins else None

    def pinned(self, nbytes: int) -> torch.Tensor:
        return torch.ones(nbytes, dtype=torch.uint8)

    def wait(self) -> None:
        pass


@pytest.mark.slow
def test_the_whole_check_passes_where_every_byte_arrives(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures, problems = check(Elsewhere(), TINY, rounds=2, lists=5)
    assert problems == []
    assert (figures["tensors"], figures["rounds"]) == (25, 2)
    assert {len(seconds) for seconds in figures["seconds"].values()} == {2}
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(figures["seconds"])
    assert next(iter(figures["seconds"])) == LIMIT


def test_the_whole_check_fails_on_a_device_that_loses_copies() -> None:
    _, problems = check(Elsewhere(stream=Forgetful), TINY, rounds=1, lists=5)
    assert any(problem.startswith("main, run 0") for problem in problems)
    assert any(problem.startswith("list ") for problem in problems)


def test_a_device_for_which_nothing_can_be_pinned_is_a_failure_of_the_check() -> None:
    assert check(Elsewhere(pins=False), TINY, rounds=1, lists=1) == (
        {},
        ["memory could not be pinned"],
    )


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: make test-gpu")
def test_without_a_gpu_the_script_says_so_and_measures_nothing(tmp_path: Path) -> None:
    script = Path(__file__).parents[3] / "gpu" / "run.sh"
    # Our own Python, with the torch that these tests have.
    shim = tmp_path / "python"
    folder = Path(torch.__file__).parents[1]
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{folder}" exec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    out = tmp_path / "gpu.json"
    environment = {**os.environ, "PYTHON": str(shim)}
    done = subprocess.run(
        [script, out], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "skipped: torch sees no CUDA device\n"), (
        done.stderr
    )
    assert not out.exists()
