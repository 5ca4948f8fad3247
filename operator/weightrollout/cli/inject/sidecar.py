"""NVIDIA Dynamo's sidecar among a pod's containers: where it listens, and whether an agent can ask it.

Program, flags and variables as in lib/sidecar of ai-dynamo/dynamo (README of lib/sidecar/vllm).
"""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from weightrollout.api.addresses import is_loopback
from weightrollout.cli.inject import commands
from weightrollout.cli.inject.report import Json, Options, Reason, Refused

PROGRAM: Final = "dynamo-vllm-sidecar"
#: The same from Dynamo's wheel: python -m.
MODULE: Final = "dynamo.vllm.sidecar"
#: Of its system server, which has the routes; without the variable there is none.
PORT: Final = "DYN_SYSTEM_PORT"
HOST: Final = "DYN_SYSTEM_HOST"
ENABLE: Final = "--enable-rl"
ENABLED: Final = "DYN_ENABLE_RL"
#: Where it calls its engine, newest name first.
ENDPOINTS: Final = ("--grpc-endpoint", "--vllm-endpoint")
ENDPOINT_VARIABLES: Final = ("DYN_SIDECAR_GRPC_ENDPOINT", "VLLM_GRPC_ENDPOINT")
OPTION: Final = "--engine-sidecar"


def is_sidecar(container: Json) -> bool:
    words = commands.words(container)
    program = any(word.rpartition("/")[2] == PROGRAM for word in words)
    return program or MODULE in words or PROGRAM in commands.image_name(container)


def find(spec: Json) -> Json | None:
    """Of a pod."""
    return next((each for each in _containers(spec) if is_sidecar(each)), None)


def url_of(found: Json | None, grpc: str, options: Options) -> str:
    """Where the agent calls it. `grpc`: HOST:PORT of the engine's. Raises Refused."""
    if found is None:
        if options.sidecar:
            return options.sidecar  # behind an image of their own
        raise Refused(
            Reason.NO_SIDECAR,
            f"no container of the pod is Dynamo's sidecar ({PROGRAM}, or python -m {MODULE})",
            f"add its container; where it is behind another name: {OPTION} http://HOST:PORT; without"
            " Dynamo leave --engine-protocol=dynamo out",
        )
    who = f"container {found.get('name')}"
    flags = commands.flags(commands.words(found))
    if ENABLE not in flags and str(_value(found, ENABLED)).lower() not in ("true", "1"):
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"{who} is Dynamo's sidecar without {ENABLE}: it has no routes to pause an engine by",
            f"{ENABLE} in its args",
        )
    _check_endpoint(who, found, flags, grpc)
    if options.sidecar:
        return options.sidecar
    port = _value(found, PORT)
    if not port.isdecimal() or port == "0":
        raise Refused(
            Reason.ENVIRONMENT_CONFLICT,
            f"env {PORT} of {who} is {port or 'not there'!r}: where Dynamo's sidecar has its routes is not"
            " known",
            f"a port there, such as 9090, or {OPTION} http://HOST:PORT",
        )
    return f"http://{_host(found)}:{port}"


def is_open(found: Json | None) -> bool:
    """To neighbours of the pod, as far as can be seen."""
    return found is not None and not is_loopback(_value(found, HOST))


def port_of(url: str) -> int:
    return urlsplit(url).port or 80


def _host(found: Json) -> str:
    host = _value(found, HOST)
    reached = "127.0.0.1" if host in commands.ANY_ADDRESS else host
    return f"[{reached}]" if ":" in reached and not reached.startswith("[") else reached


def _check_endpoint(who: str, found: Json, flags: dict[str, str], grpc: str) -> None:
    said = [flags.get(flag, "") for flag in ENDPOINTS]
    said += [_value(found, name) for name in ENDPOINT_VARIABLES]
    endpoint = next((each for each in said if each), "")
    theirs, ours = endpoint.rstrip("/").rpartition(":")[2], grpc.rpartition(":")[2]
    if theirs.isdecimal() and ours.isdecimal() and theirs != ours:
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"{who} calls its engine at {endpoint}, and the engine serves gRPC at port {ours}",
            f"--grpc-port={theirs} in the engine's args",
        )


def _value(container: Json, name: str) -> str:
    """Of a variable; "" where it is not there or taken from elsewhere."""
    entries = [each for each in container.get("env") or [] if each.get("name") == name]
    return str(entries[-1].get("value") or "") if entries else ""


def _containers(spec: Json) -> Iterator[Json]:
    for key in ("containers", "initContainers"):
        yield from (each for each in spec.get(key) or [] if isinstance(each, dict))
