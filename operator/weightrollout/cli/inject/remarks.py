"""What a person should know beside the changes: what could not be seen, and what this release does not do."""

from weightrollout.api import names
from weightrollout.api.protocol import EngineProtocol
from weightrollout.cli.inject import doors, ours, sidecar, sizes
from weightrollout.cli.inject.engine import REFUSED_LATER, Start
from weightrollout.cli.inject.ours import Place
from weightrollout.cli.inject.report import Json, Reason, Report, Staging


def add(report: Report, container: Json, start: Start, place: Place) -> None:
    _about_this_release(report, container, place)
    _about_the_engine(report, container, start, place.options.agent_args)
    _about_staging(report, place)
    if ours.is_host_path(place.options.node_volume):
        _about_the_host_path(report, place.options.node_volume)


def add_lost(report: Report, lost: list[str]) -> None:
    """`lost`: what of an older injection was not there any more."""
    if lost:
        report.could_not_know(
            Reason.TAKEN_BACK_IN_PART,
            f"not found, and so not taken back: {', '.join(lost)}",
            "look for what is left of it under another name, such as that of a renamed container",
        )


def _about_this_release(report: Report, container: Json, place: Place) -> None:
    if place.access.loopback and place.options.protocol is not EngineProtocol.DYNAMO:
        report.could_not_know(
            Reason.ENGINE_ON_LOOPBACK,
            "the engine listens on loopback only: its control port is closed, its clients are, too",
            "a proxy in the pod in front of its HTTP port (docs/examples/loopback-haproxy.yaml); inject"
            " brings none",
        )
    ports = _open_ports(place)
    if ports:
        _about_the_control_port(report, place, ports)
    for name in doors.RELAYED:
        if doors.is_left(container, name, place.access):
            report.could_not_know(
                Reason.PROBE_LEFT,
                f"{name} ({doors.probe_text(container[name])}) goes on asking the engine",
            )


def _about_the_host_path(report: Report, path: str) -> None:
    report.could_not_know(
        Reason.HOST_PATH,
        f"{path} must be there on every node and be writable for the agent's user; namespaces with the Pod"
        " Security profiles baseline and restricted refuse hostPath",
        "a claim instead: --node-volume CLAIM (docs/howto/node-volume.md)",
    )


def _open_ports(place: Place) -> list[str]:
    """By which a neighbour controls the engine. Over HTTP there is the guard, which the agent tries."""
    access, protocol = place.access, place.options.protocol
    ports = []
    if not access.closed and protocol is not EngineProtocol.HTTP:
        ports.append(access.grpc.rpartition(":")[2])
    if access.sidecar_open:
        ports.append(str(sidecar.port_of(access.sidecar)))
    return ports


def _about_the_control_port(report: Report, place: Place, ports: list[str]) -> None:
    open_to = f"whoever reaches port {' or '.join(ports)} of the pod owns the engine"
    if place.options.acknowledge_exposed:
        report.could_not_know(
            Reason.CONTROL_PORT_EXPOSED,
            f"{open_to}, and who does is not known here: this was acknowledged",
            "a NetworkPolicy that leaves only its HTTP port open",
        )
        return
    report.could_not_know(
        Reason.CONTROL_PORT_EXPOSED,
        f"{open_to}: its agent will see that and refuse every swap",
        f"{_ways_to_close(place)}, or a NetworkPolicy and {ours.ACKNOWLEDGE} (docs/security.md)",
    )


def _ways_to_close(place: Place) -> str:
    ways = "--host=127.0.0.1 and a proxy in the pod, or --ssl-* with --ssl-cert-reqs=2"
    if not place.access.sidecar_open:
        return ways
    alone = f"env {sidecar.HOST}=127.0.0.1 for Dynamo's sidecar"
    return alone if place.access.closed else f"{ways}; and {alone}"


def _about_the_engine(
    report: Report, container: Json, start: Start, agent_args: tuple[str, ...]
) -> None:
    if start.assumed:
        report.could_not_know(
            Reason.ENTRY_POINT_ASSUMED,
            f"it was assumed {start.assumed}",
            "write command: [vllm, serve]",
        )
    if "--config" in start.flags:
        report.could_not_know(
            Reason.CONFIG_FILE_UNSEEN,
            f"{start.flags['--config']} was not seen: host, port and gRPC port are taken to be in the"
            " arguments",
            "write --host, --port and --grpc-port into args",
        )
    asks = "--api-key" in start.flags or any(
        each.get("name") == "VLLM_API_KEY" for each in container.get("env") or []
    )
    if asks and not any(each.startswith("--engine-api-key-file") for each in agent_args):
        report.could_not_know(
            Reason.API_KEY,
            "the engine asks for a key that the agent has not: verify.prompts would be refused",
            "--agent-arg=--engine-api-key-file=FILE and --agent-mount VOLUME:FOLDER",
        )
    for flag in REFUSED_LATER:
        if flag in start.flags:
            report.could_not_know(
                Reason.WILL_BE_REFUSED, f"{flag}: swaps of such an engine are refused by name"
            )


def _about_staging(report: Report, place: Place) -> None:
    options = place.options
    seen = [str(each["mountPath"]) for each in place.mounts]
    if options.folder:
        unseen = not any(ours.holds(each, options.folder) for each in seen)
    else:
        unseen = not (seen or options.remote)
    if unseen:
        report.could_not_know(
            Reason.CHECKPOINT_NOT_MOUNTED,
            "the agent must see the folder of spec.weights.uri, and mounts none"
            if not options.folder
            else f"the engine mounts nothing that holds {options.folder}, so the agent does not either",
            "--uri file:///FOLDER/ that the engine mounts, or --agent-mount VOLUME:FOLDER",
        )
    if options.checkpoint_bytes is None:
        report.could_not_know(
            Reason.SIZE_UNKNOWN,
            "the size of a version is not known: staging has no limit, and no node is chosen by it",
            "--bytes SIZE or --uri FOLDER",
        )
        return
    what = "memory of the agent" if options.staging is Staging.MEMORY else "the node's disk"
    report.could_not_know(
        Reason.SIZE_ESTIMATED,
        f"{sizes.IMAGES} times {sizes.write(options.checkpoint_bytes)} of {what} were reckoned with; ranks"
        " that hold the same tensors have a copy each, which takes more",
        f"a larger --bytes, where staging reports that {names.VOLUME_STAGING} is too small",
    )
