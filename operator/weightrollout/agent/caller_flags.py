"""Who may call the agent, and as what it shows itself to callers: flags."""

import argparse
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weightrollout.api import names

ACCOUNT: Final = re.compile(r"system:serviceaccount:[a-z0-9.-]+:[a-z0-9.-]+")
JWKS_PATH: Final = "/openid/v1/jwks"
HOW: Final = "--operator-account system:serviceaccount:NAMESPACE:NAME, or --client-ca FILE with --client-name"


@dataclass(frozen=True, slots=True)
class CallerAccess:
    """Nobody is asked who they are where both `accounts` and `client_ca` are missing."""

    pod_namespace: str = ""
    pod_name: str = ""  # for messages only
    pod_uid: str = ""
    accounts: tuple[str, ...] = ()  # a token of one of them is asked for, where there are any
    jwks: str = ""  # file, or https:// of the API server
    issuers: tuple[str, ...] = ()  # beside those that the API server names
    cluster: Path = Path(names.MOUNT_CLUSTER)
    certificate: Path | None = None  # None: one of its own making
    key: Path | None = None
    client_ca: Path | None = None  # a certificate of it is asked for
    client_names: tuple[str, ...] = ()  # empty: the token alone says who it is

    @property
    def authenticates(self) -> bool:
        return bool(self.accounts) or self.client_ca is not None


def add(parser: argparse.ArgumentParser) -> None:
    asked = parser.add_argument_group("who may call")
    for name, variable in (
        ("namespace", names.ENV_POD_NAMESPACE),
        ("name", names.ENV_POD_NAME),
        ("uid", names.ENV_POD_UID),
    ):
        default = os.environ.get(variable, "")
        asked.add_argument(f"--pod-{name}", default=default, help=f"of this pod; or {variable}")
    asked.add_argument(
        "--operator-account",
        action="append",
        default=[],
        metavar="system:serviceaccount:NAMESPACE:NAME",
        help="callers need a token of this account, made for this pod alone; repeatable",
    )
    asked.add_argument(
        "--jwks",
        default=_in_cluster(),
        metavar="FILE|URL",
        help="the cluster's public keys (default: asked of the API server)",
    )
    asked.add_argument(
        "--token-issuer", action="append", default=[], help="of tokens, with a --jwks FILE"
    )
    asked.add_argument(
        "--cluster-credentials",
        type=Path,
        default=Path(names.MOUNT_CLUSTER),
        metavar="FOLDER",
        help=f"{names.CLUSTER_TOKEN} and {names.CLUSTER_CA} for a --jwks URL (default %(default)s)",
    )
    asked.add_argument("--tls-certificate", type=Path, help="PEM (default: made at every start)")
    asked.add_argument("--tls-key", type=Path, help="PEM: the key of that certificate")
    asked.add_argument("--client-ca", type=Path, help="PEM: callers need a certificate of it")
    asked.add_argument(
        "--client-name",
        action="append",
        default=[],
        help="DNS name or URI that such a certificate must have; repeatable",
    )


def take(arguments: dict[str, Any]) -> CallerAccess:
    """Out of the parsed arguments, which then no longer have them."""
    return CallerAccess(
        pod_namespace=arguments.pop("pod_namespace"),
        pod_name=arguments.pop("pod_name"),
        pod_uid=arguments.pop("pod_uid"),
        accounts=tuple(arguments.pop("operator_account")),
        jwks=arguments.pop("jwks"),
        issuers=tuple(arguments.pop("token_issuer")),
        cluster=arguments.pop("cluster_credentials"),
        certificate=arguments.pop("tls_certificate"),
        key=arguments.pop("tls_key"),
        client_ca=arguments.pop("client_ca"),
        client_names=tuple(arguments.pop("client_name")),
    )


def refusal(access: CallerAccess) -> str | None:
    """What no rotation of files can mend; names the flag."""
    for account in access.accounts:
        if not ACCOUNT.fullmatch(account):
            return f"--operator-account {account}: must be system:serviceaccount:NAMESPACE:NAME"
    if access.accounts and not (access.pod_namespace and access.pod_uid):
        return (
            "--operator-account needs --pod-namespace and --pod-uid (by the downward API, as"
            f" {names.ENV_POD_NAMESPACE} and {names.ENV_POD_UID}): tokens name the pod"
        )
    if access.accounts and not access.jwks:
        return (
            "--operator-account needs --jwks FILE or URL where there is no KUBERNETES_SERVICE_HOST"
        )
    if access.accounts and access.jwks.startswith("http://"):
        return f"--jwks {access.jwks}: must be https://, keys decide who is let in"
    if (access.certificate is None) is not (access.key is None):
        return "--tls-certificate and --tls-key: give both or none"
    if access.client_ca is not None and access.certificate is None:
        return "--client-ca needs --tls-certificate and --tls-key: mutual TLS is for both sides"
    if access.client_ca is not None and not (access.client_names or access.accounts):
        return (
            "--client-ca alone lets in whom it ever signed: say --client-name or --operator-account"
        )
    if access.client_names and access.client_ca is None:
        return "--client-name needs --client-ca"
    if access.certificate is not None and not access.authenticates:
        return f"--tls-certificate without a rule about who may call: {HOW}"
    return None


def _in_cluster() -> str:
    host, port = (
        os.environ.get(f"KUBERNETES_SERVICE_{each}", default)
        for each, default in (("HOST", ""), ("PORT", "443"))
    )
    if not host:
        return ""
    return f"https://{f'[{host}]' if ':' in host else host}:{port}{JWKS_PATH}"
