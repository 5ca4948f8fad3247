"""What the control frontend refuses by itself, before anything reaches the engine core."""

import json
from typing import Any, Final

import grpc

from simulator.core import Pause
from simulator.settings import Settings
from weightrollout.wire.vllm import control_pb2 as pb

MAX_MESSAGE_BYTES: Final = 32 << 20  # a constant in the engine
MODES: Final = {
    pb.PAUSE_MODE_UNSPECIFIED: Pause.ABORT,
    pb.PAUSE_MODE_ABORT: Pause.ABORT,
    pb.PAUSE_MODE_WAIT: Pause.WAIT,
    pb.PAUSE_MODE_KEEP: Pause.KEEP,
}
TRANSFER: Final = frozenset(
    {
        *("InitWeightTransferEngine", "StartWeightUpdate", "StartDraftWeightUpdate"),
        *("UpdateWeights", "FinishWeightUpdate"),
    }
)


class Refusal(Exception):
    """What the client gets instead of an answer."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def check_size(data: bytes) -> None:
    if len(data) > MAX_MESSAGE_BYTES:
        raise Refusal(
            grpc.StatusCode.OUT_OF_RANGE,
            f"Error, decoded message length too large: found {len(data)} bytes,"
            f" the limit is: {MAX_MESSAGE_BYTES} bytes",
        )


def check(name: str, request: Any, settings: Settings) -> None:
    """In the engine's order: what is configured first, then what was sent."""
    if name in TRANSFER and not settings.backend:
        raise _not_configured(
            "weight transfer is not configured; start vLLM with --weight-transfer-config"
        )
    match name:
        case "Sleep" | "WakeUp" if not settings.enable_sleep_mode:
            raise _not_configured(
                "sleep mode is not configured; start vLLM with --enable-sleep-mode"
            )
        case "StartDraftWeightUpdate" if not settings.has_draft:
            raise _not_configured(
                "draft weight updates require a configured speculative draft model"
            )
        case "Shutdown" if settings.unmanaged:
            raise _not_configured("this frontend does not manage the engine process")
        case "PauseGeneration" | "Sleep" if request.mode not in MODES:
            raise _invalid("invalid pause mode")
        case "InitWeightTransferEngine":
            _check_object("init_info_json", request.init_info_json)
        case "UpdateWeights":
            _check_object("update_info_json", request.update_info_json)
        case "FinishWeightUpdate" if request.HasField("weight_version"):
            _check_label(request.weight_version)
        case "UpdateWeightVersion":
            _check_label(request.weight_version)


def _check_object(field: str, payload: bytes) -> None:
    try:
        body = json.loads(payload)
    except ValueError as error:
        raise _invalid(f"{field} must contain valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise _invalid(f"{field} must contain a JSON object")


def _check_label(version: str) -> None:
    if not version.strip():
        raise _invalid("weight_version must not be empty")


def _not_configured(text: str) -> Refusal:
    return Refusal(grpc.StatusCode.FAILED_PRECONDITION, text)


def _invalid(text: str) -> Refusal:
    return Refusal(grpc.StatusCode.INVALID_ARGUMENT, text)
