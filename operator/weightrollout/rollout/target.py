"""What the fleet is meant to serve: desired (the spec), target (what we converge on), stable.

Target differs from desired after a rejection, and while the spec is refused. With AfterComplete
"desired" is the revision under way, and what the spec says by now is queued behind it. All three come from
the history of revisions; status and the fleet ConfigMap only break ties, so a lost status costs
nothing. Where the history was lost, the ConfigMap alone says what to go back to.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from weightrollout.api.names import MAX_NAME_LENGTH
from weightrollout.api.reasons import HoldGate, HoldReason, RejectReason
from weightrollout.api.spec import OnFailure, Supersede
from weightrollout.rollout.fleet import Fleet, Ref, Revision, Verdict
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.revisions import BASELINE, find, highest, newest_verified, revision_name


@dataclass(frozen=True, slots=True)
class Goal:
    desired: Revision | None  # None: spec.weights is absent
    target: Revision  # number 0: the baseline
    stable: Revision | None  # None: no revision was verified by the whole fleet yet
    recorded: bool  # desired is in the history with the newest number, or is absent
    refusal: Refusal | None = None  # the spec is refused: nothing new starts
    queued: Revision | None = None  # what the spec says by now, where it waits for its turn
    conflict: str = ""  # message of VersionReused, where it is not in the history yet

    @property
    def rejected(self) -> bool:
        return self.desired is not None and self.desired.verdict is Verdict.REJECTED

    @property
    def rolling_back(self) -> bool:
        """The target is what we go back to."""
        return self.rejected and self.refusal is None and self.target is not self.desired

    @property
    def frozen(self) -> bool:
        """Serving pods are left alone; pods out of service still get stable."""
        stopped = self.rejected and not self.rolling_back
        return stopped or self.refusal is not None or self.desired is None

    @property
    def on_target_content(self) -> bool:
        """The target is the desired revision, pinned or not, and may be worked on."""
        return not self.frozen and not self.rolling_back


BASELINE_REVISION = Revision(BASELINE, number=0, digest_given=False, verdict=Verdict.VERIFIED)


def choose_goal(fleet: Fleet, *, give_way: bool = False) -> Goal:
    """`give_way`: what is under way has ended as far as it can, and the queue goes on."""
    stable = _stable(fleet)
    fallback = stable or BASELINE_REVISION
    if len(fleet.name) > MAX_NAME_LENGTH:
        return Goal(None, fallback, stable, True, _name_too_long(fleet.name))
    desired = _desired(fleet)
    if desired is None:
        return Goal(None, fallback, stable, True)
    running = None if give_way else _running(fleet, desired)
    if running is not None:
        return Goal(running, running, stable, True, queued=desired)
    known = find(fleet.revisions, desired.ref.revision) == desired
    conflict = _version_conflict(desired, fleet.revisions)
    if conflict or desired.reason == RejectReason.VERSION_REUSED:
        refusal = Refusal(HoldGate.SPEC, HoldReason.VERSION_REUSED, conflict or desired.message)
        return Goal(*(desired, _kept(fleet) or fallback, stable, True, refusal), conflict=conflict)
    aborted = desired.reason == RejectReason.ABORTED  # a person said so, whatever onFailure is
    goes_back = aborted or fleet.spec.on_failure is OnFailure.ROLLBACK
    if desired.verdict is Verdict.REJECTED and goes_back:
        return Goal(desired, fallback, stable, known)
    return Goal(desired, desired, stable, known)


def _desired(fleet: Fleet) -> Revision | None:
    """The revision of spec.weights as it should be in the history."""
    weights = fleet.spec.weights
    if weights is None:
        return None
    name = revision_name(fleet.name, weights)
    known = find(fleet.revisions, name)
    newest = highest(fleet.revisions)
    if known is None:
        ref = Ref(
            revision=name,
            version=weights.version,
            uri=weights.uri,
            digest=weights.digest,
            metadata=weights.metadata,
            draft=weights.draft,
            signature=weights.signature,
        )
        return Revision(ref, newest + 1, digest_given=weights.digest is not None)
    if known.number == newest or known.verdict is Verdict.REJECTED:
        return known
    # An old content comes back: it is the newest again, as in a StatefulSet's history.
    return replace(known, number=newest + 1)


def _running(fleet: Fleet, desired: Revision) -> Revision | None:
    """With AfterComplete: the revision that is under way, until it is stable or rejected.

    It follows from status.target and the history; where either was lost, the newest begins at once.
    """
    target = fleet.status.target
    if target is None or fleet.spec.strategy.supersede is Supersede.IMMEDIATE:
        return None
    known = find(fleet.revisions, target.revision)
    if known is None or known.ref.revision == desired.ref.revision:
        return None
    stable = fleet.status.stable
    ended = stable is not None and stable.revision == known.ref.revision
    if ended or known.verdict is Verdict.REJECTED:
        return None
    return known if known.number == highest(fleet.revisions) else None


def _stable(fleet: Fleet) -> Revision | None:
    """What status or the ConfigMap calls stable, where the history agrees; else newest Verified."""
    claims = [ref.revision for ref in (fleet.status.stable, fleet.published) if ref is not None]
    for name in claims:
        claimed = find(fleet.revisions, name)
        if claimed is not None and claimed.verdict is Verdict.VERIFIED:
            return claimed
    return newest_verified(fleet.revisions) or _outlived(fleet)


def _outlived(fleet: Fleet) -> Revision | None:
    """What is published, where no history knows better: it was deleted, by hand or with its owner.

    Pods that come up alone load just this, so it is what the fleet can go back to; the baseline
    behind it would restart every engine.
    """
    ref = fleet.published
    if ref is None or ref.digest is None:
        return None
    known = find(fleet.revisions, ref.revision)
    if known is not None and known.verdict is Verdict.REJECTED:
        return None
    return Revision(ref, number=0, digest_given=True, verdict=Verdict.VERIFIED)


def way_back(goal: Goal, stable: Revision | None, revisions: Iterable[Revision]) -> Revision | None:
    """What an abort or a rejection of the target leads to; None: the baseline, by restarts.

    Once the target is stable itself, that is the newest older one which the whole fleet verified.
    """
    arrived = stable is not None and stable.ref.revision == goal.target.ref.revision
    return before(stable, revisions) if arrived and goal.on_target_content else stable


def before(stable: Revision | None, revisions: Iterable[Revision]) -> Revision | None:
    """What would be stable without this one; None: the baseline."""
    name = stable.ref.revision if stable is not None else ""
    return newest_verified(each for each in revisions if each.ref.revision != name)


def _kept(fleet: Fleet) -> Revision | None:
    """What was converged on before the spec was refused."""
    target = fleet.status.target
    kept = None if target is None else find(fleet.revisions, target.revision)
    return kept if kept is not None and kept.verdict is not Verdict.REJECTED else None


def _version_conflict(desired: Revision, revisions: tuple[Revision, ...]) -> str:
    """Why the version may not be used for this digest; "" when it may, or is not known yet."""
    for other in revisions:
        same_version = other.ref.version == desired.ref.version
        if not same_version or other.ref.revision == desired.ref.revision:
            continue
        if other.ref.digest and desired.ref.digest and other.ref.digest != desired.ref.digest:
            return reused_message(desired.ref.version, other.ref.digest, desired.ref.digest)
    return ""


def reused_message(version: str, bound: str, found: str) -> str:
    return (
        f"version {version} is bound to {short(bound)} for ever and cannot become {short(found)}:"
        " give the new content a new version in spec.weights.version"
    )


def bound_digest(version: str, revision: str, revisions: tuple[Revision, ...]) -> str | None:
    """The digest that another revision bound this version to; None when none did."""
    for other in revisions:
        if other.ref.version == version and other.ref.revision != revision and other.ref.digest:
            return other.ref.digest
    return None


def short(digest: str | None) -> str:
    """A digest as people read it; "an unknown digest" when there is none."""
    return f"{digest[:15]}.." if digest else "an unknown digest"


def _name_too_long(name: str) -> Refusal:
    return Refusal(
        HoldGate.SPEC,
        HoldReason.NAME_TOO_LONG,
        f"the name has {len(name)} characters, {MAX_NAME_LENGTH} fit into the labels and names"
        " made from it: delete this WeightRollout and create it under a shorter name",
    )
