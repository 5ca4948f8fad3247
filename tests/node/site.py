"""A namespace with the chart installed and checkpoints on a volume, and fleets of injected engines in it."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import checkpoints
from fleet.manifests import weight_rollout
from fleet.world import World
from helm.chart import Said, helm
from localcluster.api import Api, ApiError
from localcluster.pod_status import is_ready
from localcluster.pods import Pods
from localcluster.waiting import eventually
from localnode.ground import Ground
from node.clients import Clients
from node.product import (
    MODELS,
    PROXY,
    RELEASE,
    Images,
    described,
    engine_state,
    engines,
    inject,
    install,
    volume,
)
from node.toys import SOON_S, create_service
from weightrollout.api import names

Json = dict[str, Any]

OPERATOR: Final = "weightrollout-operator"  # its Deployment
LARGE: Final = checkpoints.qwen3_shapes(  # about 120 MB
    hidden=512, layers=12, heads=8, kv_heads=8, head_dim=64, mlp=2048, vocab=8000
)
VERSIONS: Final = "abcdef"
READY_S: Final = 150.0  # three pods of two Python programs each, on two cores
ROLL_S: Final = 150.0


@dataclass(frozen=True)
class Site:
    """What a scenario acts on."""

    ground: Ground
    world: World
    images: Images
    known: Mapping[str, int]  # fingerprints by the names of the versions

    @property
    def pods(self) -> Pods:
        return Pods(self.world.api, self.world.namespace)

    def uri(self, version: str) -> str:
        """As the pods see it."""
        return f"file://{MODELS}/{version}/"

    async def prepare(self) -> None:
        """The volume with its checkpoints, and the claim on it."""
        folder = self.ground.shared / self.world.namespace
        await asyncio.to_thread(write_models, folder)
        for each in volume("models", folder, self.world.namespace):
            await self.world.api.apply(each)

    async def write_large(self, *versions: str) -> int:
        """More checkpoints of a larger model, on the volume; bytes of one."""
        folder = self.ground.shared / self.world.namespace
        for version in versions:
            await asyncio.to_thread(
                checkpoints.write_checkpoint,
                folder / version,
                seed=sum(version.encode()),
                tensors=LARGE,
            )
        return sum(path.stat().st_size for path in (folder / versions[0]).glob("*.safetensors"))

    async def install(self, *more: str) -> None:
        """The chart of this checkout; AssertionError with what helm and the cluster say when it does not come up."""
        said = await asyncio.to_thread(
            install, self.ground, self.world.namespace, self.images, *more
        )
        assert said.ok, f"{said.error}\n{self.story()}"

    async def uninstall(self) -> Said:
        """What helm said."""
        where = (f"--namespace={self.world.namespace}", "--wait", "--timeout=100s")
        return await asyncio.to_thread(
            helm, "uninstall", RELEASE, *where, kubeconfig=self.ground.kubeconfig
        )

    def workload(
        self,
        name: str,
        *arguments: str,
        replicas: int = 3,
        model: str = "a",
        engine_flags: Sequence[str] = ("--token-seconds=0.01",),
    ) -> Json:
        """Injected. `arguments`: of inject; `model`: what the engines load at their start."""
        before = engines(name, self.images, model, replicas, engine_flags)
        size = () if "--bytes" in arguments else ("--bytes", "1Mi")
        return self.injected(before, "--container", "vllm", *size, *arguments)

    def injected(self, workload: Json, *arguments: str) -> Json:
        """By the command line; the agent sees the checkpoints."""
        return inject(workload, self.images, "--uri", self.uri("a"), *arguments)

    async def deploy(self, workload: Json) -> str:
        """Apply it, with a Service in front; wait until all its pods are Ready. The Service's URL, good inside only."""
        name, count = workload["metadata"]["name"], workload["spec"]["replicas"]
        address = await create_service(self.world.api, self.pods, name, PROXY)
        await self.world.apply(workload)
        try:
            await self.world.until_ready(name, count, READY_S)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.story()}") from late
        return f"http://{address}"

    async def clear(self) -> None:
        """Remove all fleets and their rollouts; the operator stays."""
        api, here = self.world.api, f"namespaces/{self.world.namespace}"
        for path in (f"/apis/apps/v1/{here}/deployments", f"/api/v1/{here}/services"):
            found, _ = await api.list(path)
            for name in (each["metadata"]["name"] for each in found):
                if name != OPERATOR:
                    await api.delete(f"{path}/{name}")
        await api.delete(f"/apis/{names.API_VERSION}/{here}/{names.PLURAL}")

        async def gone() -> bool:
            label = names.LABEL_NAME
            return not (await api.list(f"/api/v1/{here}/pods", labelSelector=label))[0]

        await eventually(gone, READY_S, "the fleets are gone", every_s=0.5)

    async def roll(self, name: str, version: str, **spec: Any) -> None:
        """Ask for new weights; returns at once."""
        weights = {"version": version, "uri": self.uri(version)}
        await self.world.apply(weight_rollout(name, weights, **spec))

    async def rolled(self, name: str, deadline_s: float = ROLL_S) -> Json:
        """Wait until it is Complete; its status."""
        try:
            return await self.world.until_phase(name, "Complete", deadline_s)
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.story()}") from late

    async def holds(self, app: str, version: str, count: int) -> None:
        """Wait until that many engines are all that there are, and hold these weights to the last byte."""

        async def all_hold() -> bool:
            pods = await self.world.pods(app)
            states = [await engine_state(self.world, pod["metadata"]["name"]) for pod in pods]
            held = [each["fingerprint"] for each in states]
            assert held == [self.known[version]] * count, held
            return True

        await eventually(all_hold, ROLL_S, f"{count} engines hold {version}", every_s=0.5)

    def clients(self, url: str) -> Clients:
        """Traffic through the Service."""
        return Clients(self.world, url, dict(self.known))

    async def replaced(self, app: str, before: set[str], count: int) -> None:
        """Wait until there are that many pods, all Ready, and none of those with the uids of `before`."""

        async def all_new() -> bool:
            pods = await self.world.pods(app)
            assert len(pods) == count, f"{len(pods)} pods"
            assert before.isdisjoint(pod["metadata"]["uid"] for pod in pods)
            return all(is_ready(pod.get("status") or {}) for pod in pods)

        await eventually(all_new, 2 * READY_S, f"the pods of {app} are new", every_s=0.5)

    async def container(self, pod: str, name: str) -> Json:
        """Its status."""
        return await self.pods.container(pod, name)

    async def kill(self, pod: str, container: str) -> int:
        """SIGKILL for the container's process; how often it had been restarted before."""
        status = await self.container(pod, container)
        await self.ground.kill_container(status["containerID"])
        return int(status["restartCount"])

    async def restarted(self, pod: str, container: str, before: int) -> None:
        """Wait until the kubelet has started it again."""

        async def again() -> bool:
            status = await self.container(pod, container)
            return status["restartCount"] > before and "running" in status["state"]

        await eventually(again, SOON_S, f"{container} of {pod} is started again", every_s=0.2)

    async def paused(self, app: str) -> str:
        """Wait until an engine is in its pause; its pod."""

        async def find() -> str:
            for pod in await self.world.pods(app):
                name = str(pod["metadata"]["name"])
                try:
                    if (await engine_state(self.world, name))["paused"]:
                        return name
                except LookupError:
                    continue
            return ""

        return str(await eventually(find, ROLL_S, "an engine is paused"))

    async def scale(self, deployment: str, replicas: int) -> None:
        """Ask for so many."""
        path = f"/apis/apps/v1/namespaces/{self.world.namespace}/deployments/{deployment}/scale"
        await self.world.api.patch(path, {"spec": {"replicas": replicas}}, "merge")

    async def operators(self, count: int) -> list[str]:
        """Scale the operator; wait until that many of its pods are there, and Ready. Their names."""
        await self.scale(OPERATOR, count)

        async def there() -> bool:
            pods = await self._operator_pods()
            ready = [each for each in pods if is_ready(each.get("status") or {})]
            return len(pods) == len(ready) == count

        await eventually(there, SOON_S, f"{count} operators", every_s=0.2)
        return [pod["metadata"]["name"] for pod in await self._operator_pods()]

    async def leader(self) -> str:
        """The operator's pod that holds the Lease."""
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.world.namespace}/leases"
        leases, _ = await self.world.api.list(path)
        holders = [str(each["spec"].get("holderIdentity")) for each in leases]
        for pod in await self._operator_pods():
            name = str(pod["metadata"]["name"])
            if any(name in holder for holder in holders):
                return name
        raise LookupError(f"no pod among {holders}")

    async def _operator_pods(self) -> list[Json]:
        path = f"/api/v1/namespaces/{self.world.namespace}/pods"
        label = "app.kubernetes.io/component=operator"
        return (await self.world.api.list(path, labelSelector=label))[0]

    def story(self) -> str:
        """What a person would look at first."""
        return described(self.world, self.ground.kubeconfig)


async def remove_crd(api: Api) -> None:
    """With every WeightRollout there is; nothing to do where it is gone."""
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    with suppress(ApiError):
        await api.delete(f"{path}/{names.PLURAL}.{names.GROUP}")


def write_models(folder: Path) -> dict[str, int]:
    """Fingerprints of all versions; the same in every folder."""
    found = {}
    for version in VERSIONS:
        model = checkpoints.write_checkpoint(folder / version, seed=ord(version))
        found[version] = checkpoints.fingerprint(model)
    return found
