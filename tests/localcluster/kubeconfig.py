"""Write and read kubeconfig files.

Only the forms test clusters use: one current context, certificates or a bearer token, embedded or in files. A kubeconfig that
logs in through a helper program is refused: a test must not reach a cluster with a person's credentials.
"""

from __future__ import annotations

import base64
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

INLINE_KEYS: Final = ("certificate-authority", "client-certificate", "client-key")


@dataclass(frozen=True)
class Access:
    """How to reach one API server as one user."""

    server: str
    ca_pem: bytes | None = None  # None: the machine's own authorities
    certificate_pem: bytes | None = None
    key_pem: bytes | None = None
    token: str | None = None
    namespace: str = "default"

    def tls(self) -> ssl.SSLContext:
        """The TLS settings of a client with this access."""
        context = ssl.create_default_context(cadata=self.ca_pem.decode() if self.ca_pem else None)
        if self.certificate_pem and self.key_pem:
            with tempfile.NamedTemporaryFile() as both:  # load_cert_chain reads only from files
                both.write(self.certificate_pem + b"\n" + self.key_pem)
                both.flush()
                context.load_cert_chain(both.name)
        return context


def write_kubeconfig(path: Path, access: Access) -> Path:
    """Write a kubeconfig with this one access, readable by us alone."""
    cluster: dict[str, str] = {"server": access.server}
    user: dict[str, str] = {}
    if access.ca_pem:
        cluster["certificate-authority-data"] = _encode(access.ca_pem)
    if access.certificate_pem and access.key_pem:
        user["client-certificate-data"] = _encode(access.certificate_pem)
        user["client-key-data"] = _encode(access.key_pem)
    if access.token:
        user["token"] = access.token
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [
            {
                "name": "test",
                "context": {"cluster": "test", "user": "test", "namespace": access.namespace},
            }
        ],
        "current-context": "test",
    }
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        yaml.safe_dump(config, out)
    return path


def read_kubeconfig(path: Path) -> Access:
    """Read the current context; ValueError when it is of a form we refuse."""
    config = yaml.safe_load(path.read_text())
    context = _named(config["contexts"], config["current-context"], "context")
    cluster = _inlined(_named(config["clusters"], context["cluster"], "cluster"), path)
    user = _inlined(_named(config["users"], context["user"], "user"), path)
    if "exec" in user or "auth-provider" in user:
        raise ValueError(
            f"{path}: logs in through a helper program; tests take certificates or a token only"
        )
    return Access(
        server=cluster["server"],
        ca_pem=_decoded(cluster, "certificate-authority"),
        certificate_pem=_decoded(user, "client-certificate"),
        key_pem=_decoded(user, "client-key"),
        token=user.get("token"),
        namespace=context.get("namespace", "default"),
    )


def _named(entries: list[dict[str, Any]], name: str, what: str) -> dict[str, Any]:
    for entry in entries:
        if entry["name"] == name:
            found: dict[str, Any] = entry[what]
            return found
    raise ValueError(f"kubeconfig has no {what} named {name}")


def _inlined(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    inlined = dict(entry)
    for key in INLINE_KEYS:
        if key in inlined:
            inlined[f"{key}-data"] = _encode((path.parent / inlined[key]).read_bytes())
    return inlined


def _encode(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def _decoded(entry: Mapping[str, Any], key: str) -> bytes | None:
    data = entry.get(f"{key}-data")
    return base64.b64decode(data) if data else None
