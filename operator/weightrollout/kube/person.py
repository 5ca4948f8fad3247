"""What a person writes to a WeightRollout, on top of what was read and never over somebody's newer word.

The operator's own writes are in `rollouts`; it never writes spec or annotations.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from weightrollout.kube.client import MERGE, Client, Json
from weightrollout.kube.errors import Conflict
from weightrollout.kube.reader import read_rollout
from weightrollout.kube.rollouts import rollouts_path

FIELD_MANAGER: Final = "kubectl-weightrollout"
#: The operator writes status meanwhile, and each write is a new resourceVersion.
TRIES: Final = 10

#: Argo CD, Flux, Rancher Fleet; config-sync of GKE and Anthos.
GITOPS: Final = ("argocd", "kustomize-controller", "helm-controller", "fleetagent", "configsync")

#: From what stands there now to the patch; {} where nothing has to be written. May raise.
Decide = Callable[[Json], Json]


async def change(
    client: Client, name: str, decide: Decide, *, manager: str = FIELD_MANAGER
) -> Json:
    """Read, decide, write on top of that; again where somebody wrote in between. The object as it is then.

    `decide(body) -> patch` is asked anew each time. Raises what it raises, NotFound, and Conflict at last.
    """
    for left in reversed(range(TRIES)):
        read = await read_rollout(client, name)
        patch = decide(read)
        if not patch:
            return read
        try:
            return await _write(client, read, patch, manager)
        except Conflict:
            if not left:
                raise
    raise AssertionError("the last conflict is raised")


async def _write(client: Client, read: Json, patch: Json, manager: str) -> Json:
    metadata = read["metadata"]
    body = {
        **patch,
        "metadata": {
            **patch.get("metadata", {}),
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
    }
    return await client.request(
        "PATCH",
        f"{rollouts_path(client)}/{metadata['name']}",
        query={"fieldManager": manager},
        body=body,
        content_type=MERGE,
    )


def replacing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Json:
    """The merge patch that makes `new` of `old`: a merge alone would keep what `new` leaves out."""
    patch: Json = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        patch[key] = replacing(before, value) if both else value  # type: ignore[arg-type]
    return patch


def keeper_of(body: Json, *path: str) -> str | None:
    """The controller that writes this field again and again, as its managedFields tell; None: nobody does.

    GitOps controllers are known by name, whatever way they write; anybody else by applying on the server
    side, unless that is kubectl in a person's hands, or we.
    """
    for entry in body["metadata"].get("managedFields") or ():
        manager = str(entry.get("manager", ""))
        if entry.get("subresource") or not _owns(entry.get("fieldsV1") or {}, path):
            continue
        if manager.startswith(GITOPS):
            return manager
        if entry.get("operation") == "Apply" and not manager.startswith("kubectl"):
            return manager
    return None


def _owns(fields: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    node: Any = fields
    for name in path:
        if not isinstance(node, Mapping) or f"f:{name}" not in node:
            return False
        node = node[f"f:{name}"]
    return True
