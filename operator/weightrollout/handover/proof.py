"""Do the receipts prove that the engine holds exactly this image?"""

from collections.abc import Iterable

from weightrollout.handover.records import TARGET, ImageIndex, LoadPlan, Receipt


def disproof(
    receipts: Iterable[Receipt],
    index: ImageIndex,
    plans: Iterable[LoadPlan],
    *,
    txn: str,
    instance: str,
    session: str = TARGET,
) -> str | None:
    """None when proven, else what is missing or wrong, for people.

    One receipt per rank of this very engine process; every block of every rank with the checksum
    taken at staging; and the names read are exactly the names the plans consume.
    """
    by_rank = {receipt.rank: receipt for receipt in receipts}
    plan_of = {plan.rank: plan for plan in plans}
    if sorted(plan_of) != sorted(image.rank for image in index.ranks):
        return f"the image is for {len(index.ranks)} ranks, the engine has {len(plan_of)}"
    for image in index.ranks:
        receipt = by_rank.get(image.rank)
        if receipt is None:
            return f"rank {image.rank} wrote no receipt"
        if (receipt.txn, receipt.instance) != (txn, instance):
            return f"rank {image.rank}: receipt is of transaction {receipt.txn}, instance {receipt.instance}"
        if receipt.session != session:
            return f"rank {image.rank}: receipt is of the {receipt.session}'s session"
        if (receipt.digest, receipt.plan_id) != (index.digest, index.plan_id):
            return f"rank {image.rank}: receipt is for {receipt.digest}, plan {receipt.plan_id}"
        if not receipt.pointers_ok:
            return f"rank {image.rank}: a live tensor was not where the plan expects it"
        wrong = [
            want.parameter
            for want, got in zip(image.blocks, receipt.blocks, strict=False)
            if want != got
        ]
        if wrong or len(image.blocks) != len(receipt.blocks):
            return (
                f"rank {image.rank}: {len(receipt.blocks)} of {len(image.blocks)} blocks,"
                f" wrong checksum: {', '.join(wrong[:3]) or 'none'}"
            )
        missing = plan_of[image.rank].consumed() ^ frozenset(receipt.names)
        if missing:
            return (
                f"rank {image.rank}: names differ from the plan: {', '.join(sorted(missing)[:3])}"
            )
    return None
