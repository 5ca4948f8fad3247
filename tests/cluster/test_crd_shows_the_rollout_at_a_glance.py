"""`kubectl get wr` answers the first question without a manual."""

from typing import Any

import aiohttp
import pytest

from crd_install import collection, install_crd, weight_rollout
from gitops.objects import recorded
from localcluster.access import Cluster
from localcluster.api import Api
from weightrollout.api.names import ANNOTATION_SCHEMA, API_VERSION, FIELD_MANAGER, KIND
from weightrollout.api.schema import schema_hash

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

AS_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

STATUS: Json = {
    "phase": "Progressing",
    "message": "5 of 8 pods serve v2; swapping chat-5",
    "updated": "5/8",
    "stable": {"version": "v1", "revision": "chat-1"},
    "hold": {"gate": "Budget", "reason": "SwapInProgress", "message": "", "since": ""},
    "step": {"index": 2, "of": 4, "hash": "9f31c2ab07", "since": ""},
    "pods": {"failed": 1},
    "pauseMillis": {"last": 8, "p50": 9, "p99": 12, "max": 12},
}


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


async def table(cluster: Cluster, path: str) -> Json:
    """What kubectl prints: it asks the API server for a table."""
    access = cluster.api().access
    connector = aiohttp.TCPConnector(ssl=access.tls())
    async with (
        aiohttp.ClientSession(access.server, connector=connector) as session,
        session.get(
            path, headers={"Accept": AS_TABLE}, timeout=aiohttp.ClientTimeout(10)
        ) as answer,
    ):
        answer.raise_for_status()
        found: Json = await answer.json()
        return found


async def test_the_crd_is_taken_without_complaint(api: Api) -> None:
    crd = await install_crd(api)
    told = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert told == {"NamesAccepted": "True", "Established": "True"}  # no NonStructuralSchema
    assert crd["metadata"]["annotations"][ANNOTATION_SCHEMA] == schema_hash()


async def test_the_columns_tell_version_phase_progress_and_hold(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    spec = {"weights": {"version": "v2", "uri": "file:///models/chat/"}}
    path = f"{collection(namespace)}/glance"
    await api.create(collection(namespace), weight_rollout("glance", spec))
    named = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "glance"}}
    await api.patch(
        f"{path}/status", {**named, "status": STATUS}, "apply", fieldManager=FIELD_MANAGER
    )

    shown = await table(cluster, path)

    wide = [column["name"].upper() for column in shown["columnDefinitions"]]
    narrow = [c["name"].upper() for c in shown["columnDefinitions"] if c["priority"] == 0]
    assert narrow == ["NAME", "VERSION", "PHASE", "UPDATED", "HOLD", "PAUSE", "AGE"]
    assert wide == [*narrow, "STABLE", "STEP", "FAILED", "DRIVER", "MESSAGE"]
    cells = dict(zip(wide, shown["rows"][0]["cells"], strict=True))
    del cells["AGE"]
    assert list(cells.values()) == [
        "glance", "v2", "Progressing", "5/8", "SwapInProgress", 12,
        "v1", 2, 1, "Operator", "5 of 8 pods serve v2; swapping chat-5",
    ]  # fmt: skip
    await api.delete(path)


async def test_a_look_at_many_says_of_each_where_it_is_and_what_it_waits_for(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    """With the statuses that the planner makes."""
    for each in recorded():
        name = each.name.replace(" ", "-").replace(",", "").replace("'", "")
        body = {**each.body, "metadata": {"name": name}}
        await api.create(collection(namespace), body)
        if each.phase is not None:
            status = f"{collection(namespace)}/{name}/status"
            del body["spec"]
            await api.patch(status, body, "apply", fieldManager=FIELD_MANAGER)

    shown = await table(cluster, collection(namespace))

    columns = [column["name"] for column in shown["columnDefinitions"]]
    told = {
        row["cells"][0]: tuple(
            row["cells"][columns.index(each)] for each in ("Phase", "Updated", "Hold", "Step")
        )
        for row in shown["rows"]
    }
    assert told == {
        "just-applied": (None, None, None, None),
        "no-pods": ("Pending", "0/0", "NoPods", None),
        "pods-that-start": ("Pending", "0/1", None, None),
        "pods-that-move": ("Progressing", "0/2", None, None),
        "a-persons-pause": ("Paused", "0/2", None, None),
        "a-step-that-waits-for-a-person": ("Paused", "1/3", "StepPaused", 1),
        "a-step-that-waits-for-time": ("Progressing", "1/3", "StepTimed", 1),
        "an-analysis-that-nobody-answers": ("Paused", "1/3", "AnalysisInconclusive", 1),
        "suspended": ("Suspended", "0/2", None, None),
        "complete": ("Complete", "2/2", None, None),
        "scaled-to-zero": ("Complete", "0/0", None, None),
        "on-its-way-back": ("RollingBack", "2/2", None, None),
        "rolled-back": ("RolledBack", "2/2", None, None),
        "held-after-a-failure": ("Failed", "0/2", "RevisionRejected", None),
        "a-way-back-that-failed": ("Failed", "2/3", "RollbackFailed", None),
        "a-version-with-another-digest": ("Failed", "2/2", "VersionReused", None),
        "a-spec-that-nobody-can-read": ("Failed", "2/2", None, None),
        "a-newer-spec-not-seen-yet": ("Complete", "2/2", None, None),
        "being-deleted": ("Complete", "2/2", None, None),
    }
