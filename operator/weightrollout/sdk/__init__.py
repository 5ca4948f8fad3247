"""For trainers: publish weights to a fleet, wait for it, ask it, and take a version back.

    async with connect("chat", run="exp7") as fleet:
        await fleet.publish(12, "file:///models/chat/step-12/")
        await fleet.wait(12, timeout_s=60)

    with sync.connect("chat", run="exp7") as fleet: ...   # the same, for code without a loop

Versions are named `<run>.<step>`, so the same step is published once, and a newer one counts for an older
one that is waited for. Whoever is refused, and why, is in `errors`.
"""

from weightrollout.sdk.bucket import Bucket
from weightrollout.sdk.endpoints import Endpoint
from weightrollout.sdk.errors import (
    ClusterFailed,
    FleetNotFound,
    NotPublished,
    NotStored,
    Rejected,
    SdkError,
    Superseded,
    TimedOut,
)
from weightrollout.sdk.fleet import Fleet, Published, connect
from weightrollout.sdk.state import FleetState
from weightrollout.sdk.storage import Folder, Storage, Stored

__all__ = [
    "Bucket",
    "ClusterFailed",
    "Endpoint",
    "Fleet",
    "FleetNotFound",
    "FleetState",
    "Folder",
    "NotPublished",
    "NotStored",
    "Published",
    "Rejected",
    "SdkError",
    "Storage",
    "Stored",
    "Superseded",
    "TimedOut",
    "connect",
]
