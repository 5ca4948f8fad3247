"""ControllerRevisions: what a fleet was asked to load, and what became of it.

The data is immutable and is the canonical form of spec.weights; digest (where the scout pinned it) and
verdict are annotations, written only on top of the resourceVersion they were read at.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from weightrollout.api.model import ApiModel
from weightrollout.api.names import (
    ANNOTATION_DIGEST,
    ANNOTATION_RETRY,
    ANNOTATION_VERDICT,
    ANNOTATION_VERDICT_MESSAGE,
    ANNOTATION_VERDICT_REASON,
    ANNOTATION_VERDICT_TIME,
    API_VERSION,
    FIELD_MANAGER,
    KIND,
    LABEL_NAME,
)
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import NotFound
from weightrollout.kube.picture import Picture
from weightrollout.kube.store import Source

SCHEMA: Final = 1
#: Fields of spec.weights that are no text.
_PARTS: Final[Mapping[str, type[ApiModel]]] = {"draft": Draft, "signature": Signature}


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    namespace: str
    name: str
    uid: str
    resource_version: int
    rollout: str  # "": not ours
    owner_uid: str  # of any kind: a StatefulSet's own history carries our label; "": orphaned
    number: int
    version: str  # "": not one of ours
    uri: str
    given_digest: str  # spec.weights.digest; "" where it was left out
    metadata: str  # spec.weights.metadata; "" where it is the default
    draft: Draft | None  # spec.weights.draft
    signature: Signature | None  # spec.weights.signature
    pinned_digest: str  # found by the scout; "" until then
    verdict: str
    reason: str
    message: str
    time: str  # of the verdict, RFC 3339; "": none
    retry: str  # JSON, see said_retry(); "": nobody asked for it again


@dataclass(frozen=True, slots=True)
class Owner:
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Facts:
    """The mutable half."""

    number: int
    pinned_digest: str
    verdict: str
    reason: str
    message: str
    time: str
    retry: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """The immutable half, as the user wrote it."""

    version: str
    uri: str
    given_digest: str
    metadata: str = ""
    draft: Draft | None = None
    signature: Signature | None = None


def content_of(read: RevisionRecord) -> Content:
    return Content(
        *(read.version, read.uri, read.given_digest, read.metadata),
        *(read.draft, read.signature),
    )


def facts_of(read: RevisionRecord) -> Facts:
    """As it says them now."""
    return Facts(
        *(read.number, read.pinned_digest, read.verdict, read.reason, read.message),
        *(read.time, read.retry),
    )


def revisions_path(client: Client) -> str:
    return client.collection("/apis/apps/v1", "controllerrevisions")


def revision_source(client: Client) -> Source[RevisionRecord]:
    return Source("revisions", revisions_path(client), LABEL_NAME, trim_revision)


def trim_revision(body: Json) -> RevisionRecord:
    """A StatefulSet's own history carries the labels of its pods, ours among them: not ours."""
    metadata = body["metadata"]
    annotations = metadata.get("annotations") or {}
    weights = _weights(body.get("data"))
    owners = sorted(metadata.get("ownerReferences") or (), key=lambda each: each["kind"] != KIND)
    return RevisionRecord(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=int(metadata["resourceVersion"]),
        rollout=(metadata.get("labels") or {}).get(LABEL_NAME, "") if weights else "",
        owner_uid=owners[0]["uid"] if owners else "",
        number=int(body["revision"]),
        version=weights.get("version", ""),
        uri=weights.get("uri", ""),
        given_digest=weights.get("digest", ""),
        metadata=weights.get("metadata", ""),
        draft=weights.get("draft"),
        signature=weights.get("signature"),
        pinned_digest=annotations.get(ANNOTATION_DIGEST, ""),
        verdict=annotations.get(ANNOTATION_VERDICT, ""),
        reason=annotations.get(ANNOTATION_VERDICT_REASON, ""),
        message=annotations.get(ANNOTATION_VERDICT_MESSAGE, ""),
        time=annotations.get(ANNOTATION_VERDICT_TIME, ""),
        retry=annotations.get(ANNOTATION_RETRY, ""),
    )


def _weights(data: Any) -> Mapping[str, Any]:
    """Empty where it is not our form: a StatefulSet's revisions carry its pods' labels, hence ours."""
    weights = data.get("weights") if isinstance(data, dict) else None
    if not isinstance(weights, dict):
        return {}
    texts = {name: each for name, each in weights.items() if name not in _PARTS}
    if not texts.get("uri") or not all(isinstance(each, str) for each in texts.values()):
        return {}
    try:
        parts = {
            name: kind.model_validate(weights[name])
            for name, kind in _PARTS.items()
            if name in weights
        }
    except ValidationError:
        return {}
    return {**texts, **parts}


def canonical_data(content: Content) -> Json:
    """Only what says more than its default. A release that changes this form would start rollouts by itself."""
    weights: Json = {"version": content.version, "uri": content.uri}
    if content.given_digest:
        weights["digest"] = content.given_digest
    if content.metadata:
        weights["metadata"] = content.metadata
    if content.draft is not None:
        weights["draft"] = _written(content.draft)
    if content.signature is not None:
        weights["signature"] = _written(content.signature)
    data: Json = json.loads(json.dumps({"schema": SCHEMA, "weights": weights}, sort_keys=True))
    return data


def _written(part: ApiModel) -> Json:
    return part.model_dump(mode="json", by_alias=True, exclude_defaults=True)


async def write_revision(
    client: Client,
    store: Picture[RevisionRecord],
    read: RevisionRecord,
    owner: Owner,
    facts: Facts,
) -> None:
    """Compare-and-swap on what was `read`. Conflict: somebody wrote since. Adopts an orphan."""
    body = _body(read.name, owner, content_of(read), facts)
    body["metadata"]["resourceVersion"] = str(read.resource_version)
    await _apply(client, store, body)


async def create_revision(
    client: Client,
    store: Picture[RevisionRecord],
    name: str,
    owner: Owner,
    content: Content,
    facts: Facts,
    allowed: Callable[[], None] = lambda: None,
) -> None:
    """Where it exists already it is only learned: another leader may have written more to it.

    `allowed` is asked right before the write, which nothing else would stop from wiping those facts.
    """
    if not await reread_revision(client, store, name):
        allowed()
        await _apply(client, store, _body(name, owner, content, facts))


async def reread_revision(client: Client, store: Picture[RevisionRecord], name: str) -> bool:
    """Bring our picture up to date. False: it is gone."""
    known = store.get(name)
    try:
        store.learn(await client.get(f"{revisions_path(client)}/{name}"))
    except NotFound:
        if known is not None:
            store.drop(name, known.uid)
        return False
    return True


async def remove_revision(
    client: Client, store: Picture[RevisionRecord], read: RevisionRecord
) -> None:
    """Only as it was `read`. Gone already is as good. Raises Conflict: somebody wrote since."""
    body = {"preconditions": {"uid": read.uid, "resourceVersion": str(read.resource_version)}}
    try:
        await client.delete(f"{revisions_path(client)}/{read.name}", body)
    except NotFound:
        pass
    store.drop(read.name, read.uid)


async def _apply(client: Client, store: Picture[RevisionRecord], body: Json) -> None:
    """Apply also to create: the data is compared byte by byte with what is stored, so that data which
    came by POST is refused as "immutable" by every later patch, for its spaces alone."""
    path = f"{revisions_path(client)}/{body['metadata']['name']}"
    store.learn(await client.apply(path, body, FIELD_MANAGER))


def _body(name: str, owner: Owner, content: Content, facts: Facts) -> Json:
    annotations = {
        ANNOTATION_DIGEST: facts.pinned_digest,
        ANNOTATION_VERDICT: facts.verdict,
        ANNOTATION_VERDICT_REASON: facts.reason,
        ANNOTATION_VERDICT_MESSAGE: facts.message[:1024],
        ANNOTATION_VERDICT_TIME: facts.time if facts.verdict else "",
        ANNOTATION_RETRY: facts.retry,
    }
    reference = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "labels": {LABEL_NAME: owner.name},
            "annotations": {key: value for key, value in annotations.items() if value},
            "ownerReferences": [reference],
        },
        "data": canonical_data(content),
        "revision": facts.number,
    }
