"""Whether the API server takes what a chart rendered, and WeightRollouts from one source or another."""

from typing import Any, Final

from fleet.manifests import weight_rollout
from localcluster.api import Api, ApiError

Json = dict[str, Any]

DRY: Final = {
    "dryRun": "All",
    "fieldManager": "helm",
    "force": "true",
    "fieldValidation": "Strict",
}


async def dry_run(api: Api, each: Json) -> Json:
    return await api.patch(await api.path_of(each), each, "apply", **DRY)


def rollout(namespace: str, uri: str, **weights: Any) -> Json:
    found = weight_rollout("chat", {"version": "v1", "uri": uri, **weights})
    found["metadata"]["namespace"] = namespace
    return found


async def why_refused(api: Api, namespace: str, uri: str, **weights: Any) -> str:
    """ "": it would be accepted."""
    try:
        await dry_run(api, rollout(namespace, uri, **weights))
    except ApiError as refused:
        return str(refused)
    return ""
