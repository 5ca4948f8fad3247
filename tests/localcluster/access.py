"""What tests hold of a cluster, whichever it is: its kubeconfig, a client, and kubeconfigs of lesser users."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import yaml

from localcluster.api import Api, ApiError, Json
from localcluster.kubeconfig import write_kubeconfig
from localcluster.waiting import eventually

TOKEN_S: Final = 3600
NOT_FOUND: Final = 404
CONFLICT: Final = 409


class Cluster:
    """A cluster we were pointed at; talks only to the kubeconfig given."""

    def __init__(self, kubeconfig: Path, name: str) -> None:
        """`kubeconfig` needs full rights; `name` is for messages."""
        self.kubeconfig = kubeconfig
        self.name = name

    def api(self, deadline_s: float = 60.0) -> Api:
        """A new client with full rights; enter it as an async context manager."""
        return Api(self.kubeconfig, deadline_s)

    def kubeconfig_in(self, namespace: str, folder: Path) -> Path:
        """One whose context is in this namespace, as a user's is in theirs."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        for context in config["contexts"]:
            context["context"]["namespace"] = namespace
        path = folder / f"kubeconfig-{namespace}"
        path.write_text(yaml.safe_dump(config))
        return path

    async def kubeconfig_for_serviceaccount(
        self,
        namespace: str,
        name: str,
        folder: Path,
        rules: Sequence[Json] = (),
        cluster_rules: Sequence[Json] = (),
    ) -> Path:
        """Make ServiceAccount `name` with exactly these RBAC rules and return a kubeconfig with a token of it.

        `rules` hold in the namespace, `cluster_rules` everywhere; none given: bind what you like yourself.
        The token lives for an hour. A second call replaces the rules.
        """
        async with self.api() as api:
            await make_service_account(api, namespace, name, rules, cluster_rules)
            token = await service_account_token(api, namespace, name)
            access = dataclasses.replace(
                api.access, token=token, certificate_pem=None, key_pem=None, namespace=namespace
            )
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{namespace}-{name}.kubeconfig"
        return await asyncio.to_thread(write_kubeconfig, path, access)


async def make_service_account(
    api: Api,
    namespace: str,
    name: str,
    rules: Sequence[Json] = (),
    cluster_rules: Sequence[Json] = (),
) -> None:
    """Create or update the account, and a Role and ClusterRole of these rules bound to it."""
    await api.apply(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": namespace},
        }
    )
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    if rules:
        await _bind(api, "", {"name": name, "namespace": namespace}, rules, subject)
    if cluster_rules:
        await _bind(api, "Cluster", {"name": f"{namespace}:{name}"}, cluster_rules, subject)


async def service_account_token(
    api: Api, namespace: str, name: str, audiences: Sequence[str] = (), lifetime_s: int = TOKEN_S
) -> str:
    """A token of the account; no audiences: the API server's own."""
    spec: Json = {"expirationSeconds": lifetime_s, "audiences": list(audiences)}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    answer = await api.create(
        path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    )
    token: str = answer["status"]["token"]
    return token


async def service_account_token_for_pod(
    api: Api, pod: Json, audiences: Sequence[str], lifetime_s: int
) -> str:
    """A token of the pod's account that is good only while this pod exists."""
    namespace, name = (
        pod["metadata"]["namespace"],
        pod["spec"].get("serviceAccountName") or "default",
    )
    reference = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": pod["metadata"]["name"],
        "uid": pod["metadata"]["uid"],
    }
    spec = {
        "expirationSeconds": lifetime_s,
        "audiences": list(audiences),
        "boundObjectRef": reference,
    }
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    answer = await api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", body)
    token: str = answer["status"]["token"]
    return token


async def make_namespace(api: Api, name: str, deadline_s: float = 20.0) -> None:
    """Create a namespace and wait until pods can be created in it; nothing to do where it exists."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    try:
        await api.create("/api/v1/namespaces", body)
    except ApiError as refused:
        if refused.status != CONFLICT:
            raise

    async def usable() -> bool:
        try:
            await api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default")
        except ApiError:
            return False
        return True

    await eventually(usable, deadline_s, f"namespace {name} has its ServiceAccount")


async def remove_namespace(api: Api, name: str) -> None:
    """Ask for its end and kill its pods at once; the rest goes in the background. Nothing to do where it is gone."""
    try:
        pods = f"/api/v1/namespaces/{name}/pods"
        await api.delete(f"/api/v1/namespaces/{name}")
        await api.delete(pods, gracePeriodSeconds="0")
    except ApiError as refused:
        if refused.status != NOT_FOUND:
            raise


async def _bind(api: Api, scope: str, metadata: Json, rules: Sequence[Json], subject: Json) -> None:
    group = "rbac.authorization.k8s.io"
    role = {
        "apiVersion": f"{group}/v1",
        "kind": f"{scope}Role",
        "metadata": metadata,
        "rules": list(rules),
    }
    reference = {"apiGroup": group, "kind": f"{scope}Role", "name": metadata["name"]}
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": f"{scope}RoleBinding",
        "metadata": metadata,
        "roleRef": reference,
        "subjects": [subject],
    }
    await api.apply(role)
    await api.apply(binding)
