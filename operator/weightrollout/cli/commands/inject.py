"""`kubectl weightrollout inject`: a workload with a vLLM container becomes one that can be given new weights."""

import re
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from weightrollout.api.guard import Guard
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.exits import Exit
from weightrollout.cli.inject import documents, protocols, sidecar, signatures, sizes
from weightrollout.cli.inject.pod import SUBDOMAIN
from weightrollout.cli.inject.report import (
    Options,
    Reason,
    Refused,
    Report,
    Staging,
)
from weightrollout.cli.inject.workloads import inject_all, take_back_all
from weightrollout.weights.digest import FolderError
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.sources import folder, never, opened

STDIN: Final = "-"
#: Of a Secret or ConfigMap; and the one that is usual for a token.
KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
TOKEN: Final = "token"
#: A name of Kubernetes.
BASE_URL: Final = re.compile(r"http://[^/\s@?#]+:\d+/?")
CLAIM: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


def inject(
    filename: Annotated[
        str, typer.Option("--filename", "-f", help="YAML file, or - for stdin.", metavar="FILE")
    ],
    agent_image: Annotated[
        str | None,
        typer.Option(
            envvar="WEIGHTROLLOUT_AGENT_IMAGE",
            help="Image of agent and plugin. Required but with --uninject.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="WeightRollout to join. Default: the label, or the workload's name."),
    ] = None,
    container: Annotated[
        str | None, typer.Option(help="The engine. Default: the only one that looks like vLLM.")
    ] = None,
    staging: Annotated[Staging, typer.Option(help="Where new weights wait.")] = Staging.DISK,
    size: Annotated[
        str | None,
        typer.Option("--bytes", help="Size of one version, such as 16Gi.", metavar="SIZE"),
    ] = None,
    uri: Annotated[
        str | None,
        typer.Option(
            help="Folder of a version, or its file:/// URI. Its size is taken where it can be read"
            " here; the agent gets the engine's volume that holds a URI's folder."
        ),
    ] = None,
    gate: Annotated[
        bool, typer.Option("--gate", help="Add the readiness gate, for an immediate take-out.")
    ] = False,
    operator_account: Annotated[
        str | None,
        typer.Option(
            help="Who may call the agent. Default: the chart's account in the pod's namespace.",
            metavar="system:serviceaccount:NAMESPACE:NAME",
        ),
    ] = None,
    agent_arg: Annotated[
        list[str] | None, typer.Option(help="One more argument of the agent. Repeatable.")
    ] = None,
    agent_mount: Annotated[
        list[str] | None,
        typer.Option(
            help="Volume of the pod that the agent reads, too. Repeatable.", metavar="VOLUME:PATH"
        ),
    ] = None,
    node_volume: Annotated[
        str | None,
        typer.Option(
            help="What the pods of a node share, so that a source is read once: a claim, or a folder of"
            " the node.",
            metavar="CLAIM|/PATH",
        ),
    ] = None,
    agent_secret: Annotated[
        list[str] | None,
        typer.Option(
            help="Secret whose keys are variables of the agent, for the store it reads. Repeatable.",
            metavar="NAME",
        ),
    ] = None,
    acknowledge: Annotated[
        bool,
        typer.Option(
            "--acknowledge-exposed-control-port",
            help="Swap although the engine's control port is open: something else keeps strangers away.",
        ),
    ] = False,
    engine_protocol: Annotated[
        EngineProtocol,
        typer.Option(
            help="grpc: vLLM's Rust frontend; http: its Python frontend behind a guard; dynamo: NVIDIA Dynamo's"
            " sidecar in the pod."
        ),
    ] = EngineProtocol.GRPC,
    engine_token_secret: Annotated[
        str | None,
        typer.Option(
            help="http: Secret with the token that the guard asks the agent for (key: token).",
            metavar="NAME[:KEY]",
        ),
    ] = None,
    engine_sidecar: Annotated[
        str,
        typer.Option(
            help="dynamo: base URL of the sidecar. Default: as its container says.",
            metavar="http://HOST:PORT",
        ),
    ] = "",
    trainer_token_secret: Annotated[
        str | None,
        typer.Option(
            help="Open the RL routes for trainers, to whoever brings the token in this Secret (key: token).",
            metavar="NAME[:KEY]",
        ),
    ] = None,
    trainer_guard: Annotated[
        Guard,
        typer.Option(help="strict: an update needs a pause; auto-pause: brings one; off: as vLLM."),
    ] = Guard.STRICT,
    trainer_drives: Annotated[
        bool,
        typer.Option(
            "--trainer-drives",
            help="For a fleet whose spec.driver is Trainer: base weights are out of service from the first second on.",
        ),
    ] = False,
    agent_tls_secret: Annotated[
        str,
        typer.Option(
            help="Secret with tls.crt and tls.key that the agent shows. Default: one of its own making.",
            metavar="NAME",
        ),
    ] = "",
    sigstore_trusted_root: Annotated[
        str | None,
        typer.Option(
            help="ConfigMap with Sigstore's trusted root, for weights signed without a key (key:"
            " trusted_root.json).",
            metavar="NAME[:KEY]",
        ),
    ] = None,
    uninject: Annotated[bool, typer.Option("--uninject", help="Take it back.")] = False,
) -> None:
    """Put the agent and the engine plugin into a workload, and print the result.

    Deployment, StatefulSet, DaemonSet, ReplicaSet, LeaderWorkerSet of size 1 and Pod; several documents and Lists, too. What it
    changed and what it could not know goes to stderr. Injecting twice is injecting once. No cluster is asked.

    \b
    Examples:
      export WEIGHTROLLOUT_AGENT_IMAGE=REGISTRY/weightrollout-agent:TAG
      kubectl weightrollout inject -f deployment.yaml --bytes 16Gi > injected.yaml
      kubectl get deployment chat -o yaml | kubectl weightrollout inject -f - | kubectl apply -f -
      kubectl weightrollout inject -f injected.yaml --uninject

    \b
    Exit codes:
      0    printed
      2    wrong usage, or refused: nothing is printed on stdout, and the reason says what to do
      130  interrupted
    """
    try:
        text = _text(filename)
        objects = documents.read(text)
        if uninject:
            result = take_back_all(objects)
        else:
            options = Options(
                agent_image=_required(agent_image),
                name=name,
                container=container,
                staging=staging,
                checkpoint_bytes=_bytes(size, uri),
                folder=(place := _folder_in_pods(uri)) or "",
                remote=place is None,
                gate=gate,
                operator_account=operator_account,
                agent_args=tuple(agent_arg or ()),
                agent_mounts=tuple(_mount(each) for each in agent_mount or ()),
                agent_secrets=tuple(agent_secret or ()),
                acknowledge_exposed=acknowledge,
                node_volume=_node_volume(node_volume),
                trainer_token=_keyed("--trainer-token-secret", trainer_token_secret, TOKEN),
                trainer_guard=trainer_guard,
                trainer_drives=trainer_drives,
                tls_secret=_named("--agent-tls-secret", agent_tls_secret),
                protocol=engine_protocol,
                engine_token=_keyed(protocols.TOKEN_OPTION, engine_token_secret, TOKEN),
                sidecar=_base_url(engine_sidecar),
                trusted_root=_keyed(signatures.OPTION, sigstore_trusted_root, signatures.FILE),
            )
            result = inject_all(objects, options)
    except Refused as refused:
        _refuse(refused)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.INTERRUPTED) from None
    _tell(result.reports, comments=documents.has_comments(text))
    sys.stdout.write(documents.write(result.objects))


def _text(filename: str) -> str:
    try:
        return sys.stdin.read() if filename == STDIN else Path(filename).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(Reason.MALFORMED, f"{filename}: {error}") from error


def _required(image: str | None) -> str:
    if not image:
        raise typer.BadParameter(
            "no agent image is published: build one, and name it here or in"
            " WEIGHTROLLOUT_AGENT_IMAGE",
            param_hint="--agent-image",
        )
    return image


def _bytes(size: str | None, uri: str | None) -> int | None:
    """Of one version: as given, or of the files in the folder that count."""
    if size is not None:
        try:
            return sizes.read(size)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--bytes") from error
    if uri is None:
        return None
    try:
        with closing(
            opened(uri if "://" in uri else Path(uri).absolute().as_uri(), never)
        ) as source:
            return sum(stamp.bytes for stamp in source.stamps().values())
    except (WeightsError, FolderError, OSError) as error:
        raise Refused(
            Reason.SIZE_MISSING,
            f"--uri {uri}: {error}",
            "--bytes SIZE, where it cannot be read here",
        ) from error


def _folder_in_pods(uri: str | None) -> str | None:
    """None: it is in none. Only a URI says where pods see the folder; a path is this machine's: "", not known."""
    if uri is None or "://" not in uri:
        return ""
    try:
        found = folder(uri)
        return None if found is None else str(found)
    except WeightsError as error:
        raise Refused(Reason.SIZE_MISSING, f"--uri {uri}: {error}") from error


def _mount(text: str) -> tuple[str, str]:
    volume, _, path = text.partition(":")
    if not volume or not path.startswith("/"):
        raise typer.BadParameter(f"{text}: write VOLUME:/PATH", param_hint="--agent-mount")
    return volume, path


def _node_volume(text: str | None) -> str:
    if not text:
        return ""
    if not (CLAIM.fullmatch(text) or (text.startswith("/") and "/.." not in text and text != "/")):
        raise typer.BadParameter(
            f"{text}: write the name of a PersistentVolumeClaim, or /PATH",
            param_hint="--node-volume",
        )
    return text


def _keyed(option: str, text: str | None, usual: str) -> tuple[str, str] | None:
    """NAME[:KEY] of a Secret or ConfigMap."""
    if text is None:
        return None
    name, _, key = text.partition(":")
    if not name or not KEY.fullmatch(key or usual):
        raise typer.BadParameter(f"{text}: write NAME or NAME:KEY", param_hint=option)
    return _named(option, name), key or usual


def _named(option: str, name: str) -> str:
    if name and not SUBDOMAIN.fullmatch(name):
        raise typer.BadParameter(f"{name}: no object can have that name", param_hint=option)
    return name


def _base_url(text: str) -> str:
    if text and not BASE_URL.fullmatch(text):
        raise typer.BadParameter(f"{text}: write http://HOST:PORT", param_hint=sidecar.OPTION)
    return text.rstrip("/")


def _tell(reports: list[Report], *, comments: bool) -> None:
    for report in reports:
        for line in report.lines():
            typer.echo(line, err=True)
    if comments:
        typer.echo(f"note: {Reason.COMMENTS_LOST}: comments of the input are not kept", err=True)


def _refuse(refused: Refused) -> NoReturn:
    typer.echo(f"error: {refused.reason}: {refused.message}", err=True)
    if refused.hint:
        typer.echo(f"  -> {refused.hint}", err=True)
    raise typer.Exit(Exit.REFUSED)
