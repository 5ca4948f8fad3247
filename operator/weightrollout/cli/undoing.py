"""Where undo leads, and by which way: an edit of spec.weights, or abort where something keeps the spec.

Pure. A GitOps controller would write an edited spec back, and the fleet would swap for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weightrollout.cli.access import NotPossible
from weightrollout.cli.view import View
from weightrollout.kube.revisions import RevisionRecord, canonical_data, content_of
from weightrollout.rollout.fleet import Verdict


@dataclass(frozen=True, slots=True)
class Undo:
    """`keeper` "": spec.weights is edited. Else abort, because that controller would write it back."""

    leaves: str  # version
    to: RevisionRecord
    keeper: str


def undo_of(
    name: str,
    view: View,
    records: Sequence[RevisionRecord],
    keeper: str | None,
    to_revision: int | None,
) -> Undo:
    """Raises NotPossible."""
    now = view.desired
    leaves = next((each for each in records if now and each.name == now.revision), None)
    older = [
        each
        for each in records
        if each.verdict == Verdict.VERIFIED
        and leaves is not None
        and each.name != leaves.name
        and each.number < leaves.number
    ]
    newest = max(older, key=lambda each: each.number, default=None)
    to = newest if to_revision is None else _numbered(name, records, to_revision)
    if to is None:
        raise NotPossible(
            f"{name} has no older version that the whole fleet verified: 'kubectl weightrollout"
            f" history {name}' shows what there is"
        )
    if now is not None and to.name == now.revision:
        raise NotPossible(f"revision {to.number} ({to.version}) is what {name} is asked to serve")
    if to.verdict == Verdict.REJECTED:
        raise NotPossible(
            f"revision {to.number} ({to.version}) was rejected ({to.reason}) and would not be tried"
            f" again: ask for it in spec.weights, then 'kubectl weightrollout retry {name}'"
        )
    if keeper is not None and to is not newest:
        raise NotPossible(
            f"{keeper} keeps spec.weights and would write it back: change it at its source."
            + (
                f" Without --to-revision this goes to revision {newest.number} ({newest.version})"
                if newest is not None
                else ""
            )
        )
    return Undo(leaves.version if leaves is not None else "", to, keeper or "")


def weights_of(record: RevisionRecord) -> dict[str, object]:
    """Just as it was asked for then, so that it is the same revision again."""
    weights: dict[str, object] = canonical_data(content_of(record))["weights"]
    return weights


def _numbered(name: str, records: Sequence[RevisionRecord], number: int) -> RevisionRecord:
    for each in records:
        if each.number == number:
            return each
    numbers = ", ".join(str(each.number) for each in records)
    raise NotPossible(f"{name} has no revision {number}; it has {numbers or 'none'}")
