"""Sound inputs of each kind; what is hostile is made of them."""

import json
import struct
from typing import Any, Final

from pydantic import TypeAdapter

from corpus import checkpoint_side, volume_side
from corpus.cluster_side import SPEC, TARGET
from weightrollout.api.spec import Expect, PauseMode, Prompt, TakeOut
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.handover import records
from weightrollout.kube.configmaps import Stable, stable_text
from weightrollout.swap import book
from weightrollout.swap.book import Book, Reservation, Running, Serving, Transaction
from weightrollout.swap.machine import begin
from weightrollout.swap.records import Content, Failure, SwapRequest

OLD: Final = Content("chat-1", "v1", "file:///m/1/", "sha256:" + "1" * 64)
NEW: Final = Content("chat-2", "v2", "file:///m/2/", volume_side.DIGEST)
FAILURE: Final = Failure(FailureClass.POD, "PauseFailed", "the engine did not pause")
PROMPTS: Final = (Prompt(prompt="2+2=", max_tokens=4, expect=Expect(contains="4")),)
REQUEST: Final = SwapRequest(
    volume_side.TXN, 1, NEW, OLD, PauseMode.KEEP, True, 60.0, 300.0, PROMPTS
)
WEIGHTS: Final = {"revision": "chat-2", "version": "v2", "uri": "{uri}", "digest": "{digest}"}
FENCE: Final = {"ownerUid": "cr-uid", "epoch": "3"}


def _journal() -> bytes:
    ended = Transaction("t/0", 1, NEW, SwapPhase.DONE, Outcome.UNDONE, FAILURE, 12.5)
    return bytes(
        TypeAdapter(Book).dump_json(
            Book(
                owner_uid="cr-uid",
                epoch=3,
                told=OLD,
                serving=Serving(OLD, volume_side.INSTANCE),
                last_good=OLD,
                touched=volume_side.INSTANCE,
                running=Running(begin(REQUEST, volume_side.INSTANCE), TakeOut.ENDPOINT),
                finished=(ended,),
                attempts=(book.Attempts(NEW.digest, 1, FAILURE),),
                reservation=Reservation("t/2", TakeOut.NONE, 30.0, NEW),
            )
        )
    )


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


def safetensors(header: str, data: bytes) -> bytes:
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + data


HEADER: Final = {
    "__metadata__": {"format": "pt"},
    "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
    "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]},
}
HEADER_BYTES: Final = 22
STABLE: Final = Stable("cr-uid", 3, "chat-1", "v1", "file:///m/1/", OLD.digest)
REVISION: Final = {
    "metadata": {
        "ownerReferences": [{"kind": "WeightRollout", "uid": "cr-uid", "controller": True}],
        "annotations": {
            "weightrollout.dev/verdict": "Verified",
            "weightrollout.dev/digest": OLD.digest,
        },
    },
    "data": {"schema": 1, "weights": {"version": "v1", "uri": "file:///m/1/"}},
}
POD: Final = {
    "metadata": {
        "labels": {"weightrollout.dev/name": "chat", "weightrollout.dev/version": "v1"},
        "annotations": {"weightrollout.dev/swap": '{"txn": "t"}'},
    },
    "spec": {"readinessGates": [{"conditionType": "weightrollout.dev/Serving"}]},
    "status": {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": None},
            {
                "type": "weightrollout.dev/Serving",
                "status": "True",
                "reason": "PutIn",
                "message": "",
                "lastTransitionTime": "2026-11-29T12:00:00Z",
            },
        ],
    },
}
FULL_SPEC: Final = {
    **SPEC,
    "staging": {"maxConcurrent": "10%", "keepLastGood": True},
    "swap": {"takeOut": "None", "settleSeconds": 0, "drainSeconds": 5, "pauseMode": "Abort"},
    "strategy": {"maxUnavailable": 1, "maxFailed": "0%", "proveFirst": False, "soakSeconds": 1},
    "verify": {
        "prompts": [
            {"prompt": "2+2=", "maxTokens": 4, "expect": {"contains": "4"}},
            {"prompt": "2+3=", "expect": {"regex": "^(5|five)$"}},
            {"prompt": "2+4=", "expect": {"tokenIds": [21]}},
        ]
    },
    "onFailure": "Hold",
    "repair": {"retries": 1},
    "mode": "Run",
}
_REF: Final = {
    "revision": TARGET.revision,
    "version": TARGET.version,
    "uri": TARGET.uri,
    "digest": TARGET.digest,
}
AGENT_STATE: Final = {
    "agentVersion": "0.1.0",
    "fence": FENCE,
    "ready": True,
    "engine": {"reachable": True, "instance": "e-1", "weightVersion": "v1", "model": "m"},
    "serving": _REF,
    "told": _REF,
    "staged": [TARGET.digest],
    "staging": {"digest": "", "bytes": "10", "total": "20", "uri": "file:///m/"},
    "reservation": {"txn": "t/2", "takeOut": "TAKE_OUT_ENDPOINT", "ttlSeconds": 5.0},
    "transaction": {
        "txn": "cr-uid/chat-1/pod-uid/1",
        "attempt": 1,
        "weights": _REF,
        "phase": "Done",
        "outcome": "Committed",
        "pauseMillis": 120.5,
    },
    "attempts": [{"digest": TARGET.digest, "attempts": 1, "failureClass": "Pod", "reason": "X"}],
}
METRICS: Final = (
    "# HELP vllm:num_requests_running Number of requests\n"
    "# TYPE vllm:num_requests_running gauge\n"
    'vllm:num_requests_running{engine="0",model_name="m"} 2.0\n'
    'vllm:num_requests_running{engine="1",model_name="m"} 1.0\n'
    'vllm:num_requests_waiting{engine="0"} 0.0\n'
)
COMPLETION: Final = {"choices": [{"text": "4", "finish_reason": "stop"}], "model": "m"}


def answer(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body


HELLO: Final = {"call": "Hello", "request": {"fence": FENCE}}
STAGE: Final = {"call": "Stage", "request": {"fence": FENCE, "weights": WEIGHTS}}
RESERVE: Final = {
    "call": "Reserve",
    "request": {
        "fence": FENCE,
        "txn": "cr/chat-2/pod/1",
        "takeOut": "TAKE_OUT_ENDPOINT",
        "ttlSeconds": 30.0,
        "weights": WEIGHTS,
    },
}
SWAP: Final = {
    "call": "Swap",
    "request": {
        "fence": FENCE,
        "txn": "cr/chat-2/pod/1",
        "attempt": 1,
        "weights": WEIGHTS,
        "pauseMode": "PAUSE_MODE_KEEP",
        "drainSeconds": 1.0,
        "deadlineSeconds": 20.0,
        "prompts": [{"prompt": "2+2=", "maxTokens": 4, "contains": "4"}],
    },
}
RELEASE: Final = {"call": "Release", "request": {"fence": FENCE, "txn": "cr/chat-2/pod/1"}}
RESTART: Final = {
    "call": "RestartEngine",
    "request": {"fence": FENCE, "serve": WEIGHTS, "reason": "Poisoned"},
}
WATCH: Final = {"call": "Watch", "request": {"heartbeatSeconds": 1.0}}

#: Kinds whose input is one JSON document.
DOCUMENTS: Final = {
    "journal": _journal(),
    "report": records.dumps(volume_side.REPORT),
    "prepared": records.dumps(volume_side.PREPARED),
    "receipt": records.dumps(volume_side.RECEIPT),
    "index": records.dumps(volume_side.INDEX),
    "exit-request": records.dumps(volume_side.EXIT),
    "stable": stable_text(STABLE).encode(),
    "published": stable_text(STABLE).encode(),
    "golden": _text(checkpoint_side.GOLDEN_SEED),
    "config": _text(checkpoint_side.CONFIG_SEED),
    "swap-annotation": _text({"cr": "chat", "epoch": 3, "revision": "r", "attempt": 1, "txn": "t"}),
}
