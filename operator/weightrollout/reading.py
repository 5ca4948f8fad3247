"""What objects of the API server mean to the planner. Only translation happens here.

For the doors that give the planner a fleet: the operator, and `kubectl weightrollout plan`. Anything that
was not said is None or empty, never a default.
"""

import json
from collections.abc import Iterable

from pydantic import ValidationError

from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.kube.client import Json
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.rollout.fleet import Ref, Revision, Verdict
from weightrollout.rollout.profile import resolved
from weightrollout.rollout.revisions import metadata_of, retry_of


class InvalidSpec(Exception):
    """The API server let through what this operator cannot read; says which field and why."""


def read_spec(body: Json) -> WeightRolloutSpec:
    """As it holds: with what its profile chooses."""
    try:
        return resolved(WeightRolloutSpec.model_validate(body.get("spec") or {}))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        field = ".".join(str(each) for each in ("spec", *first["loc"]))
        more = f" (and {wrong.error_count() - 1} more)" if wrong.error_count() > 1 else ""
        raise InvalidSpec(f"{field}: {first['msg']}{more}: correct or remove it") from wrong


def read_status(body: Json) -> WeightRolloutStatus:
    """The empty one when it was lost or was written by a release that this one cannot read."""
    try:
        return WeightRolloutStatus.model_validate(body.get("status") or {})
    except ValidationError:
        return WeightRolloutStatus()


def own_revisions(
    records: Iterable[RevisionRecord], rollout: str, uid: str
) -> list[RevisionRecord]:
    """By number: ours, and orphans that carry our label. Those of an owner that was deleted vanish by
    themselves, and those of the StatefulSet or DaemonSet, which carry its pods' labels, never were ours."""
    mine = (
        record
        for record in records
        if record.rollout == rollout and record.owner_uid in (uid, "") and record.version
    )
    return sorted(mine, key=lambda record: (record.number, record.name))


def revision_of(record: RevisionRecord) -> Revision:
    """One of `own_revisions`: where it has an owner, that is us."""
    digest = record.given_digest or record.pinned_digest or None
    return Revision(
        ref=Ref(
            revision=record.name,
            version=record.version,
            uri=record.uri,
            digest=digest,
            metadata=metadata_of(record.metadata),
            draft=record.draft,
            signature=record.signature,
        ),
        number=record.number,
        digest_given=bool(record.given_digest),
        verdict=Verdict(record.verdict) if record.verdict in set(Verdict) else None,
        reason=record.reason,
        message=record.message,
        retry=retry_of(record.retry),
        owned=bool(record.owner_uid),
    )


def published(record: StableRecord | None) -> Ref | None:
    if record is None or not record.revision:
        return None
    return Ref(
        revision=record.revision,
        version=record.version,
        uri=record.uri,
        digest=record.digest or None,
        metadata=metadata_of(record.metadata),
        draft=record.draft,
        signature=record.signature,
    )


def put_in_txn(annotation: str) -> str:
    """ "" when it is absent or was spoilt: the annotation is a note of ours, never a store."""
    try:
        said = json.loads(annotation)
    except (ValueError, RecursionError):
        return ""
    return str(said.get("txn", "")) if isinstance(said, dict) else ""
