"""The ConfigMaps and Secrets that pods of a node refer to: found in their specs, kept by watches, fetched afresh for a new pod."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from localcluster.api import Api, ApiError, Mirror
from localcluster.manifest import Lookup

Json = dict[str, Any]

PLURALS: Final = {"ConfigMap": "configmaps", "Secret": "secrets"}
REFERRERS: Final = {
    "configMap": "ConfigMap",
    "configMapRef": "ConfigMap",
    "configMapKeyRef": "ConfigMap",
    "secret": "Secret",
    "secretRef": "Secret",
    "secretKeyRef": "Secret",
}


class References:
    """What references lead to, for the whole node."""

    def __init__(self, api: Api, changed: Callable[[str, str, str], None]) -> None:
        """`changed` is called with kind, namespace and name."""
        self._api = api
        self._changed = changed
        self.mirrors = {
            kind: Mirror(api, f"/api/v1/{plural}", self._tell(kind), self._tell(kind))
            for kind, plural in PLURALS.items()
        }
        self.lookup = Lookup(self._getter("ConfigMap"), self._getter("Secret"))

    async def fetch(self, pod: Json) -> None:
        """Bring what the pod refers to up to date: one made just before the pod may not have come through the watch yet."""
        namespace = pod["metadata"]["namespace"]
        for kind, name in sorted(referred(pod)):
            try:
                found = await self._api.get(
                    f"/api/v1/namespaces/{namespace}/{PLURALS[kind]}/{name}"
                )
            except ApiError as refused:
                if refused.status == 404:
                    continue
                raise
            self.mirrors[kind].learn({**found, "kind": kind})

    def mentions(self, pod: Json, kind: str, name: str) -> bool:
        """Whether the pod refers to it."""
        return (kind, name) in referred(pod)

    def _getter(self, kind: str) -> Callable[[str, str], Json | None]:
        def get(namespace: str, name: str) -> Json | None:
            found = self.mirrors[kind].objects.get((namespace, name))
            return (
                None if found is None else {**found, "kind": kind}
            )  # items of a list do not say their kind

        return get

    def _tell(self, kind: str) -> Callable[[Json], None]:
        def tell(item: Json) -> None:
            self._changed(kind, item["metadata"]["namespace"], item["metadata"]["name"])

        return tell


def referred(pod: Json) -> set[tuple[str, str]]:
    """Kind and name of all ConfigMaps and Secrets a pod's volumes and environments name."""
    return set(_search(pod["spec"]))


def _search(part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, list):
        for entry in part:
            yield from _search(entry)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in REFERRERS and isinstance(value, dict):
                if name := value.get("name") or value.get("secretName"):
                    yield REFERRERS[key], name
            else:
                yield from _search(value)
