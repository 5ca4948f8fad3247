"""What each pod of a fleet is and has been through, to be compared: equal means that nothing was touched."""

from dataclasses import dataclass
from typing import Any

from fleet.engine import state_of
from weightrollout.api import names

Json = dict[str, Any]


@dataclass(frozen=True)
class Standing:
    uid: str
    ready: str  # "True", "False" or "Unknown"
    ready_since: str
    gate: str  # answer to our readiness gate; "" where there is none
    gate_reason: str
    version_label: str
    swap_note: str  # annotation of the last PutIn; "" without
    instance: str  # of the engine's process
    fingerprint: int  # of the weights it answers with
    updates: int  # that this process has taken


async def standing_of(pod: Json) -> Standing:
    """OSError or ClientError when its engine does not answer."""
    metadata = pod["metadata"]
    conditions = {each["type"]: each for each in pod["status"].get("conditions", ())}
    ready, gate = conditions.get("Ready", {}), conditions.get(names.GATE_SERVING, {})
    engine = await state_of(pod)
    return Standing(
        metadata["uid"],
        ready.get("status", "Unknown"),
        ready.get("lastTransitionTime", ""),
        gate.get("status", ""),
        gate.get("reason", ""),
        metadata["labels"].get(names.LABEL_VERSION, ""),
        metadata.get("annotations", {}).get(names.ANNOTATION_SWAP, ""),
        engine["instance"],
        engine["fingerprint"],
        engine["calls"].get("UpdateWeights", 0),
    )


async def standings(pods: list[Json]) -> dict[str, Standing]:
    """By pod name."""
    return {str(pod["metadata"]["name"]): await standing_of(pod) for pod in pods}
