"""The fleet ConfigMap: tells pods the stable version while no operator is there.

It has no owner reference: it must outlive its WeightRollout, so that pods which come up later still
find it. The orphan pass removes it when no pod is left.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from weightrollout.api.model import ApiModel
from weightrollout.api.names import FIELD_MANAGER, LABEL_NAME, STABLE_KEY, stable_configmap
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import NotFound
from weightrollout.kube.picture import Picture
from weightrollout.kube.store import Source

M = TypeVar("M", bound=ApiModel)

SCHEMA: Final = 1
_KEYS: Final = ("owner", "revision", "version", "uri", "digest", "metadata")
#: Sets our ConfigMaps apart from the users' own that may carry the name label.
LABEL_STABLE: Final = "app.kubernetes.io/managed-by"
MANAGED_BY: Final = "weightrollout"


@dataclass(frozen=True, slots=True)
class StableRecord:
    """Revision "" is the baseline: the ConfigMap is there and says nothing."""

    namespace: str
    name: str
    uid: str
    resource_version: int
    rollout: str
    owner_uid: str = ""
    revision: str = ""
    version: str = ""
    uri: str = ""
    digest: str = ""
    metadata: str = ""  # spec.weights.metadata; "" where it is the default
    draft: Draft | None = None
    signature: Signature | None = None


@dataclass(frozen=True, slots=True)
class Stable:
    """What is published. `owner_uid` and `epoch` let an agent tell old from new."""

    owner_uid: str
    epoch: int
    revision: str
    version: str
    uri: str
    digest: str
    metadata: str = ""
    draft: Draft | None = None
    signature: Signature | None = None


def configmaps_path(client: Client) -> str:
    return client.collection("/api/v1", "configmaps")


def stable_source(client: Client) -> Source[StableRecord]:
    selector = f"{LABEL_NAME},{LABEL_STABLE}={MANAGED_BY}"
    return Source("stable", configmaps_path(client), selector, trim_stable)


def trim_stable(body: Json) -> StableRecord:
    metadata = body["metadata"]
    said = _parsed((body.get("data") or {}).get(STABLE_KEY, ""))
    texts = {key: str(said.get(key) or "") for key in _KEYS}
    return StableRecord(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=int(metadata["resourceVersion"]),
        rollout=(metadata.get("labels") or {}).get(LABEL_NAME, ""),
        owner_uid=texts["owner"],
        revision=texts["revision"],
        version=texts["version"],
        uri=texts["uri"],
        digest=texts["digest"],
        metadata=texts["metadata"],
        draft=_said(Draft, said.get("draft")),
        signature=_said(Signature, said.get("signature")),
    )


async def publish_stable(
    client: Client, store: Picture[StableRecord], rollout: str, stable: Stable | None
) -> None:
    """None: the baseline, an empty ConfigMap. Conflict: somebody wrote since we read."""
    name = stable_configmap(rollout)
    known = store.get(name)
    metadata: Json = {"name": name, "labels": {LABEL_NAME: rollout, LABEL_STABLE: MANAGED_BY}}
    if known is not None:
        metadata["resourceVersion"] = str(known.resource_version)
    body: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if stable is not None:
        body["data"] = {STABLE_KEY: stable_text(stable)}
    store.learn(await client.apply(f"{configmaps_path(client)}/{name}", body, FIELD_MANAGER))


async def remove_stable(client: Client, store: Picture[StableRecord], record: StableRecord) -> None:
    """Gone already is as good."""
    body = {"preconditions": {"uid": record.uid, "resourceVersion": str(record.resource_version)}}
    try:
        await client.delete(f"{configmaps_path(client)}/{record.name}", body)
    except NotFound:
        pass
    store.drop(record.name, record.uid)


def stable_text(stable: Stable) -> str:
    said: Json = {
        "schema": SCHEMA,
        "owner": stable.owner_uid,
        "epoch": stable.epoch,
        "revision": stable.revision,
        "version": stable.version,
        "uri": stable.uri,
        "digest": stable.digest,
    }
    if stable.metadata:
        said["metadata"] = stable.metadata
    if stable.draft is not None:
        said["draft"] = stable.draft.model_dump(mode="json", by_alias=True, exclude_none=True)
    if stable.signature is not None:
        said["signature"] = stable.signature.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
    return json.dumps(said, indent=1, sort_keys=True) + "\n"


def _parsed(text: str) -> Json:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}  # absent or spoilt by hand: as if nothing was published, so it is written again
    return said if isinstance(said, dict) else {}


def _said(kind: type[M], said: Any) -> M | None:
    """None for what cannot be read too: then what is published differs, and is written again."""
    try:
        return kind.model_validate(said) if said is not None else None
    except ValidationError:
        return None
