"""Every place where a process can be stopped, derived from what the product declares.

A step of the swap, a call of a proto, an action of the planner or a kind of object that is written
cannot be added without being killed at. What no run of a sound fleet comes by is in `OUT_OF_REACH`
with its reason. A boundary that is passed in several ways is killed at in each of them: `ALSO`.
"""

import inspect
import random
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from fleet import rbac
from weightrollout.engine import vllm_grpc
from weightrollout.rollout.fleet import Doing
from weightrollout.swap.book import Book
from weightrollout.swap.records import Step
from weightrollout.swap.table import CONFIRMED
from weightrollout.weights import filling, signatures
from weightrollout.weights.node_volume import NodeVolume
from weightrollout.weights.signatures import Signed
from weightrollout.weights.staging import Store
from weightrollout.wire.agent import agent_pb2
from weightrollout.wire.vllm import control_pb2

BEFORE: Final = "before"
AFTER: Final = "after"
MIDWAY: Final = "engine/UpdateWeights/midway"
ANNOUNCE: Final = "Announce"

AGENT_CALLS: Final = tuple(
    method.name for method in agent_pb2.DESCRIPTOR.services_by_name["Agent"].methods
)
#: The calls of vllm.Control that the agent knows.
ENGINE_CALLS: Final = tuple(
    method.name
    for method in control_pb2.DESCRIPTOR.services_by_name["Control"].methods
    if f'"{method.name}"' in inspect.getsource(vllm_grpc)
)
MUTATING: Final = frozenset({"create", "patch", "update", "delete"})
#: What the operator may write, by its rights.
WRITTEN: Final = tuple(
    dict.fromkeys(
        resource
        for rule in (*rbac.OF_ONE_NAMESPACE[0], *rbac.EVICTING)
        if MUTATING & set(rule["verbs"])
        for resource in rule["resources"]
    )
)

#: What an agent does with weights that are signed and come through its node's volume -> what is called there first.
STAGING: Final[dict[str, tuple[object, str]]] = {
    "ReadSignature": (signatures, "read"),
    "CheckSignature": (Signed, "check"),
    "KeepSignature": (Store, "_keep_signature"),
    "LockVolume": (NodeVolume, "reader"),
    "FillVolume": (filling, "_write"),
    "PublishInVolume": (NodeVolume, "publish"),
    "TakeFromVolume": (NodeVolume, "take"),
}

OUT_OF_REACH: Final = {
    "engine/GetModelInfo": "asked only where trainers are let in",
    "engine/Shutdown": "asked only of an engine whose plugin does not obey an exit request",
    "operator/action/AdoptRevision": "no rollout of a fleet that stays has a history without an owner",
    "operator/write/serviceaccounts/token": "agents on loopback addresses are shown no token",
}


class Entry(StrEnum):
    """What changed between two books of the journal; the steps of a swap are `Step`s."""

    ADOPTED = "Adopted"  # owner or epoch
    TOLD = "Told"
    RESERVED = "Reserved"
    RELEASED = "Released"
    BEGUN = "Begun"
    NOTED = "Noted"  # the intent before a step
    ENDED = "Ended"


class Occasion(StrEnum):
    """What has to happen for a point to be passed."""

    ROLLOUT = "Rollout"  # a new version, and nothing else
    TAKEOVER = "Takeover"  # and the leader dies at its beginning
    SUPERSEDED = "Superseded"  # and a newer one while a pod is reserved
    UPDATE_FAILS = "UpdateFails"  # and every engine fails its first Update
    LABEL_FAILS = "LabelFails"  # and every engine finishes without its label
    DRAFT_FAILS = "DraftFails"  # and every engine fails the first Update of its draft
    MEASURED = "Measured"  # and its canary asks
    POISONED = "Poisoned"  # and no Update succeeds before the engines are restarted
    PACED = "Paced"  # and the limit of a staging is taken away while it runs
    LATE_LABELS = "LateLabels"  # and nobody leaves its endpoints, so that labels follow
    EVICTED = "Evicted"  # and the second pod can load nothing, and may be evicted
    SHARED = "Shared"  # and it is signed, and is read out of a bucket into the volume of the node


def entry_of(old: Book, new: Book) -> Entry | None:
    """None: nothing of which the agent must be reminded."""
    if old.running != new.running:
        if old.running is None:
            return Entry.BEGUN
        return Entry.ENDED if new.running is None else Entry.NOTED
    if old.reservation != new.reservation:
        return Entry.RESERVED if new.reservation is not None else Entry.RELEASED
    if old.told != new.told:
        return Entry.TOLD
    if (old.owner_uid, old.epoch) != (new.owner_uid, new.epoch):
        return Entry.ADOPTED
    return None


def boundaries() -> Iterator[str]:
    """What has a before and an after."""
    for step in Step:
        yield f"agent/step/{step}"
    for entry in Entry:
        yield f"agent/journal/{entry}"
    for call in AGENT_CALLS:
        yield f"agent/call/{call}"
        yield f"operator/call/{call}"
    for doing in (*Doing, ANNOUNCE):
        yield f"operator/action/{doing}"
    for resource in WRITTEN:
        yield f"operator/write/{resource}"
    for place in STAGING:
        yield f"agent/staging/{place}"
    for call in ENGINE_CALLS:
        yield f"engine/{call}"


def single_points() -> list[str]:
    found = [
        f"{boundary}/{when}"
        for boundary in boundaries()
        if boundary not in OUT_OF_REACH
        for when in (BEFORE, AFTER)
    ]
    looks = [f"agent/look/{step}/{AFTER}" for step in Step if step in CONFIRMED]
    also = [
        f"{boundary}/{when}{_IN}{occasion}"
        for occasion, passed in ALSO.items()
        for boundary in passed
        for when in (BEFORE, AFTER)
    ]
    return [*found, *looks, MIDWAY, *also]


def pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Operator then agent, and agent then engine, in turn. The same seed gives the same pairs."""
    chance = random.Random(seed)
    usual = [
        point
        for point in single_points()
        if occasion_of(point) in (Occasion.ROLLOUT, Occasion.TAKEOVER)
    ]
    of = {
        process: [point for point in usual if point.startswith(f"{process}/")]
        for process in ("operator", "agent", "engine")
    }
    found: list[tuple[str, str]] = []
    while len(found) < count:
        first, second = [("operator", "agent"), ("agent", "engine")][len(found) % 2]
        pair = (chance.choice(of[first]), chance.choice(of[second]))
        if pair not in found:
            found.append(pair)
    return found


#: By what a point names, or by that and its kind; every other point is passed in any rollout.
_OCCASIONS: Final = {
    Step.CLOSE.value: Occasion.UPDATE_FAILS,
    Step.LABEL.value: Occasion.LABEL_FAILS,
    Step.DRAFT_CLOSE.value: Occasion.DRAFT_FAILS,
    "UpdateWeightVersion": Occasion.LABEL_FAILS,
    "Release": Occasion.SUPERSEDED,
    Doing.RELEASE.value: Occasion.SUPERSEDED,
    Entry.RELEASED.value: Occasion.SUPERSEDED,
    "RestartEngine": Occasion.POISONED,
    Doing.RESTART_ENGINE.value: Occasion.POISONED,
    Entry.TOLD.value: Occasion.POISONED,
    Doing.MEASURE.value: Occasion.MEASURED,
    "Hello": Occasion.TAKEOVER,
    "Watch": Occasion.TAKEOVER,
    Entry.ADOPTED.value: Occasion.TAKEOVER,
    Doing.PACE.value: Occasion.PACED,
    f"action/{Doing.LABEL}": Occasion.LATE_LABELS,  # a step of the swap has that name too
    Doing.EVICT.value: Occasion.EVICTED,
    "eviction": Occasion.EVICTED,
    **dict.fromkeys(STAGING, Occasion.SHARED),
}
#: Boundaries that are passed in any rollout, and in another way here.
ALSO: Final = {
    Occasion.PACED: ("operator/call/Stage", "agent/call/Stage"),
    Occasion.LATE_LABELS: ("operator/write/pods/status", f"agent/journal/{Entry.ENDED}"),
    Occasion.EVICTED: (f"agent/journal/{Entry.ENDED}",),
}
_IN: Final = " in "


def occasion_of(point: str) -> Occasion:
    _, _, said = point.partition(_IN)
    if said:
        return Occasion(said)
    kind, name = point.split("/")[-3:-1]
    return _OCCASIONS.get(f"{kind}/{name}") or _OCCASIONS.get(name, Occasion.ROLLOUT)


def passed_at(point: str) -> str:
    """What the processes call it, whatever the occasion."""
    return point.partition(_IN)[0]
