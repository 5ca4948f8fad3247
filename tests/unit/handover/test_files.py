"""Every transaction has file names of its own, inside its volume."""

from pathlib import Path
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.handover import files

VOLUME: Final = Path("/handover")
#: Uids and names as Kubernetes has them: no underscore, which stands for the slash.
_NAMES = st.text("ab-1", min_size=1, max_size=4)
_TXNS = st.tuples(_NAMES, _NAMES, _NAMES, st.integers(1, 99)).map(
    lambda parts: "/".join(map(str, parts))
)


@settings(max_examples=50, deadline=None)
@given(_TXNS, _TXNS)
def test_different_transactions_never_share_a_file(one: str, other: str) -> None:
    same = files.receipt(VOLUME, one, 0) == files.receipt(VOLUME, other, 0)
    assert same == (one == other)


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_no_transaction_id_leaves_the_volume(txn: str) -> None:
    for path in (files.receipt(VOLUME, txn, 0), files.prepared(VOLUME, txn, 0)):
        assert path.parent == VOLUME


def test_longest_transaction_id_is_still_a_file_name() -> None:
    uid = "f" * 36
    txn = f"{uid}/{'r' * 63}/{uid}/999"
    assert len(files.prepared(VOLUME, txn, 999).name) <= 255


def test_ranks_have_files_of_their_own() -> None:
    assert files.report(VOLUME, 0) != files.report(VOLUME, 1)
    assert files.receipt(VOLUME, "t", 0) != files.receipt(VOLUME, "t", 1)
    assert files.rank_image(VOLUME, 0) != files.rank_image(VOLUME, 1)


def test_receipts_of_the_two_sessions_lie_beside_each_other() -> None:
    target, draft = (
        files.receipt(VOLUME, "a/1", 0),
        files.receipt(VOLUME, "a/1", 0, session="draft"),
    )
    assert (target.name, draft.name) == ("receipt-a_1-rank0.json", "receipt-a_1-draft-rank0.json")


def test_region_names_digest_and_plan() -> None:
    assert files.region("sha256:" + "a" * 64, "b" * 16) == f"images/{'a' * 64}/{'b' * 16}"
