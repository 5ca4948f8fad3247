"""One namespace of a running cluster with a fleet in it: apply, look, wait."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import yaml

from fleet import rbac
from fleet.manifests import FleetSpec, stateful_set
from fleet.operator_process import OperatorProcess, OperatorRun
from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from weightrollout.api import names

Json = dict[str, Any]
CRD_FILE: Final = (
    Path(__file__).resolve().parents[2] / "crds" / f"{names.PLURAL}.{names.GROUP}.yaml"
)


class World:
    """What a scene or a test acts on. Holds no truth of its own: every question asks the API server."""

    def __init__(self, cluster: Cluster, api: Api, namespace: str, folder: Path) -> None:
        self.cluster = cluster
        self.api = api
        self.namespace = namespace
        self.folder = folder

    async def install_crd(self) -> None:
        crd: Json = await asyncio.to_thread(lambda: yaml.safe_load(CRD_FILE.read_text()))
        await self.api.apply(crd)
        path = f"/apis/{names.GROUP}/{names.VERSION}"

        async def served() -> bool:
            try:
                found = await self.api.get(path)
            except ApiError as missing:
                if missing.status == 404:
                    return False
                raise
            return any(each["name"] == names.PLURAL for each in found["resources"])

        await eventually(served, 20, "the API server serves our kind")

    async def operator(
        self, name: str = "operator-0", how: OperatorRun | None = None
    ) -> OperatorProcess:
        """A started replica with exactly the rights of `rbac`."""
        kubeconfig = await self.operator_kubeconfig()
        process = OperatorProcess(kubeconfig, self.namespace, self.folder / "operator", name, how)
        process.start()
        return process

    async def operator_kubeconfig(self) -> Path:
        """Exactly the rights of `rbac`."""
        return await self.cluster.kubeconfig_for_serviceaccount(
            self.namespace, names.OPERATOR_ACCOUNT, self.folder, *rbac.OF_ONE_NAMESPACE
        )

    async def let_evict(self) -> None:
        """From now on the operator may: what the chart gives it with rbac.evictPods."""
        namespaced, everywhere = rbac.OF_ONE_NAMESPACE
        await self.cluster.kubeconfig_for_serviceaccount(
            self.namespace,
            names.OPERATOR_ACCOUNT,
            self.folder,
            (*namespaced, *rbac.EVICTING),
            everywhere,
        )

    async def deploy(self, fleet: FleetSpec) -> None:
        await self.api.apply(self._here(stateful_set(fleet)))

    async def apply(self, manifest: Json) -> Json:
        return await self.api.apply(self._here(manifest))

    async def rollout(self, name: str) -> Json:
        return await self.api.get(f"{self._rollouts}/{name}")

    async def status(self, name: str) -> Json:
        """`status`; before the first write it says observedGeneration 0."""
        found: Json = (await self.rollout(name)).get("status", {})
        return found

    async def pods(self, app: str) -> list[Json]:
        found, _ = await self.api.list(
            f"/api/v1/namespaces/{self.namespace}/pods", labelSelector=f"app={app}"
        )
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    async def until(
        self, name: str, condition: Callable[[Json], object], deadline_s: float, why: str
    ) -> Json:
        """The first status for which `condition` holds; it must be of the newest generation."""
        seen: Json = {}

        async def holds() -> bool:
            nonlocal seen
            rollout = await self.rollout(name)
            seen = rollout.get("status", {})
            current = seen.get("observedGeneration") == rollout["metadata"]["generation"]
            said = f"{seen.get('phase')}: {seen.get('message')}"
            assert current, f"a newer generation is not observed yet; {said}"
            assert condition(seen), said
            return True

        await eventually(holds, deadline_s, why, every_s=0.05)
        return seen

    async def until_phase(self, name: str, phase: str, deadline_s: float) -> Json:
        return await self.until(
            name, lambda status: status.get("phase") == phase, deadline_s, f"{name} is {phase}"
        )

    async def until_ready(self, app: str, count: int, deadline_s: float) -> None:
        async def ready() -> bool:
            pods = await self.pods(app)
            conditions = [
                condition
                for pod in pods
                for condition in pod.get("status", {}).get("conditions", [])
                if condition["type"] == "Ready" and condition["status"] == "True"
            ]
            assert len(conditions) == count, f"{len(conditions)} of {len(pods)} pods are Ready"
            return True

        await eventually(ready, deadline_s, f"{count} pods of {app} are Ready", every_s=0.1)

    async def events(self, name: str) -> list[Json]:
        """Events about the object of that name, oldest first."""
        found, _ = await self.api.list(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")
        about = [event for event in found if event["regarding"]["name"] == name]
        return sorted(about, key=lambda event: str(event["eventTime"]))

    @property
    def _rollouts(self) -> str:
        return f"/apis/{names.API_VERSION}/namespaces/{self.namespace}/{names.PLURAL}"

    def _here(self, manifest: Json) -> Json:
        return {
            **manifest,
            "metadata": {**manifest["metadata"], "namespace": self.namespace},
        }
