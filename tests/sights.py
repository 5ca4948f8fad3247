"""Builders for what the CLI sees: a WeightRollout as the API server sends it, and pods."""

import json
from dataclasses import replace
from typing import Any

from weightrollout.api.names import (
    ANNOTATION_DIGEST,
    ANNOTATION_VERDICT,
    ANNOTATION_VERDICT_MESSAGE,
    ANNOTATION_VERDICT_REASON,
    LABEL_NAME,
)
from weightrollout.api.spec import Weights
from weightrollout.kube.pods import Pod
from weightrollout.rollout.revisions import revision_name

Json = dict[str, Any]

GENERATION = 3
V7: Json = {"version": "v7", "digest": "sha256:" + "7a" * 32, "revision": "chat-7a7a7a"}
V8: Json = {"version": "v8", "digest": "sha256:" + "8b" * 32, "revision": "chat-8b8b8b"}
URI_V8 = "file:///models/chat/v8/"


def condition(kind: str, status: str, generation: int = GENERATION) -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": kind,
        "lastTransitionTime": "2026-11-29T11:00:00Z",
        "observedGeneration": generation,
    }


def rollout(**status: Any) -> Json:
    """A WeightRollout `chat`; without arguments nobody has written its status."""
    body: Json = {
        "metadata": {
            "name": "chat",
            "namespace": "prod",
            "uid": "cr",
            "generation": GENERATION,
        },
        "spec": {"weights": {"version": "v8", "uri": URI_V8}},
    }
    if status:
        body["status"] = {"observedGeneration": GENERATION, **status}
    return body


def pod(
    name: str,
    version: str = "",
    *,
    ready: bool = True,
    phase: str = "Running",
    terminating: bool = False,
) -> Pod:
    return Pod(
        namespace="prod",
        name=name,
        uid=f"uid-{name}",
        resource_version=1,
        rollout="chat",
        version_label=version,
        swap_annotation="",
        phase=phase,
        ready=ready,
        terminating=terminating,
        ip="",
        agent_port=9610,
        gated=False,
        gate=None,
    )


def swapped(name: str, ref: Json, *, ready: bool = True) -> Pod:
    """A pod that the operator has put in with these weights."""
    note = json.dumps({"revision": ref["revision"], "txn": f"u:{ref['revision']}:uid-{name}:1"})
    return replace(pod(name, ref["version"], ready=ready), swap_annotation=note)


def controller_revision(
    number: int, ref: Json, verdict: str = "", reason: str = "", message: str = "", **weights: Any
) -> Json:
    """As the API server sends it. The digest was given, unless `weights` says digest="": it is pinned."""
    content = {"version": ref["version"], "uri": f"file:///models/chat/{ref['version']}/"}
    content |= {"digest": ref["digest"], **weights}
    annotations = {
        ANNOTATION_DIGEST: ref["digest"] if weights.get("digest") == "" else "",
        ANNOTATION_VERDICT: verdict,
        ANNOTATION_VERDICT_REASON: reason,
        ANNOTATION_VERDICT_MESSAGE: message,
    }
    return {
        "metadata": {
            "namespace": "prod",
            "name": ref["revision"],
            "uid": f"uid-{number}",
            "resourceVersion": "1",
            "creationTimestamp": "2026-11-28T11:00:00Z",
            "labels": {LABEL_NAME: "chat"},
            "annotations": {key: value for key, value in annotations.items() if value},
        },
        "revision": number,
        "data": {"schema": 1, "weights": {key: value for key, value in content.items() if value}},
    }


def asked(name: str = "chat") -> Json:
    """V8 under the name that a planner gives to it, for a WeightRollout of `rollout`."""
    weights = Weights(version="v8", uri=URI_V8)
    return {**V8, "revision": revision_name(name, weights)}
