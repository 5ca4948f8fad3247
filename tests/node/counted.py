"""A web server with TLS in a pod, from which agents read weights, and what it gave to whom."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fleet.manifests import secret
from localcluster.certificates import Authority
from node.product import MODELS
from node.site import Site
from node.toys import SOON_S, ask, create_service, pod, toy

Json = dict[str, Any]

NAME: Final = "store"
TLS: Final = "store-tls"
PORT: Final = 8443
TALLY: Final = 9000
KEYS: Final = "weights-reader"  # Secret of the agents' variables
AUTHORITY: Final = "authority"  # ConfigMap, and the volume of it
MOUNT: Final = "/authority"
#: Of inject, for agents that read from here.
FLAGS: Final = ("--agent-mount", f"{AUTHORITY}:{MOUNT}", "--agent-secret", KEYS)


@dataclass(frozen=True)
class Store:
    """Serves the folders of the models' volume."""

    site: Site
    address: str

    def uri(self, version: str) -> str:
        return f"https://{self.address}/{version}/"

    async def given(self, version: str) -> int:
        """Bytes of a folder that all who asked were given."""
        said = json.loads(await ask(self.site.world.api, self.site.pods, NAME, "/", TALLY))
        found: dict[str, int] = said.get(version, {})
        return sum(found.values())


async def serve(site: Site) -> Store:
    """The folders of the volume, each with the list that such servers need; and what agents need to trust it."""
    api, authority = site.world.api, Authority()
    address = await create_service(api, site.pods, NAME, PORT)
    leaf = authority.issue(NAME, hosts=[address])
    pair = {"tls.crt": leaf.certificate.decode(), "tls.key": leaf.key.decode()}
    await site.world.apply(secret(TLS, pair))
    await site.world.apply(secret(KEYS, {"SSL_CERT_FILE": f"{MOUNT}/ca.crt"}))
    data = {"ca.crt": authority.certificate.decode()}
    await site.world.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": AUTHORITY}, "data": data}
    )
    mounts = [
        {"name": "models", "mountPath": MODELS, "readOnly": True},
        {"name": "tls", "mountPath": "/tls", "readOnly": True},
    ]
    container = toy(
        "store", "store", f":{PORT}", MODELS, "/tls/tls.crt", "/tls/tls.key", volumeMounts=mounts
    )
    volumes = [
        {"name": "models", "persistentVolumeClaim": {"claimName": "models", "readOnly": True}},
        {"name": "tls", "secret": {"secretName": TLS}},
    ]
    await site.pods.create(pod(NAME, container, volumes=volumes))
    await site.pods.ready(NAME, SOON_S)
    return Store(site, f"{address}:80")


def trusting(workload: Json) -> Json:
    """A Deployment before injection, with the authority in a volume."""
    volume = {"name": AUTHORITY, "configMap": {"name": AUTHORITY}}
    workload["spec"]["template"]["spec"]["volumes"].append(volume)
    return workload


def write_sums(folder: Path) -> None:
    """As `sha256sum * > SHA256SUMS` does."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
        if file.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))
