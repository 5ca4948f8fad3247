"""A cluster's side of authentication: keys that sign ServiceAccount tokens, and the API server that shows their public half."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from localcluster.certificates import Authority
from weightrollout.api import names
from weightrollout.api.callers import TOKEN_S, Callee, account, audience

Json = dict[str, Any]

ISSUER: Final = "https://kubernetes.default.svc"
NAMESPACE: Final = "ns"
POD_UID: Final = "0b1c5a1e-0000-4000-8000-000000000001"
CALLEE: Final = Callee(NAMESPACE, POD_UID)
OPERATOR: Final = account(NAMESPACE, names.OPERATOR_ACCOUNT)
#: The agent's own, with which it reads the keys.
POD_TOKEN: Final = "token-of-the-pod"


@dataclass(frozen=True)
class Key:
    """RSA, as clusters have; making one takes a tenth of a second."""

    name: str
    private: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    def public_jwk(self) -> Json:
        found: Json = jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {**found, "kid": self.name, "alg": "RS256", "use": "sig"}

    def public_pem(self) -> bytes:
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


@dataclass
class Issuer:
    """Signs with the first key, shows all of them."""

    keys: list[Key] = field(default_factory=lambda: [Key("key-1")])
    name: str = ISSUER

    def jwks(self) -> Json:
        return {"keys": [each.public_jwk() for each in self.keys]}

    def token(self, to: str = "", *, key: Key | None = None, **claims: Any) -> str:
        """Good for the pod of these tests, but for what `claims` replace. None: left out."""
        signer = key or self.keys[0]
        return jwt.encode(
            said(to, self.name, **claims),
            signer.private,
            algorithm="RS256",
            headers={"kid": signer.name},
        )

    def issue(self, name: str, to: str) -> str:
        """As TokenRequest does, for an account of the tests' namespace."""
        return self.token(to, sub=account(NAMESPACE, name))


def said(to: str = "", issuer: str = ISSUER, **claims: Any) -> Json:
    now = int(time.time())
    usual = {
        "aud": [to or audience(NAMESPACE, POD_UID)],
        "iss": issuer,
        "sub": OPERATOR,
        "iat": now,
        "nbf": now,
        "exp": now + TOKEN_S,
    }
    return {name: value for name, value in (usual | claims).items() if value is not None}


def unsigned(header: Json, claims: Json, signature: bytes = b"") -> str:
    """What no library makes by itself."""
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(each).rstrip(b"=").decode() for each in parts)


class KeyFront:
    """The two documents of an API server, over TLS, for whoever brings the pod's token."""

    def __init__(self, issuer: Issuer) -> None:
        self.issuer = issuer
        self.up = True
        self.reads = 0
        self.url = ""

    async def jwks(self, request: web.Request) -> web.Response:
        self.reads += 1
        return self._answer(request, self.issuer.jwks())

    async def discovery(self, request: web.Request) -> web.Response:
        return self._answer(request, {"issuer": self.issuer.name})

    def _answer(self, request: web.Request, body: Json) -> web.Response:
        if not self.up:
            return web.Response(status=503)
        if request.headers.get("Authorization") != f"Bearer {POD_TOKEN}":
            return web.Response(status=401)
        return web.json_response(body)


@asynccontextmanager
async def key_front(issuer: Issuer, folder: Path) -> AsyncIterator[KeyFront]:
    """`folder` gets what the kubelet projects: the pod's token, and whom to trust."""
    authority, front = Authority(), KeyFront(issuer)
    leaf = authority.issue("kubernetes", hosts=["127.0.0.1"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names.CLUSTER_CA).write_bytes(authority.certificate)
    (folder / names.CLUSTER_TOKEN).write_text(POD_TOKEN + "\n")
    pair = folder / "server.pem"
    pair.write_bytes(leaf.key + leaf.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    app = web.Application()
    app.router.add_get("/openid/v1/jwks", front.jwks)
    app.router.add_get("/.well-known/openid-configuration", front.discovery)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    front.url = f"https://127.0.0.1:{runner.addresses[0][1]}/openid/v1/jwks"
    try:
        yield front
    finally:
        await runner.cleanup()
