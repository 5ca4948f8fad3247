"""What an answer of Dynamo's sidecar says about the engine: neither its status nor its body alone does."""

import json
from typing import Any

import pytest

from weightrollout.engine.dynamo import answered
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
)
from weightrollout.engine.http_calls import Reply

FINISH = "POST http://127.0.0.1:9090/engine/update/finish_weight_update"


def reply(status: int, body: Any, where: str = "POST http://127.0.0.1:9090/engine/x") -> Reply:
    return Reply(status, body if isinstance(body, str) else json.dumps(body), where)


def no(message: str) -> dict[str, str]:
    return {"status": "error", "message": message}


def failed(message: str) -> dict[str, str]:
    return {"error": "Handler error", "message": message}


@pytest.mark.parametrize("body", [{"status": "paused"}, {"success": True}, {"message": "done"}, {}])
def test_success_is_a_body_that_does_not_deny_it(body: dict[str, Any]) -> None:
    assert answered(reply(200, body)) == body


@pytest.mark.parametrize(
    ("status", "body", "kind", "reason"),
    [
        (200, no("engine control request body must be a JSON object"), EngineRefused, "InvalidArgument"),
        (200, no("InvalidRequest: pause_generation mode must be abort, wait, or keep; got `x`"), EngineRefused, "InvalidArgument"),
        (
            *(200, no("engine administrative routes are unavailable while the worker is starting")),
            *(EngineRefused, "SidecarUnavailable"),
        ),
        (
            *(200, no("failed to unregister endpoint before /engine/control/sleep: gone")),
            *(EngineRefused, "SidecarUnavailable"),
        ),
        (
            *(200, no("engine resumed but re-registration failed after 3 tries; retry")),
            *(EngineStateUnknown, "Internal"),
        ),
        (200, {"status": "ERROR", "message": "something new"}, EngineStateUnknown, "Internal"),
        (200, {"success": False}, EngineStateUnknown, "Internal"),
        (200, "no JSON", EngineStateUnknown, "UnexpectedAnswer"),
        (200, [], EngineStateUnknown, "UnexpectedAnswer"),
        (400, {"error": "Invalid JSON", "message": "eof"}, EngineRefused, "InvalidArgument"),
        (404, {"error": "Route not found", "message": "x"}, EngineRefused, "ControlCallMissing"),
        (500, failed("InvalidRequest: missing `init_info` JSON object"), EngineRefused, "InvalidArgument"),
        (500, failed("Internal: InitWeightTransferEngine: boom (Internal)"), EngineStateUnknown, "Internal"),
        (500, failed("InvalidRequest: Sleep: no (FailedPrecondition)"), EngineRefused, "FailedPrecondition"),
        (500, failed("Unavailable: Sleep: gone (Unavailable)"), EngineStateUnknown, "Unavailable"),
        (500, failed("Internal: UpdateWeights: transport error (Unknown)"), EngineStateUnknown, "Unknown"),
        (413, "Failed to buffer the request body: length limit exceeded", EngineRefused, "InvalidArgument"),
        (500, failed("a worker says: missing `init_info` (Internal)"), EngineStateUnknown, "Internal"),
        (500, failed("no code at all"), EngineStateUnknown, "Internal"),
        (500, "no JSON", EngineStateUnknown, "Internal"),
        (503, {}, EngineStateUnknown, "Internal"),
        (302, {}, EngineStateUnknown, "Internal"),
    ],
)  # fmt: skip
def test_every_other_answer_tells_whether_something_may_have_happened(
    status: int, body: Any, kind: type[EngineError], reason: str
) -> None:
    with pytest.raises(EngineError) as caught:
        answered(reply(status, body))
    assert (type(caught.value), caught.value.reason) == (kind, reason)


def test_finish_tells_which_of_its_two_halves_failed() -> None:
    words = "FinishWeightUpdate: update_weight_version failed: disk full (Internal)"
    with pytest.raises(EngineStateUnknown) as caught:
        answered(reply(500, failed(words), FINISH))
    assert caught.value.reason == LABEL_NOT_SET
