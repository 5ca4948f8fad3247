"""Which of vLLM's frontends an agent's protocol needs: its flags and environment, and what contradicts it.

vllm.Control is served by the Rust frontend alone; a middleware, and so the guard of the RL routes, is known to the Python one
alone (decision 0017).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject.report import Reason, Refused
from weightrollout.handover import files

#: vLLM's own.
DEFAULT_PORT: Final = "8000"
#: vLLM has no default; its documentation uses this one.
DEFAULT_GRPC_PORT: Final = "50051"
#: In the environment: which frontend `vllm serve` starts.
RUST_FRONTEND: Final = "VLLM_USE_RUST_FRONTEND"
#: Without it the RL routes are not there.
DEVELOPMENT: Final = "VLLM_SERVER_DEV_MODE"
RUST_PROGRAM: Final = "vllm-rs"
#: Of vLLM's Python frontend by itself, without `vllm serve`.
API_SERVER: Final = "vllm.entrypoints.openai.api_server"
MIDDLEWARE: Final = f"--middleware={names.GUARD_MIDDLEWARE}"

#: Flags with which no agent reaches the engine's control side.
IMPOSSIBLE: Final = {
    "--headless": "an engine without a frontend",
    "--grpc": "a gRPC server instead of HTTP, without weight control",
    "--uds": "the agent reaches HTTP over TCP only",
}
RANKS: Final = "--data-parallel-multi-port-external-lb"

_OVER_GRPC: Final = {
    **IMPOSSIBLE,
    RANKS: "vLLM serves no gRPC with it",
}
_OVER_HTTP: Final = {
    **IMPOSSIBLE,
    RANKS: "each rank has a port of its own, and the agent calls one",
    "--grpc-port": "it is of vLLM's Rust frontend, which knows no --middleware and so no guard",
}


def environment(protocol: EngineProtocol) -> dict[str, str]:
    """What the engine must have, and nothing else: its image may say otherwise."""
    if protocol is not EngineProtocol.HTTP:
        return {RUST_FRONTEND: "1"}
    return {
        RUST_FRONTEND: "0",
        DEVELOPMENT: "1",
        files.GUARD_TOKEN_VARIABLE: f"{names.MOUNT_GUARD}/{names.GUARD_TOKEN}",
    }


def missing(words: Sequence[str], flags: Mapping[str, str], protocol: EngineProtocol) -> list[str]:
    """Flags that a start lacks; one word each, so that no value is taken for something else."""
    if protocol is not EngineProtocol.HTTP:
        return [] if "--grpc-port" in flags else [f"--grpc-port={DEFAULT_GRPC_PORT}"]
    guarded = names.GUARD_MIDDLEWARE in words or MIDDLEWARE in words
    return [] if guarded else [MIDDLEWARE]


def check(
    who: str, words: Sequence[str], flags: Mapping[str, str], protocol: EngineProtocol
) -> None:
    """`who`: the container. Raises Refused for a start that the protocol cannot work with."""
    if protocol is EngineProtocol.HTTP:
        _check_http(who, words, flags)
    else:
        _check_grpc(who, words, flags)


def _check_http(who: str, words: Sequence[str], flags: Mapping[str, str]) -> None:
    if any(word.rpartition("/")[2] == RUST_PROGRAM for word in words):
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"{who} runs {RUST_PROGRAM}, vLLM's Rust frontend: it knows no --middleware and so no guard",
            "start it with: vllm serve, or leave --engine-protocol=http out",
        )
    for flag, why in _OVER_HTTP.items():
        if flag in flags:
            raise Refused(
                Reason.FLAG_CONFLICT,
                f"{who} has {flag}, and --engine-protocol=http: {why}",
                f"take {flag} out of its arguments"
                + (", or leave --engine-protocol=http out" if flag not in IMPOSSIBLE else ""),
            )


def _check_grpc(who: str, words: Sequence[str], flags: Mapping[str, str]) -> None:
    if API_SERVER in words:
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"{who} runs {API_SERVER}, which serves no gRPC",
            "start it with: vllm serve, or --engine-protocol=http",
        )
    for flag, why in _OVER_GRPC.items():
        if flag in flags:
            raise Refused(Reason.FLAG_CONFLICT, f"{who} has {flag}: {why}")
    if flags.get("--api-server-count", "1") != "1":
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"{who} has --api-server-count {flags['--api-server-count']}: the frontend that"
            " serves gRPC is one",
            "take it out",
        )
    grpc_port = flags.get("--grpc-port", DEFAULT_GRPC_PORT)
    if grpc_port in ("0", flags.get("--port", DEFAULT_PORT)):
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"the gRPC port of {who} would be {grpc_port}: it must be a port of its own",
            "--grpc-port=PORT, another one than --port",
        )
