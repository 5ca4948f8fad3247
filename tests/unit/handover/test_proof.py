"""Each way in which receipts can fail to prove that the engine holds the image is noticed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from weightrollout.handover.proof import disproof
from weightrollout.handover.records import (
    Block,
    BlockSum,
    ImageIndex,
    LoadPlan,
    Piece,
    RankImage,
    Receipt,
)

TXN, INSTANCE = "cr/rev/pod/1", "engine-1"
DIGEST: Final = "sha256:" + "a" * 64


def _plan(rank: int) -> LoadPlan:
    blocks = tuple(
        Block(name, at * 4096, 8, "direct", (Piece(name, 8 * rank, 0, 8),))
        for at, name in enumerate(("embed", "norm", "head"))
    )
    return LoadPlan(rank, 3 * 4096, blocks)


PLANS: Final = (_plan(0), _plan(1))
INDEX: Final = ImageIndex(
    DIGEST,
    PLANS[0].plan_id(),
    tuple(
        RankImage(
            plan.rank,
            plan.image_bytes,
            tuple(
                BlockSum(b.parameter, 8, 100 * plan.rank + at) for at, b in enumerate(plan.blocks)
            ),
        )
        for plan in PLANS
    ),
)
RECEIPTS: Final = tuple(
    Receipt(
        txn=TXN,
        rank=plan.rank,
        instance=INSTANCE,
        digest=DIGEST,
        plan_id=INDEX.plan_id,
        names=tuple(sorted(plan.consumed())),
        blocks=image.blocks,
        pointers_ok=True,
        path="direct",
        millis=1.0,
    )
    for plan, image in zip(PLANS, INDEX.ranks, strict=True)
)
BLOCKS: Final = INDEX.ranks[1].blocks


def _disproof(receipts: Sequence[Receipt], index: ImageIndex = INDEX) -> str | None:
    return disproof(receipts, index, PLANS, txn=TXN, instance=INSTANCE)


def test_true_receipts_of_all_ranks_prove_the_image() -> None:
    assert _disproof(RECEIPTS) is None


def test_order_of_the_receipts_and_of_their_names_does_not_matter() -> None:
    first, second = RECEIPTS
    assert _disproof([second, replace(first, names=first.names[::-1])]) is None


def test_silent_rank_is_noticed() -> None:
    assert _disproof(RECEIPTS[:1]) == "rank 1 wrote no receipt"


def test_no_receipts_at_all_prove_nothing() -> None:
    assert _disproof([]) == "rank 0 wrote no receipt"


def test_one_rank_cannot_speak_for_another() -> None:
    assert _disproof([RECEIPTS[0], RECEIPTS[0]]) == "rank 1 wrote no receipt"


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ({"txn": "cr/rev/pod/0"}, "receipt is of transaction cr/rev/pod/0"),
        ({"instance": "engine-0"}, "instance engine-0"),
        ({"digest": "sha256:" + "b" * 64}, "receipt is for sha256:bbb"),
        ({"plan_id": "0" * 16}, "plan 0000000000000000"),
        ({"pointers_ok": False}, "was not where the plan expects it"),
        ({"blocks": BLOCKS[:2]}, "2 of 3 blocks"),
        ({"blocks": ()}, "0 of 3 blocks"),
        ({"blocks": (*BLOCKS, BlockSum("extra", 8, 1))}, "4 of 3 blocks"),
        ({"blocks": (BLOCKS[1], BLOCKS[0], BLOCKS[2])}, "wrong checksum: embed, norm"),
        ({"blocks": (*BLOCKS[:2], replace(BLOCKS[2], crc32=1))}, "wrong checksum: head"),
        ({"blocks": (*BLOCKS[:2], replace(BLOCKS[2], bytes=4))}, "wrong checksum: head"),
        ({"blocks": (*BLOCKS[:2], replace(BLOCKS[2], parameter="x"))}, "wrong checksum: head"),
        ({"blocks": RECEIPTS[0].blocks}, "wrong checksum: embed"),
        ({"names": ("embed", "head")}, "names differ from the plan: norm"),
        ({"names": ("embed", "head", "norm", "x")}, "names differ from the plan: x"),
        ({"names": ()}, "names differ from the plan: embed, head, norm"),
    ],
)
def test_rank_that_lies_is_caught_by_name(lie: dict[str, Any], message: str) -> None:
    found = _disproof([RECEIPTS[0], replace(RECEIPTS[1], **lie)])
    assert found is not None
    assert found.startswith("rank 1: ")
    assert message in found


def test_receipt_of_the_target_says_nothing_about_the_draft() -> None:
    wanted = {"txn": TXN, "instance": INSTANCE, "session": "draft"}
    assert disproof(RECEIPTS, INDEX, PLANS, **wanted) == (
        "rank 0: receipt is of the target's session"
    )
    drafts = [replace(receipt, session="draft") for receipt in RECEIPTS]
    assert disproof(drafts, INDEX, PLANS, **wanted) is None


def test_image_of_fewer_ranks_than_the_engine_has_proves_nothing() -> None:
    index = replace(INDEX, ranks=INDEX.ranks[:1])
    assert _disproof(RECEIPTS, index) == "the image is for 1 ranks, the engine has 2"
