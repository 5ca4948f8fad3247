"""What a person at a terminal may see of WeightRollouts: them, their pods and history, read once or followed.

Reads only. Uses the person's own kubeconfig as kubectl does; the operator's way in is `client.connect`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kubernetes.aio import config
from kubernetes.aio.client.configuration import Configuration

from weightrollout.api.disruption import DisruptionBudget
from weightrollout.api.names import ANNOTATION_SCHEMA, LABEL_NAME, PLURAL, stable_configmap
from weightrollout.kube.client import Client, Json, client_settings
from weightrollout.kube.configmaps import StableRecord, configmaps_path, trim_stable
from weightrollout.kube.connection import Credentials, open_connection
from weightrollout.kube.errors import Forbidden, KubeError, NotFound, Unavailable
from weightrollout.kube.lease import LEASE_NAME
from weightrollout.kube.pdbs import pdb_source, trim_pdb
from weightrollout.kube.pods import Pod, pod_source, pods_path, trim_pod
from weightrollout.kube.revisions import revisions_path
from weightrollout.kube.rollouts import rollouts_path
from weightrollout.kube.schema import CRD_PATH
from weightrollout.kube.store import PAGE, Source, Store

SYNC_S: Final = 15.0
_UNKNOWN: Final = (
    f"this cluster does not know {PLURAL}: install the operator first, or choose another --context"
)


@dataclass(frozen=True, slots=True)
class Sight:
    """One moment: the object as the server has it, and the pods that name it."""

    rollout: Json
    pods: tuple[Pod, ...]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A store's record that keeps the object; WeightRollouts are few."""

    namespace: str
    name: str
    uid: str
    resource_version: int
    body: Json


@asynccontextmanager
async def connect_as_user(
    kubeconfig: Path | None, context: str | None, namespace: str | None
) -> AsyncIterator[Client]:
    """None: as kubectl has it, so $KUBECONFIG or the file in the home folder, its current context,
    and the namespace of that context."""
    file = None if kubeconfig is None else str(kubeconfig)
    own = "default"

    async def load() -> Configuration:
        nonlocal own
        settings = client_settings(trust_env=True)
        loader: Any = await config.load_kube_config(  # type: ignore[no-untyped-call]
            file, context, client_configuration=settings, persist_config=False
        )
        own = loader.current_context["context"].get("namespace") or "default"
        return settings

    origin = f"kubeconfig {file}" if file else "the kubeconfig"
    try:
        connection = await open_connection(Credentials(origin, load, "kubectl-weightrollout"))
    except config.ConfigException as wrong:
        raise KubeError(
            f"no usable kubeconfig: {wrong}; name one with --kubeconfig, or set KUBECONFIG"
        ) from wrong
    try:
        yield Client(connection, namespace or own)
    finally:
        await connection.close()


async def look(client: Client, name: str) -> Sight:
    """Read once. NotFound says whether the object or the whole API is missing."""
    rollout = await read_rollout(client, name)
    return Sight(rollout, await read_pods(client, name))


async def read_pods(client: Client, name: str) -> tuple[Pod, ...]:
    return tuple(
        [trim_pod(item) async for item in _items(client, pods_path(client), _selector(name))]
    )


async def read_rollouts(client: Client) -> list[Json]:
    """Of the client's namespace, or of all. NotFound says that the API is missing."""
    try:
        return [item async for item in _items(client, rollouts_path(client), "")]
    except NotFound as missing:
        raise NotFound(_UNKNOWN) from missing


async def read_revisions(client: Client, name: str) -> list[Json]:
    """ControllerRevisions with its label, in no order; not all are its own (reading.own_revisions)."""
    return [item async for item in _items(client, revisions_path(client), _selector(name))]


async def read_stable(client: Client, name: str) -> StableRecord | None:
    """None: nothing is published."""
    try:
        return trim_stable(await client.get(f"{configmaps_path(client)}/{stable_configmap(name)}"))
    except NotFound:
        return None


async def read_disruption_budgets(client: Client) -> tuple[DisruptionBudget, ...]:
    """Of the client's namespace; none where the person may not read them."""
    path = pdb_source(client).path
    try:
        return tuple([trim_pdb(item).budget async for item in _items(client, path, "")])
    except (Forbidden, NotFound):
        return ()


async def _items(client: Client, path: str, selector: str) -> AsyncIterator[Json]:
    """Every item of a collection, page by page."""
    query = {"labelSelector": selector, "limit": str(PAGE)}
    while True:
        page = await client.get(path, query)
        for item in page["items"] or ():
            yield item
        more = page["metadata"].get("continue")
        if not more:
            return
        query = {**query, "continue": more}


async def follow(client: Client, name: str) -> AsyncGenerator[Sight, None]:
    """What is there now, and again after every change; changes that come faster are seen as one.

    NotFound when it is deleted; other errors only before the first: later outages are waited out.
    Close the generator (contextlib.aclosing).
    """
    await look(client, name)
    rollouts = Store(client, Source("weightrollouts", rollouts_path(client), "", _trim_whole))
    pods = Store(client, pod_source(client, "pods", _selector(name)))
    changed = asyncio.Event()
    for store in (rollouts, pods):
        store.subscribe(lambda before, after: changed.set())
    watching = [asyncio.create_task(store.run()) for store in (rollouts, pods)]
    for task in watching:
        task.add_done_callback(lambda ended: changed.set())
    try:
        await _synced(rollouts.synced, pods.synced)
        while True:
            changed.clear()
            found = rollouts.get(name)
            if found is None:
                raise NotFound(_deleted(client, name))
            yield Sight(found.body, tuple(pods.all()))
            await changed.wait()
            for task in watching:
                if task.done():
                    task.result()  # `run` never returns: this raises what ended it
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _synced(*lists: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(SYNC_S):
            for complete in lists:
                await complete.wait()
    except TimeoutError as late:
        raise Unavailable(f"the first lists were not complete within {SYNC_S:g} s") from late


async def read_rollout(client: Client, name: str) -> Json:
    try:
        return await client.get(f"{rollouts_path(client)}/{name}")
    except NotFound as missing:
        if f'"{name}" not found' in str(missing):
            raise NotFound(
                f"no WeightRollout {name} in namespace {client.namespace}; 'kubectl get wr -A' lists all"
            ) from missing
        raise NotFound(_UNKNOWN) from missing


def _deleted(client: Client, name: str) -> str:
    return f"WeightRollout {name} was deleted from namespace {client.namespace}"


def _selector(name: str) -> str:
    return f"{LABEL_NAME}={name}"


def _trim_whole(body: Json) -> _Whole:
    metadata = body["metadata"]
    version = int(metadata["resourceVersion"])
    return _Whole(metadata["namespace"], metadata["name"], metadata["uid"], version, body)


@dataclass(frozen=True, slots=True)
class OperatorSeen:
    """By its Lease, and by the label of its Deployment where that may be read."""

    namespace: str
    leader: str  # pod and process; "": nobody leads
    version: str  # "": cannot be seen


async def read_operators(client: Client) -> tuple[OperatorSeen, ...]:
    """Of the client's namespace, or of all."""
    path = client.collection("/apis/coordination.k8s.io/v1", "leases")
    leases = await client.get(path, {"fieldSelector": f"metadata.name={LEASE_NAME}"})
    found = []
    for lease in leases["items"] or ():
        namespace = lease["metadata"]["namespace"]
        holder = str((lease.get("spec") or {}).get("holderIdentity") or "")
        version = await _operator_version(client.within(namespace))
        found.append(OperatorSeen(namespace, holder, version))
    return tuple(found)


async def _operator_version(client: Client) -> str:
    try:
        path = client.collection("/apis/apps/v1", "deployments")
        found = await client.get(f"{path}/{LEASE_NAME}")
    except KubeError:
        return ""  # installed some other way, or none of our business
    return str((found["metadata"].get("labels") or {}).get("app.kubernetes.io/version", ""))


async def read_schema(client: Client) -> str:
    """schema_hash() of the cluster's CRD; "" where it may not be read, or is of another origin."""
    try:
        found = await client.get(CRD_PATH)
    except KubeError:
        return ""
    return str((found["metadata"].get("annotations") or {}).get(ANNOTATION_SCHEMA, ""))
