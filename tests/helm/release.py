"""One release of a chart in a real cluster."""

from pathlib import Path
from typing import Any

from helm.chart import CHART, SETS, Said, helm
from localcluster.access import Cluster
from localcluster.api import Api, ApiError


class Release:
    """Of one namespace, named "wr" unless another name is given."""

    def __init__(self, cluster: Cluster, api: Api, namespace: str) -> None:
        self.namespace = namespace
        self._cluster = cluster
        self._api = api

    def helm(self, *arguments: str) -> Said:
        return helm(
            *arguments, f"--namespace={self.namespace}", kubeconfig=self._cluster.kubeconfig
        )

    def install(
        self, *more: str, name: str = "wr", chart: Path = CHART, values: Path = SETS["minimal"]
    ) -> Said:
        # Other tests have put the CRD there, by hand.
        arguments = (f"--values={values}", "--take-ownership")
        return self.helm("install", name, str(chart), *arguments, *more)

    async def deployment(self) -> dict[str, Any]:
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/weightrollout-operator"
        return await self._api.get(path)

    async def is_gone(self) -> bool:
        try:
            await self.deployment()
        except ApiError as missing:
            return missing.status == 404
        return False
