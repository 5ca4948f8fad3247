"""Builders for what the CLI sees: a WeightRollout as the API server sends it, and pods."""

from typing import Any

from weightrollout.kube.pods import Pod

Json = dict[str, Any]

GENERATION = 3
V7: Json = {"version": "v7", "digest": "sha256:" + "7a" * 32, "revision": "chat-7a7a7a"}
V8: Json = {"version": "v8", "digest": "sha256:" + "8b" * 32, "revision": "chat-8b8b8b"}


def condition(kind: str, status: str, generation: int = GENERATION) -> Json:
    return {"type": kind, "status": status, "reason": kind, "observedGeneration": generation}


def rollout(**status: Any) -> Json:
    """A WeightRollout `chat`; without arguments nobody has written its status."""
    body: Json = {
        "metadata": {"name": "chat", "namespace": "prod", "generation": GENERATION},
        "spec": {"weights": {"version": "v8", "uri": "file:///models/chat/v8/"}},
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
