"""Which container of a pod is the engine, how vLLM is started in it, and how the agent reaches it."""

import json
import re
import shlex
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from weightrollout.api.addresses import is_loopback
from weightrollout.cli.inject.report import Json, Reason, Refused
from weightrollout.handover.records import BACKEND

DEFAULT_PORT: Final = "8000"
#: vLLM has no default; its documentation uses this one.
DEFAULT_GRPC_PORT: Final = "50051"
TRANSFER_CONFIG: Final = json.dumps({"backend": BACKEND})
#: In the environment: only vLLM's Rust frontend serves vllm.Control.
RUST_FRONTEND: Final = "VLLM_USE_RUST_FRONTEND"

#: Of vLLM's --ssl-cert-reqs, as Python's ssl numbers it: no call without a client's certificate.
CERTIFICATE_REQUIRED: Final = str(int(ssl.CERT_REQUIRED))

SHELLS: Final = ("sh", "bash", "ash", "dash", "zsh")
VARIABLE: Final = re.compile(r"\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
ANY_ADDRESS: Final = ("", "0.0.0.0", "::", "[::]")

#: Flags with which vLLM does not serve vllm.Control beside HTTP, or not where an agent could ask it.
IMPOSSIBLE: Final = {
    "--headless": "an engine without a frontend",
    "--grpc": "a gRPC server instead of HTTP, without weight control",
    "--data-parallel-multi-port-external-lb": "vLLM serves no gRPC with it",
    "--uds": "the agent reaches HTTP over TCP only",
}
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
    assumed: str = ""  # what was taken for granted about it


@dataclass(frozen=True, slots=True)
class Access:
    """How the agent reaches the engine; `variables`: names of environment entries in it."""

    http: str  # base URL
    grpc: str  # HOST:PORT
    loopback: bool  # the engine itself listens on loopback only
    variables: tuple[str, ...]
    asks_who_calls: bool = False  # no connection without a client certificate

    @property
    def closed(self) -> bool:
        """The kubelet, like any neighbour, gets no answer from the engine."""
        return self.loopback or self.asks_who_calls


def choose(containers: Sequence[Json], wanted: str | None) -> Json | None:
    """The engine among a pod's containers; None where there is none. Raises Refused for several."""
    if wanted is not None:
        return next((each for each in containers if each.get("name") == wanted), None)
    found = [each for each in containers if _says_vllm(each)]
    if len(found) > 1:
        named = ", ".join(str(each.get("name")) for each in found)
        raise Refused(
            Reason.SEVERAL_ENGINES,
            f"several containers look like vLLM: {named}",
            "name the engine: --container NAME",
        )
    return found[0] if found else None


def _says_vllm(container: Json) -> bool:
    image = re.sub(r"[:@].*$", "", str(container.get("image") or "").rpartition("/")[2])
    return "vllm" in image.lower() or _runs_vllm(_words(container))


def _runs_vllm(words: Sequence[str]) -> bool:
    return any(
        word.rpartition("/")[2] in ("vllm", "vllm-rs") or word.startswith("vllm.entrypoints")
        for word in words
    )


def _words(container: Json) -> list[str]:
    """Command and args, a shell's script in its own words."""
    words = [str(each) for each in _listed(container, "command") + _listed(container, "args")]
    script = _script(words)
    if script is None:
        return words
    try:
        return shlex.split(script)
    except ValueError:
        return script.split()


def _script(words: Sequence[str]) -> str | None:
    """What a shell is told by -c; None where no shell is before vLLM itself."""
    for index, word in enumerate(words):
        if _runs_vllm([word]):
            return None
        if word.rpartition("/")[2] in SHELLS:
            for flag, script in zip(words[index + 1 :], words[index + 2 :], strict=False):
                if re.fullmatch(r"-[a-z]*c", flag):
                    return script
            return " ".join(words[index + 1 :])  # a shell that runs a file
    return None


def _listed(container: Json, key: str) -> list[object]:
    found = container.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise Refused(Reason.MALFORMED, f"{key} of container {container.get('name')} is no list")
    return found


def start_of(container: Json, *, trained: bool = False) -> Start:
    """Raises Refused for a start that cannot work with this release."""
    name = container.get("name")
    command, args = _listed(container, "command"), _listed(container, "args")
    if not command and not args:
        raise Refused(
            Reason.NO_ARGUMENTS,
            f"container {name} has neither command nor args, and flags given here would replace"
            " those of its image",
            "write the engine's arguments out, such as args: [--model=/models/chat]",
        )
    words = _words(container)
    if "vllm.entrypoints.openai.api_server" in words:
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"container {name} runs vllm.entrypoints.openai.api_server, which serves no gRPC",
            "start it with: vllm serve",
        )
    flags = _flags(words)
    for flag, why in IMPOSSIBLE.items():
        if flag in flags:
            raise Refused(Reason.FLAG_CONFLICT, f"container {name} has {flag}: {why}")
    if flags.get("--nnodes", "1") != "1":
        raise Refused(
            Reason.MULTI_POD_ENGINE, f"container {name} is one of {flags['--nnodes']} nodes"
        )
    if flags.get("--api-server-count", "1") != "1":
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"container {name} has --api-server-count {flags['--api-server-count']}: the frontend that"
            " serves gRPC is one",
            "take it out",
        )
    grpc_port = flags.get("--grpc-port", DEFAULT_GRPC_PORT)
    if grpc_port in ("0", flags.get("--port", DEFAULT_PORT)):
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"the gRPC port of container {name} would be {grpc_port}: it must be a port of its own",
            "--grpc-port=PORT, another one than --port",
        )
    if not trained:
        _check_backend(name, flags)
    script = _script([str(each) for each in command + args])
    return Start(Form.ARGS if script is None else Form.SCRIPT, flags, _assumed(command, words))


def _assumed(command: Sequence[object], words: Sequence[str]) -> str:
    if _runs_vllm(words):
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


def _flags(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for index, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, equals, value = word.partition("=")
        following = words[index + 1] if index + 1 < len(words) else "--"
        if not equals and not following.startswith("--"):
            value = following
        found[name.replace("_", "-")] = value
    return found


def missing_flags(start: Start) -> list[str]:
    """One word each, so that no value is taken for something else."""
    missing = []
    if "--grpc-port" not in start.flags:
        missing.append(f"--grpc-port={DEFAULT_GRPC_PORT}")
    if _backend(start.flags) is None:
        missing.append(f"--weight-transfer-config={TRANSFER_CONFIG}")
    return missing


def access_of(start: Start, *, tls: bool) -> Access:
    """`tls`: the agent was told how to check the engine's certificate."""
    flags = start.flags
    serves_tls = any(flag.startswith("--ssl-") for flag in flags)
    if serves_tls and not tls:
        raise Refused(
            Reason.ENGINE_OVER_TLS,
            "the engine serves TLS, and it is not known whom the agent should trust",
            "--agent-arg=--engine-ca=FILE and --agent-mount VOLUME:FOLDER for a volume that holds it",
        )
    host = flags.get("--host", "")
    reached = "127.0.0.1" if host in ANY_ADDRESS or host == "localhost" else host
    if ":" in reached and not reached.startswith("["):
        reached = f"[{reached}]"
    http = f"{'https' if serves_tls else 'http'}://{reached}:{flags.get('--port', DEFAULT_PORT)}"
    grpc = f"{reached}:{flags.get('--grpc-port', DEFAULT_GRPC_PORT)}"
    asks = flags.get("--ssl-cert-reqs") == CERTIFICATE_REQUIRED
    return Access(http, grpc, is_loopback(host), variables(http + grpc), asks)


def variables(text: str) -> tuple[str, ...]:
    """The names that Kubernetes would replace in it: $(NAME)."""
    return tuple(dict.fromkeys(VARIABLE.findall(text)))
