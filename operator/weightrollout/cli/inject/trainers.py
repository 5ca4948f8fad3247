"""The trainers' routes of an agent, opened on request: a Secret with their token, a port, and the agent's certificate."""

from typing import Final

from weightrollout.api import names
from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.cli.inject.report import Json, Options, Reason, Report

#: Flags of the agent that these options give it.
TRAINERS: Final = ("--trainer-token-file", "--trainer-bind", "--trainer-guard")
DRIVES: Final = "--trainer-drives"
CERTIFICATE: Final = ("--tls-certificate", "--tls-key")
TOKEN_FILE: Final = "token"


def volumes(options: Options) -> list[Json]:
    """Of the agent alone: the engine sees neither token nor key."""
    found: list[Json] = []
    if options.trainer_token is not None:
        secret, key = options.trainer_token
        items = [{"key": key, "path": TOKEN_FILE}]
        found.append(
            {"name": names.VOLUME_TRAINERS, "secret": {"secretName": secret, "items": items}}
        )
    if options.tls_secret:
        found.append({"name": names.VOLUME_TLS, "secret": {"secretName": options.tls_secret}})
    return found


def mounts(options: Options) -> list[Json]:
    where = {names.VOLUME_TRAINERS: names.MOUNT_TRAINERS, names.VOLUME_TLS: names.MOUNT_TLS}
    return [
        {"name": each["name"], "mountPath": where[each["name"]], "readOnly": True}
        for each in volumes(options)
    ]


def arguments(options: Options, pod_ip: str) -> list[str]:
    found: list[str] = []
    if options.trainer_drives:
        found.append(DRIVES)
    if options.trainer_token is not None:
        found += [
            f"--trainer-token-file={names.MOUNT_TRAINERS}/{TOKEN_FILE}",
            f"--trainer-bind=$({pod_ip}):{names.DEFAULT_TRAINER_PORT}",
            f"--trainer-guard={options.trainer_guard}",
        ]
    if options.tls_secret:
        found += [
            f"--tls-certificate={names.MOUNT_TLS}/tls.crt",
            f"--tls-key={names.MOUNT_TLS}/tls.key",
        ]
    return found


def ports(options: Options) -> list[Json]:
    if options.trainer_token is None:
        return []
    return [{"name": names.PORT_TRAINER, "containerPort": names.DEFAULT_TRAINER_PORT}]


def report(said: Report, options: Options, backend: str) -> None:
    """`backend`: by which weights come to the engine, where it is not ours; "" where it is."""
    if options.tls_secret:
        said.changed.append(f"the agent shows the certificate of Secret {options.tls_secret}")
        said.could_not_know(
            Reason.CERTIFICATE_UNSEEN,
            f"the certificate in Secret {options.tls_secret} was not seen: an operator that has no agents.tls"
            f" reaches the agent only if it is for {AGENT_TLS_NAME}, too",
            f"{AGENT_TLS_NAME} among its DNS names, or agents.tls of the chart with its authority",
        )
    if options.trainer_drives:
        said.changed.append(
            "base weights stay out of service until a trainer, or the durable version of its fleet, replaces"
            " them, or an operator says that spec.driver is Operator"
        )
    if options.trainer_token is None:
        return
    secret, key = options.trainer_token
    port = names.DEFAULT_TRAINER_PORT
    said.changed.append(
        f"RL routes for trainers: port {port} ({names.PORT_TRAINER}), guard"
        f" {options.trainer_guard}, token of Secret {secret} (key {key})"
    )
    said.could_not_know(
        Reason.TRAINER_PORT_OPEN,
        f"whoever reaches port {port} of the pod and has the token drives the engine",
        "a NetworkPolicy that lets in the trainer's pods alone (the chart's"
        " networkPolicy.engines.trainersFrom)",
    )
    own = any(each.startswith("--tls-certificate") for each in options.agent_args)
    if not options.tls_secret and not own:
        said.could_not_know(
            Reason.CERTIFICATE_OF_ITS_OWN,
            "the agent makes its certificate at every start, and no trainer can know it",
            "--agent-tls-secret NAME, with a certificate that the trainer trusts",
        )
    if backend:
        said.could_not_know(
            Reason.WILL_BE_REFUSED,
            f"the engine takes weights by {backend!r}: a trainer can bring them, the operator cannot swap it",
        )
