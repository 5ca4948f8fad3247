"""By which calls an agent drives its engine, in the words of its flag and of inject's."""

from enum import StrEnum


class EngineProtocol(StrEnum):
    """By which calls the engine is paused and given weights."""

    GRPC = "grpc"  # vllm.Control
    HTTP = "http"  # the RL routes of vLLM's Python frontend, at --engine-http
    DYNAMO = "dynamo"  # Dynamo's sidecar at --engine-sidecar, which calls vllm.Control
