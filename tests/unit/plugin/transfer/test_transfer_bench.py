"""The figures of `make bench-transfer` are of the ways that the page names."""

import os

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

from bench import transfer
from qwen3 import qwen3_06b_shapes, qwen3_shapes

TINY = qwen3_shapes(hidden=32, layers=2, heads=4, kv_heads=2, head_dim=8, mlp=64, vocab=257)


def test_the_tied_payload_is_the_one_that_the_papers_name() -> None:
    shapes = transfer.tied_shapes()
    assert len(shapes) == 310
    assert set(qwen3_06b_shapes()) - set(shapes) == {"lm_head.weight"}


def test_the_draft_is_one_layer_and_shares_what_is_large() -> None:
    shapes = transfer.draft_shapes()
    assert len(shapes) == 12
    assert not {"lm_head.weight", "model.embed_tokens.weight"} & set(shapes)


def test_every_way_is_measured_in_every_round_and_the_caller_is_unpinned_after() -> None:
    before = os.sched_getaffinity(0)
    figures = transfer.measure({"tiny": TINY}, 2)
    assert os.sched_getaffinity(0) == before
    [tiny] = figures["payloads"].values()
    assert (tiny["tensors"], set(tiny["seconds"])) == (25, set(transfer.BESIDE))
    assert {len(seconds) for seconds in tiny["seconds"].values()} == {2}
    rows = [line for line in transfer.rendered(figures).splitlines() if " ms |" in line]
    assert len(rows) == len(transfer.BESIDE)
