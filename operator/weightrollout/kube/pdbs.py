"""PodDisruptionBudgets of everybody: read, never written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.api.disruption import DisruptionBudget, Requirement
from weightrollout.kube.client import Client, Json
from weightrollout.kube.store import Source

#: Reason of the condition DisruptionAllowed where the controller cannot count, such as of pods without an owner.
SYNC_FAILED: Final = "SyncFailed"


@dataclass(frozen=True, slots=True)
class PdbRecord:
    namespace: str
    name: str
    uid: str
    resource_version: int
    budget: DisruptionBudget


def pdb_source(client: Client) -> Source[PdbRecord]:
    """Of all, since they are chosen by what they select. An older chart gives no right to read them."""
    path = client.collection("/apis/policy/v1", "poddisruptionbudgets")
    return Source("poddisruptionbudgets", path, "", trim_pdb, optional=True)


def trim_pdb(body: Json) -> PdbRecord:
    metadata, status = body["metadata"], body.get("status") or {}
    seen = int(status.get("observedGeneration") or 0)
    budget = DisruptionBudget(
        name=metadata["name"],
        selector=_selector((body.get("spec") or {}).get("selector")),
        observed=seen >= int(metadata.get("generation") or 1),
        allowed=int(status.get("disruptionsAllowed") or 0),
        healthy=int(status.get("currentHealthy") or 0),
        desired=int(status.get("desiredHealthy") or 0),
        expected=int(status.get("expectedPods") or 0),
        trouble=_trouble(status),
    )
    version = int(metadata["resourceVersion"])
    return PdbRecord(metadata["namespace"], metadata["name"], metadata["uid"], version, budget)


def _selector(selector: Mapping[str, Any] | None) -> tuple[Requirement, ...] | None:
    return None if selector is None else tuple(_requirements(selector))


def _requirements(selector: Mapping[str, Any]) -> Iterator[Requirement]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield Requirement(key, "In", frozenset((value,)))
    for each in selector.get("matchExpressions") or ():
        yield Requirement(each["key"], each["operator"], frozenset(each.get("values") or ()))


def _trouble(status: Mapping[str, Any]) -> str:
    for each in status.get("conditions") or ():
        if each.get("type") == "DisruptionAllowed" and each.get("reason") == SYNC_FAILED:
            return str(each.get("message") or SYNC_FAILED)
    return ""
