"""TokenRequest: a short-lived token of one ServiceAccount, for one audience."""

from weightrollout.kube.client import Client
from weightrollout.kube.errors import Unavailable


async def request_token(client: Client, account: str, audience: str, lifetime_s: int) -> str:
    """Of a ServiceAccount in the client's namespace. Raises KubeError."""
    path = f"/api/v1/namespaces/{client.namespace}/serviceaccounts/{account}/token"
    answer = await client.create(
        path,
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": [audience], "expirationSeconds": lifetime_s},
        },
    )
    status = answer.get("status")
    token = status.get("token") if isinstance(status, dict) else None
    if not isinstance(token, str) or not token:
        raise Unavailable(f"POST {path}: the answer has no token")
    return token
