"""What the agent's protocol asks of a pod beside the engine's start: the guard's token over HTTP, Dynamo's sidecar."""

from typing import Final

from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.bearer import SHORTEST
from weightrollout.cli.inject import sidecar
from weightrollout.cli.inject.engine import Access, Start
from weightrollout.cli.inject.report import Json, Options, Reason, Refused, Report

TOKEN_OPTION: Final = "--engine-token-secret"


def check(options: Options, spec: Json) -> None:
    """`spec`: of the pod. Raises Refused where the options contradict one another, or what is in the pod."""
    over_http = options.protocol is EngineProtocol.HTTP
    if over_http and options.engine_token is None:
        raise Refused(
            Reason.TOKEN_MISSING,
            "--engine-protocol=http: the RL routes are shut to whoever has no token, and no Secret with one is"
            " named",
            'kubectl create secret generic engines --from-literal=token="$(openssl rand -hex 32)", and'
            f" {TOKEN_OPTION} engines",
        )
    for option, given, protocol in (
        (TOKEN_OPTION, options.engine_token is not None, EngineProtocol.HTTP),
        (sidecar.OPTION, bool(options.sidecar), EngineProtocol.DYNAMO),
    ):
        if given and options.protocol is not protocol:
            raise Refused(
                Reason.FLAG_CONFLICT,
                f"{option} beside --engine-protocol={options.protocol}, which has no use for it",
                f"--engine-protocol={protocol}, or leave it out",
            )
    beside = sidecar.find(spec)
    if over_http and beside is not None:
        raise Refused(
            Reason.FLAG_CONFLICT,
            f"container {beside.get('name')} is Dynamo's sidecar, which reaches its engine by gRPC alone, and"
            " --engine-protocol=http leaves the engine without",
            "--engine-protocol=dynamo",
        )


def volumes(options: Options) -> list[Json]:
    if options.engine_token is None:
        return []
    secret, key = options.engine_token
    items = [{"key": key, "path": names.GUARD_TOKEN}]
    return [{"name": names.VOLUME_GUARD, "secret": {"secretName": secret, "items": items}}]


def mounts(options: Options) -> list[Json]:
    """In the engine, whose guard asks for the token, and in the agent, which shows it."""
    return [
        {"name": each["name"], "mountPath": names.MOUNT_GUARD, "readOnly": True}
        for each in volumes(options)
    ]


def arguments(options: Options, access: Access) -> list[str]:
    """By which the agent reaches its engine."""
    http = f"--engine-http={access.http}"
    said = f"--engine-protocol={options.protocol}"
    match options.protocol:
        case EngineProtocol.GRPC:
            return [f"--engine-grpc={access.grpc}", http]
        case EngineProtocol.HTTP:
            token = f"{names.MOUNT_GUARD}/{names.GUARD_TOKEN}"
            return [http, said, f"--engine-token-file={token}"]
        case EngineProtocol.DYNAMO:
            return [
                f"--engine-grpc={access.grpc}",
                http,
                said,
                f"--engine-sidecar={access.sidecar}",
            ]


def report(said: Report, spec: Json, start: Start, access: Access, options: Options) -> None:
    """`spec`: of the pod."""
    beside = sidecar.find(spec)
    match options.protocol:
        case EngineProtocol.GRPC:
            if beside is not None:
                said.could_not_know(
                    Reason.SIDECAR_BYPASSED,
                    f"container {beside.get('name')} is Dynamo's sidecar, which does not hear of a swap and goes on"
                    " routing requests to the paused engine",
                    "--engine-protocol=dynamo",
                )
        case EngineProtocol.HTTP:
            _report_token(said, start, options)
        case EngineProtocol.DYNAMO:
            said.changed.append(f"the agent calls Dynamo's sidecar at {access.sidecar}")
            if beside is None:
                said.could_not_know(
                    Reason.SIDECAR_UNSEEN,
                    f"no container looks like Dynamo's sidecar: {options.sidecar} is taken for it",
                    f"write its command ({sidecar.PROGRAM}) into its container",
                )


def _report_token(said: Report, start: Start, options: Options) -> None:
    assert options.engine_token is not None
    secret, key = options.engine_token
    said.changed.append(f"token of Secret {secret} (key {key}) in engine and agent")
    said.could_not_know(
        Reason.TOKEN_UNSEEN,
        f"the token in Secret {secret} was not seen: one of less than {SHORTEST} bytes lets nobody in, the"
        " agent neither",
    )
    count = start.flags.get("--api-server-count", "1")
    if count != "1":
        said.could_not_know(
            Reason.ANSWERS_UNNAMED,
            f"--api-server-count {count}: each frontend sees a part of the calls, so answers do not name the"
            " weights that gave them",
            "take it out, where that is wanted",
        )
