"""One release of a chart in a real cluster."""

from pathlib import Path
from typing import Any, Final

from helm.chart import CHART, SETS, Said, helm
from helm.sources import why_refused
from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually

SOON_S: Final = 30.0


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

    async def end(self) -> None:
        """Uninstall it, if it is there, and wait until the API server has forgotten its policy, which may be for all namespaces."""
        self.helm("uninstall", "wr", "--ignore-not-found")

        async def is_forgotten() -> bool:
            refused = await why_refused(self._api, self.namespace, "file:///no/")
            return f"weightrollout-sources.{self.namespace}" not in refused

        await eventually(is_forgotten, SOON_S, "the policy of sources is forgotten")
