"""The versions that a fleet was asked to serve, newest first, and what became of each.

In: the WeightRollout, its ControllerRevisions and pods. Out: one `Past` per revision.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import yaml
from rich.text import Text

from weightrollout.api.names import ANNOTATION_VERDICT_TIME
from weightrollout.cli.table import Cell, table
from weightrollout.cli.view import View, view_of
from weightrollout.cli.words import age, short
from weightrollout.kube.client import Json
from weightrollout.kube.pods import Pod
from weightrollout.kube.revisions import RevisionRecord, trim_revision
from weightrollout.reading import own_revisions
from weightrollout.rollout.fleet import Verdict

_STYLE = {Verdict.VERIFIED: "green", Verdict.REJECTED: "red"}


@dataclass(frozen=True, slots=True)
class Past:
    number: int
    revision: str  # name of the ControllerRevision
    version: str
    uri: str
    digest: str  # given, or pinned by the operator; "" until then
    digest_given: bool
    roles: tuple[str, ...]  # of "desired", "target", "stable"
    pods: int  # that serve its version, as the status screen has it
    verdict: str  # Verified, Rejected, or "" while nobody can say
    verdict_time: str  # RFC 3339
    created: str  # RFC 3339
    reason: str
    message: str


def past_of(rollout: Json, revisions: Iterable[Json], pods: Iterable[Pod]) -> tuple[Past, ...]:
    bodies = {each["metadata"]["name"]: each for each in revisions}
    metadata, view = rollout["metadata"], view_of(rollout, pods)
    records = own_records(metadata, bodies.values())
    serving = [group.version for group in view.versions for _ in group.pods]
    return tuple(_past(record, bodies[record.name], view, serving) for record in reversed(records))


def own_records(metadata: Json, revisions: Iterable[Json]) -> list[RevisionRecord]:
    records = (trim_revision(each) for each in revisions)
    return own_revisions(records, metadata["name"], metadata["uid"])


def _past(record: RevisionRecord, body: Json, view: View, serving: Sequence[str]) -> Past:
    named = {"desired": view.desired, "target": view.target, "stable": view.stable}
    annotations = body["metadata"].get("annotations") or {}
    return Past(
        number=record.number,
        revision=record.name,
        version=record.version,
        uri=record.uri,
        digest=record.given_digest or record.pinned_digest,
        digest_given=bool(record.given_digest),
        roles=tuple(role for role, ref in named.items() if ref and ref.revision == record.name),
        pods=serving.count(record.version),
        verdict=record.verdict,
        verdict_time=annotations.get(ANNOTATION_VERDICT_TIME, ""),
        created=body["metadata"].get("creationTimestamp", ""),
        reason=record.reason,
        message=record.message,
    )


def screen_of(all_of_it: Sequence[Past], now: datetime, width: int | None) -> Text:
    heads = ("REVISION", "VERSION", "VERDICT", "AGE", "PODS", "ROLE", "DIGEST", "WHY")
    rows = [
        (
            Cell(str(each.number)),
            Cell(each.version),
            Cell(
                each.verdict or "none yet",
                _STYLE.get(Verdict(each.verdict), "") if each.verdict in set(Verdict) else "yellow",
            ),
            Cell(age(each.created, now)),
            Cell(str(each.pods) if each.pods else ""),
            Cell(", ".join(each.roles)),
            Cell(short(each.digest)),
            Cell(_why(each)),
        )
        for each in all_of_it
    ]
    return table(heads, rows, width, spare=("DIGEST", "AGE", "PODS"))


def _why(each: Past) -> str:
    """Of what went wrong; that all pods verified it is said by the verdict."""
    return f"{each.reason}: {each.message}" if each.verdict == Verdict.REJECTED else ""


def one_of(each: Past, weights: Json) -> Text:
    """Everything about one revision, with the weights as they can be put into a spec."""
    rows = {
        "revision": f"{each.number} ({each.revision})",
        "version": each.version,
        "role": ", ".join(each.roles),
        "pods": str(each.pods),
        "digest": each.digest
        + ("" if each.digest_given or not each.digest else " (pinned by the operator)"),
        "verdict": f"{each.verdict or 'none yet'} {each.verdict_time}".rstrip(),
        "why": f"{each.reason}: {each.message}" if each.reason else "",
        "created": each.created,
    }
    wide = max(map(len, rows))
    lines = [f"{key.ljust(wide)}   {value}" for key, value in rows.items() if value]
    spec: str = yaml.safe_dump({"spec": {"weights": dict(weights)}}, sort_keys=False, width=2**30)
    return Text("\n".join([*lines, "", spec.rstrip()]))
