"""Which container of a pod is the engine, how vLLM is started in it, and how the agent reaches it."""

import json
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from weightrollout.api.addresses import is_loopback
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject import commands, frontends, sidecar
from weightrollout.cli.inject.report import Json, Options, Reason, Refused
from weightrollout.handover.records import BACKEND

TRANSFER_CONFIG: Final = json.dumps({"backend": BACKEND})

#: Of vLLM's --ssl-cert-reqs, as Python's ssl numbers it: no call without a client's certificate.
CERTIFICATE_REQUIRED: Final = str(int(ssl.CERT_REQUIRED))

VARIABLE: Final = re.compile(r"\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
#: Flags whose engines the agent's preflight refuses, by name.
REFUSED_LATER: Final = ("--enable-eplb", "--kv-transfer-config")


class Form(Enum):
    """How the command line is written, and so where flags can be added."""

    ARGS = auto()  # at the end of args
    SCRIPT = auto()  # nowhere: inside a shell script


@dataclass(frozen=True, slots=True)
class Start:
    form: Form
    flags: Mapping[str, str]  # "--name" with dashes -> value, "" without one
    missing: tuple[str, ...]  # flags to add, one word each
    assumed: str = ""  # what was taken for granted about it


@dataclass(frozen=True, slots=True)
class Access:
    """How the agent reaches the engine; `variables`: names of environment entries in it."""

    http: str  # base URL
    grpc: str  # HOST:PORT
    loopback: bool  # the engine itself listens on loopback only
    variables: tuple[str, ...]
    asks_who_calls: bool = False  # no connection without a client certificate
    sidecar: str = ""  # base URL of Dynamo's, where the agent goes by it
    sidecar_open: bool = False  # to neighbours

    @property
    def closed(self) -> bool:
        """The kubelet, like any neighbour, gets no answer from the engine."""
        return self.loopback or self.asks_who_calls


def choose(containers: Sequence[Json], wanted: str | None) -> Json | None:
    """The engine among a pod's containers; None where there is none. Raises Refused for several."""
    if wanted is not None:
        return next((each for each in containers if each.get("name") == wanted), None)
    found = [each for each in containers if says_vllm(each)]
    if len(found) > 1:
        named = ", ".join(str(each.get("name")) for each in found)
        raise Refused(
            Reason.SEVERAL_ENGINES,
            f"several containers look like vLLM: {named}",
            "name the engine: --container NAME",
        )
    return found[0] if found else None


def says_vllm(container: Json) -> bool:
    if sidecar.is_sidecar(container):
        return False  # Dynamo's has vLLM in its name, and is none
    image = commands.image_name(container)
    return "vllm" in image or commands.runs_vllm(commands.words(container))


def start_of(
    container: Json, protocol: EngineProtocol = EngineProtocol.GRPC, *, trained: bool = False
) -> Start:
    """Raises Refused for a start that cannot work with this release."""
    name = container.get("name")
    command, args = commands.listed(container, "command"), commands.listed(container, "args")
    if not command and not args:
        raise Refused(
            Reason.NO_ARGUMENTS,
            f"container {name} has neither command nor args, and flags given here would replace"
            " those of its image",
            "write the engine's arguments out, such as args: [--model=/models/chat]",
        )
    words = commands.words(container)
    flags = commands.flags(words)
    frontends.check(f"container {name}", words, flags, protocol)
    if flags.get("--nnodes", "1") != "1":
        raise Refused(
            Reason.MULTI_POD_ENGINE, f"container {name} is one of {flags['--nnodes']} nodes"
        )
    if not trained:
        _check_backend(name, flags)
    script = commands.script([str(each) for each in command + args])
    missing = frontends.missing(words, flags, protocol)
    if _backend(flags) is None:
        missing.append(f"--weight-transfer-config={TRANSFER_CONFIG}")
    form = Form.ARGS if script is None else Form.SCRIPT
    return Start(form, flags, tuple(missing), _assumed(command, words))


def _assumed(command: Sequence[object], words: Sequence[str]) -> str:
    if commands.runs_vllm(words):
        return ""
    if command:
        return f"that {command[0]} hands its arguments to vllm serve"
    return "that the entry point of its image is vllm serve"


def _check_backend(name: object, flags: Mapping[str, str]) -> None:
    backend = _backend(flags)
    if backend not in (None, BACKEND):
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"container {name} transfers weights by {backend!r}: only one backend can be loaded",
            "take --weight-transfer-config out",
        )


def foreign_backend(start: Start) -> str:
    """Weights come to this engine by it, and so never by the operator; "" for ours."""
    backend = _backend(start.flags)
    return backend if backend not in (None, BACKEND) else ""


def _backend(flags: Mapping[str, str]) -> str | None:
    """Of weight transfer, as far as it can be read; None where none is named."""
    if "--weight-transfer-config.backend" in flags:
        return flags["--weight-transfer-config.backend"]
    text = flags.get("--weight-transfer-config")
    if text is None:
        return None
    try:
        config = json.loads(text)
    except ValueError:
        return text
    return str(config.get("backend", "nccl")) if isinstance(config, dict) else text


def access_of(start: Start, spec: Json, options: Options) -> Access:
    """`spec`: of the pod. Raises Refused."""
    tls = any(each.startswith("--engine-ca") for each in options.agent_args)
    flags = start.flags
    serves_tls = any(flag.startswith("--ssl-") for flag in flags)
    if serves_tls and not tls:
        raise Refused(
            Reason.ENGINE_OVER_TLS,
            "the engine serves TLS, and it is not known whom the agent should trust",
            "--agent-arg=--engine-ca=FILE and --agent-mount VOLUME:FOLDER for a volume that holds it",
        )
    host = flags.get("--host", "")
    reached = "127.0.0.1" if host in commands.ANY_ADDRESS or host == "localhost" else host
    if ":" in reached and not reached.startswith("["):
        reached = f"[{reached}]"
    http = f"{'https' if serves_tls else 'http'}://{reached}:{flags.get('--port', frontends.DEFAULT_PORT)}"
    grpc = f"{reached}:{flags.get('--grpc-port', frontends.DEFAULT_GRPC_PORT)}"
    asks = flags.get("--ssl-cert-reqs") == CERTIFICATE_REQUIRED
    if options.protocol is not EngineProtocol.DYNAMO:
        return Access(http, grpc, is_loopback(host), variables(http + grpc), asks)
    beside = sidecar.find(spec)
    url = sidecar.url_of(beside, grpc, options)
    wanted = variables(http + grpc + url)
    return Access(http, grpc, is_loopback(host), wanted, asks, url, sidecar.is_open(beside))


def variables(text: str) -> tuple[str, ...]:
    """The names that Kubernetes would replace in it: $(NAME)."""
    return tuple(dict.fromkeys(VARIABLE.findall(text)))
