"""What operator and agent agree on about calls between them: whom a token is for, and why a caller is not let in."""

from enum import StrEnum
from typing import Final, NamedTuple

from weightrollout.api.names import GROUP

#: In the certificate that an agent makes for itself. Every agent's: it says nothing about which.
AGENT_TLS_NAME: Final = f"agent.{GROUP}"
#: Of a token; the shortest that an API server gives.
TOKEN_S: Final = 600


class CallerReason(StrEnum):
    """Why a caller was not let in, before anything else was looked at. Told in docs/authentication.md."""

    TOKEN_MISSING = "TokenMissing"
    TOKEN_INVALID = "TokenInvalid"  # no token of this cluster can look like that
    TOKEN_EXPIRED = "TokenExpired"
    CLOCK_SKEW = "ClockSkew"  # it begins in the future
    KEY_UNKNOWN = "TokenKeyUnknown"  # signed, but not with a key of this cluster
    ISSUER_UNKNOWN = "TokenIssuerUnknown"
    OTHER_AUDIENCE = "TokenForAnother"  # another pod's, or not for agents at all
    OTHER_ACCOUNT = "AccountNotAllowed"
    OTHER_CERTIFICATE = "CertificateNotAllowed"
    KEYS_UNREACHABLE = "ClusterKeysUnreachable"  # nobody can be known yet; it mends itself


class NotTrusted(StrEnum):
    """Why the operator does not call an agent. Told in docs/authentication.md."""

    CERTIFICATE_CHANGED = "AgentCertificateChanged"
    WITHOUT_TLS = "AgentWithoutTls"
    TLS_FAILED = "AgentTls"
    NO_TOKEN = "NoToken"


class Callee(NamedTuple):
    """Whom a token opens: one pod, whose agent is called."""

    namespace: str
    pod_uid: str


def audience(namespace: str, pod_uid: str) -> str:
    """Of a token that opens the agent of this one pod."""
    return f"{GROUP}/agent/{namespace}/{pod_uid}"


def account(namespace: str, name: str) -> str:
    """A ServiceAccount as tokens name it."""
    return f"system:serviceaccount:{namespace}:{name}"
