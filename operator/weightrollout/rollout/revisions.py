"""A revision's name and number: what makes two contents of spec.weights the same.

The name is a hash of what the user wrote, in a canonical form with a schema number. A new release
must never change the form of an old schema number, else every fleet would swap at once on upgrade.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import Final

from weightrollout.api.spec import Metadata, Weights
from weightrollout.rollout.fleet import Ref, Retry, Revision, Verdict

SCHEMA: Final = 1
BASELINE: Final = Ref("baseline", "default")


def canonical(weights: Weights) -> str:
    """The fields of spec.weights that say more than their default: sorted keys, no spaces, ASCII.

    A default that a newer API server fills in is not the user's word, and changes no revision.
    """
    fields = weights.model_dump(by_alias=True, exclude_defaults=True)
    document = {"schema": SCHEMA, "weights": fields}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def said_metadata(ref: Ref) -> str:
    """spec.weights.metadata as it is kept: "" for the default, so that an older form stays as it is."""
    return "" if ref.metadata is Metadata.REQUIRE else str(ref.metadata)


def metadata_of(said: str) -> Metadata:
    """Any other word than Ignore is the stricter one."""
    return Metadata.IGNORE if said == Metadata.IGNORE else Metadata.REQUIRE


def said_retry(retry: Retry | None) -> str:
    """As it is kept beside the revision; "" for none."""
    if retry is None:
        return ""
    return json.dumps({"id": retry.id, "tries": retry.tries, "after": retry.after}, sort_keys=True)


def retry_of(said: str) -> Retry | None:
    """None also where it was spoilt: then old failures count again, which is only slower."""
    try:
        found = json.loads(said)
        return Retry(str(found["id"]), int(found["tries"]), int(found["after"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def revision_name(rollout: str, weights: Weights) -> str:
    digest = hashlib.sha256(canonical(weights).encode()).hexdigest()
    return f"{rollout}-{digest[:10]}"


def find(revisions: Iterable[Revision], name: str) -> Revision | None:
    return next((each for each in revisions if each.ref.revision == name), None)


def highest(revisions: Iterable[Revision]) -> int:
    """Highest number in the history; 0 (the baseline) when it is empty."""
    return max((each.number for each in revisions), default=0)


def newest_verified(revisions: Iterable[Revision]) -> Revision | None:
    verified = (each for each in revisions if each.verdict is Verdict.VERIFIED)
    return max(verified, key=lambda each: each.number, default=None)
