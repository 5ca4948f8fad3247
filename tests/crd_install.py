"""Put our CustomResourceDefinition into a test cluster, as a user would: from the file in crds/."""

from pathlib import Path
from typing import Any, Final

import yaml

from localcluster.api import Api
from localcluster.waiting import eventually
from weightrollout.api.names import API_VERSION, KIND, PLURAL

CRD_FILE: Final = Path(__file__).parents[1] / "crds" / "weightrollouts.weightrollout.dev.yaml"
ESTABLISHED_S: Final = 30.0

Json = dict[str, Any]


async def install_crd(api: Api) -> Json:
    """Apply it and wait until the API server serves it; the definition as the server holds it."""
    manifest: Json = yaml.safe_load(CRD_FILE.read_text())
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{manifest['metadata']['name']}"
    await api.apply(manifest)

    async def established() -> Json | None:
        found = await api.get(path)
        told = {each["type"]: each["status"] for each in found["status"]["conditions"] or ()}
        return found if told.get("Established") == "True" else None

    found = await eventually(established, ESTABLISHED_S, "the CRD is established")
    assert found is not None
    return found


def collection(namespace: str) -> str:
    """API path of a namespace's WeightRollouts."""
    return f"/apis/{API_VERSION}/namespaces/{namespace}/{PLURAL}"


def weight_rollout(name: str, spec: Json) -> Json:
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": spec}
