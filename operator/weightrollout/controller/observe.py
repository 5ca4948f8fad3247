"""Build the frozen Fleet: the rollout, its pods, what each agent said last, revisions, work, the clock.

Only translation happens here. Anything that was not said is None or a fault, never a default.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from weightrollout.api.names import ANNOTATION_ACTION, stable_configmap
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.clock import rfc3339
from weightrollout.controller.leader import Fence
from weightrollout.controller.world import World
from weightrollout.kube.client import Json
from weightrollout.kube.configmaps import StableRecord
from weightrollout.kube.pods import Pod
from weightrollout.kube.revisions import RevisionRecord
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    Fleet,
    Memory,
    PodView,
    Ref,
    Revision,
    Verdict,
    Work,
)
from weightrollout.rollout.revisions import metadata_of, retry_of


class InvalidSpec(Exception):
    """The API server let through what this operator cannot read; says which field and why."""


class Said(Protocol):
    """What an agent's link shows."""

    @property
    def seen(self) -> AgentView | AgentFault: ...
    @property
    def message(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """What this leader adds to what the cluster shows."""

    fence: Fence
    links: Mapping[str, Said]  # by pod uid
    work: frozenset[Work]
    failures: tuple[ActionFailure, ...]
    memory: Memory


def observe(world: World, body: Json, seen: Seen) -> Fleet:
    """Raises InvalidSpec."""
    metadata = body["metadata"]
    name, uid = metadata["name"], metadata["uid"]
    stable = world.stables.get(stable_configmap(name))
    return Fleet(
        namespace=metadata["namespace"],
        name=name,
        uid=uid,
        generation=int(metadata["generation"]),
        spec=read_spec(body),
        status=read_status(body),
        revisions=tuple(revision_of(each) for each in revisions_of(world, name, uid)),
        pods=tuple(pod_view(pod, seen.links.get(pod.uid)) for pod in world.pods_of(name)),
        work=seen.work,
        now=world.clock.monotonic(),
        wall=rfc3339(world.clock.wall()),
        epoch=seen.fence.epoch,
        failures=seen.failures,
        published=published(stable),
        published_by=stable.owner_uid if stable is not None else "",
        memory=seen.memory,
        action=(metadata.get("annotations") or {}).get(ANNOTATION_ACTION, ""),
    )


def read_spec(body: Json) -> WeightRolloutSpec:
    try:
        return WeightRolloutSpec.model_validate(body.get("spec") or {})
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


def revisions_of(world: World, rollout: str, uid: str) -> Iterable[RevisionRecord]:
    """Ours, and orphans that carry our label. Those of an owner that was deleted vanish by themselves,
    and those of the StatefulSet or DaemonSet, which carry its pods' labels, never were ours."""
    mine = (
        record
        for record in world.revisions.all()
        if record.rollout == rollout and record.owner_uid in (uid, "") and record.version
    )
    return sorted(mine, key=lambda record: (record.number, record.name))


def revision_of(record: RevisionRecord) -> Revision:
    digest = record.given_digest or record.pinned_digest or None
    return Revision(
        ref=Ref(
            revision=record.name,
            version=record.version,
            uri=record.uri,
            digest=digest,
            metadata=metadata_of(record.metadata),
            draft=record.draft,
        ),
        number=record.number,
        digest_given=bool(record.given_digest),
        verdict=Verdict(record.verdict) if record.verdict in set(Verdict) else None,
        reason=record.reason,
        message=record.message,
        retry=retry_of(record.retry),
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
    )


def pod_view(pod: Pod, link: Said | None) -> PodView:
    return PodView(
        name=pod.name,
        uid=pod.uid,
        agent=_agent(pod, link),
        ready=pod.ready,
        running=pod.running,
        terminating=pod.terminating,
        gated=pod.gated,
        gate_open=pod.gate.open if pod.gate is not None else None,
        version_label=pod.version_label,
        put_in_txn=put_in_txn(pod.swap_annotation),
        agent_message=link.message if link is not None else "",
    )


def _agent(pod: Pod, link: Said | None) -> AgentView | AgentFault:
    if pod.agent_port is None:
        return AgentFault.MISSING
    return AgentFault.STARTING if link is None else link.seen


def put_in_txn(annotation: str) -> str:
    """ "" when it is absent or was spoilt: the annotation is a note of ours, never a store."""
    try:
        said = json.loads(annotation)
    except (ValueError, RecursionError):
        return ""
    return str(said.get("txn", "")) if isinstance(said, dict) else ""
