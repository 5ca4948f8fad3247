"""Whether the cluster's CustomResourceDefinition is the one this operator was built with."""

import logging
from typing import Final

from weightrollout.api.names import ANNOTATION_SCHEMA, API_VERSION, GROUP, PLURAL
from weightrollout.api.schema import schema_hash
from weightrollout.kube.client import Client
from weightrollout.kube.errors import Forbidden, NotFound

CRD_NAME: Final = f"{PLURAL}.{GROUP}"
CRD_PATH: Final = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD_NAME}"

log = logging.getLogger(__name__)


async def schema_problem(client: Client) -> str | None:
    """None: all is well. Else what is wrong and what to do.

    An older schema prunes fields of our status without a word, so that we would write it for ever.
    """
    missing = f"the CustomResourceDefinition {CRD_NAME} is not installed: apply crds/ first"
    try:
        found = await client.get(CRD_PATH)
    except NotFound:
        return missing
    except Forbidden:
        # A Role in one namespace cannot grant it. What is left is whether the kind is served at all.
        log.warning("no right to read %s: its schema is not compared with ours", CRD_NAME)
        return None if await _is_served(client) else missing
    ours, theirs = (
        schema_hash(),
        (found["metadata"].get("annotations") or {}).get(ANNOTATION_SCHEMA),
    )
    if theirs != ours:
        return (
            f"the CustomResourceDefinition {CRD_NAME} has schema {theirs or 'of unknown origin'}, this "
            f"operator needs {ours}: apply crds/ of this release first"
        )
    if not await _is_served(client):
        return f"the CustomResourceDefinition {CRD_NAME} is not served: see its status.conditions"
    return None


async def _is_served(client: Client) -> bool:
    try:
        served = await client.get(f"/apis/{API_VERSION}")
    except NotFound:
        return False
    return any(each["name"] == PLURAL for each in served["resources"])
