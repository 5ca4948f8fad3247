"""What is known after a call to the API server failed.

KubeError
|-- Refused              it answered: nothing was changed
|   |-- Conflict         409: somebody wrote since we read, or it exists already
|   |-- NotFound         404
|   |-- Gone             410: the resourceVersion is too old, list again
|   |-- Invalid          400, 422, or an apply that the schema does not allow: do not repeat it
|   |-- Forbidden        401, 403: the account lacks a right
|   |   `-- NamespaceEnds  403: none is missing, but nothing new is let into a namespace that is being deleted
|   `-- TooManyRequests  429: repeat after `retry_after_s`
`-- Unavailable          no answer in time, or 5xx: it may have been done
"""

import json
import math
from typing import Any, Final

RETRY_AFTER_S: Final = (0.1, 60.0)  # shortest and longest pause that a server can ask for


class KubeError(Exception):
    reason = "ApiServerError"


class Refused(KubeError):
    reason = "ApiServerRefused"


class Conflict(Refused):
    reason = "ApiServerConflict"


class NotFound(Refused):
    reason = "ApiServerNotFound"


class Gone(Refused):
    reason = "ApiServerGone"


class Invalid(Refused):
    reason = "ApiServerInvalid"


class Forbidden(Refused):
    reason = "ApiServerForbidden"


class NamespaceEnds(Forbidden):
    reason = "NamespaceEnds"


class TooManyRequests(Refused):
    reason = "ApiServerTooManyRequests"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(KubeError):
    reason = "ApiServerUnavailable"


def error_of(what: str, code: int, body: bytes, retry_after: str | None = None) -> KubeError:
    """The error for one answer. `what` names verb and path; the server's message is kept."""
    message = f"{what}: {code}: {_message(body)}"
    match code:
        case 400 | 422:
            return Invalid(message)
        case 403 if _namespace_ends(body):
            return NamespaceEnds(message)
        case 401 | 403:
            return Forbidden(message)
        case 404:
            return NotFound(message)
        case 409:
            return Conflict(message)
        case 410:
            return Gone(message)
        case 429:
            return TooManyRequests(message, _seconds(retry_after))
        # An apply with an unknown field is answered 500 by kube-apiserver 1.34; repeating it cannot help.
        case 500 if "failed to create typed patch object" in message:
            return Invalid(message)
        case _ if code >= 500:
            return Unavailable(message)
        case _:
            return Refused(message)


def _message(body: bytes) -> str:
    text = body.decode(errors="replace").strip()
    said = _said(body)
    if said is None:
        return text[:500]
    budgets = [each["message"] for each in _causes(said, "DisruptionBudget") if each.get("message")]
    return " ".join([str(said.get("message", text[:500])), *budgets])


def _namespace_ends(body: bytes) -> bool:
    return bool(_causes(_said(body) or {}, "NamespaceTerminating"))


def _causes(said: dict[str, Any], reason: str) -> list[dict[str, Any]]:
    details = said.get("details")
    causes = details.get("causes") if isinstance(details, dict) else None
    return [
        cause
        for cause in (causes if isinstance(causes, list) else ())
        if isinstance(cause, dict) and cause.get("reason") == reason
    ]


def _said(body: bytes) -> dict[str, Any] | None:
    """None where it is no object: something between us and the API server answered."""
    try:
        said = json.loads(body.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _seconds(retry_after: str | None) -> float:
    """Bounded on both sides: what stands between us and the server may say 0, or a day."""
    try:
        asked = float(retry_after or 1)
    except ValueError:
        return 1.0  # a date: nobody sends it, a second is polite
    if math.isnan(asked):
        return 1.0
    return min(max(asked, RETRY_AFTER_S[0]), RETRY_AFTER_S[1])
