"""One pod template: every edit of an injection, in order."""

import copy
import re
from collections.abc import Iterator
from typing import Any, Final

from weightrollout.api import names
from weightrollout.cli.inject import (
    doors,
    engine,
    environment,
    ours,
    protocols,
    remarks,
    signatures,
    sizes,
    trainers,
    twice,
)
from weightrollout.cli.inject.edits import Edits, take_back
from weightrollout.cli.inject.engine import Access, Form, Start
from weightrollout.cli.inject.ours import Place
from weightrollout.cli.inject.report import Json, Options, Reason, Refused, Report, Staging

SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
#: Of a mount: what the agent may do with it is not the engine's business.
COPIED: Final = ("name", "mountPath", "subPath", "subPathExpr")
SPEC: Final = ("spec",)
CONTAINERS: Final = (names.AGENT_CONTAINER, names.PLUGIN_CONTAINER)


def inject(
    pod: Json, default_name: str, options: Options, report: Report, claims: tuple[str, ...] = ()
) -> Json | None:
    """A copy of a pod, or of a template of pods, with agent and plugin; None where no engine is in it.

    `claims`: volumes that the workload itself gives its pods. Raises Refused.
    """
    labelled = _mapping(_mapping(pod, "metadata"), "labels").get(names.LABEL_NAME)
    before, lost = take_back(pod)
    remarks.add_lost(report, lost)
    edits = Edits(before)
    spec = edits.get(*SPEC)
    if not isinstance(spec, dict) or not isinstance(spec.get("containers"), list):
        raise Refused(Reason.MALFORMED, "has no containers")
    found = engine.choose(spec["containers"], options.container)
    if found is None:
        return None
    if not isinstance(found.get("name"), str):
        raise Refused(Reason.MALFORMED, "the container that looks like vLLM has no name")
    twice.refuse(options)
    protocols.check(options, spec)
    start = engine.start_of(found, options.protocol, trained=options.trainer_token is not None)
    _refuse_clashes(spec, found, claims, options)
    access = engine.access_of(start, spec, options)
    place = _place(spec, found, access, options)

    report.changed.append(f"engine: container {found['name']}")
    rollout = _join(edits, options, labelled, default_name, report)
    _edit_engine(edits, found, start, place, report)
    _edit_pod(edits, rollout, place, report)
    protocols.report(report, spec, start, access, options)
    signatures.report(report, options)
    trainers.report(report, options, engine.foreign_backend(start))
    remarks.add(report, found, start, place)
    edits.seal()
    return edits.root


def _join(
    edits: Edits, options: Options, labelled: object, default_name: str, report: Report
) -> str:
    """The label that makes the pods members of a fleet; returns the fleet's name."""
    by_owner = edits.get("metadata", "labels", names.LABEL_NAME)
    if by_owner is not None and options.name not in (None, by_owner):
        raise Refused(
            Reason.NAME_DIFFERS,
            f"label {names.LABEL_NAME} says {by_owner}, --name says {options.name}",
            "leave --name out, or change the label",
        )
    rollout = str(options.name or by_owner or labelled or default_name)
    if len(rollout) > names.MAX_NAME_LENGTH or not SUBDOMAIN.fullmatch(rollout):
        raise Refused(
            Reason.NAME_INVALID,
            f"{rollout!r} cannot be the name of a WeightRollout: at most {names.MAX_NAME_LENGTH}"
            " lower case letters, digits, '-' and '.'",
            "--name NAME",
        )
    edits.put(("metadata", "labels", names.LABEL_NAME), rollout)
    report.changed.append(f"label {names.LABEL_NAME}: {rollout} (the WeightRollout to join)")
    return rollout


def _edit_engine(edits: Edits, found: Json, start: Start, place: Place, report: Report) -> None:
    here = ("spec", "containers", {"name": str(found["name"])})
    missing = list(start.missing)
    if missing and start.form is Form.SCRIPT:
        raise Refused(
            Reason.SHELL_COMMAND,
            f"container {found['name']} starts vLLM from a shell, which cannot be edited safely",
            f"add to its vllm serve: {' '.join(_quoted(each) for each in missing)}"
            " - then inject again",
        )
    edits.extend((*here, "args"), missing)
    report.changed.extend(f"args {each}" for each in missing)
    environment.edit(edits, here, place.options.protocol, report)
    for mount in ours.engine_mounts(place.options):
        edits.add((*here, "volumeMounts"), "mountPath", mount)
    report.changed.append("mounts for staging (read-only), handover, plugin (read-only)")
    before = found.get("readinessProbe")
    edits.put((*here, "readinessProbe"), copy.deepcopy(ours.READINESS))
    asked = f", in place of {doors.probe_text(before)}" if before else ""
    report.changed.append(f"readinessProbe: /readyz of the agent{asked}")
    doors.edit(edits, here, found, place.access, report)


def _quoted(flag: str) -> str:
    name, _, value = flag.partition("=")
    return flag if value.isalnum() else f"{name}='{value}'"


def _edit_pod(edits: Edits, rollout: str, place: Place, report: Report) -> None:
    options = place.options
    _raise_pod_resources(edits, place, report)
    for container in (ours.plugin_container(place), ours.agent_container(place, rollout)):
        edits.add((*SPEC, "initContainers"), "name", container)
    report.changed.append(
        f"init container {names.PLUGIN_CONTAINER}, sidecar {names.AGENT_CONTAINER}"
    )
    volumes = ours.volumes(rollout, options)
    for volume in volumes:
        edits.add((*SPEC, "volumes"), "name", volume)
    room = options.checkpoint_bytes
    limit = f"at most {sizes.write(sizes.staging_bytes(room))}" if room else "without a limit"
    where = "in memory" if options.staging is Staging.MEMORY else "on the node's disk"
    there = ", ".join(str(each["name"]) for each in volumes)
    report.changed.append(f"volumes {there} (staging {where}, {limit})")
    gates = [each.get("conditionType") for each in edits.get(*SPEC, "readinessGates") or []]
    if options.gate and names.GATE_SERVING not in gates:
        gate = {"conditionType": names.GATE_SERVING}
        edits.add((*SPEC, "readinessGates"), "conditionType", gate)
        report.changed.append(f"readiness gate {names.GATE_SERVING}")


def _raise_pod_resources(edits: Edits, place: Place, report: Report) -> None:
    """What is set for the pod as a whole must hold the agent too."""
    memory = sizes.read(ours.agent_resources(place)["limits"]["memory"])
    for kind in ("requests", "limits"):
        before = edits.get(*SPEC, "resources", kind, "memory")
        if before is None:
            continue
        try:
            after = sizes.write(sizes.read(before) + memory)
        except ValueError as error:
            raise Refused(Reason.MALFORMED, f"resources.{kind}.memory: {error}") from error
        edits.put((*SPEC, "resources", kind, "memory"), after)
        report.changed.append(f"memory {kind} of the pod: {before} -> {after}")


def _place(spec: Json, found: Json, access: Access, options: Options) -> Place:
    if options.staging is Staging.MEMORY and options.checkpoint_bytes is None:
        raise Refused(
            Reason.SIZE_MISSING,
            "staging in memory is charged to the agent, so its memory limit must be known",
            "--bytes SIZE or --uri FOLDER of one version, or --staging disk",
        )
    mounts = tuple(_checkpoint_mounts(spec, found, options))
    variables = [*access.variables, *engine.variables(str(mounts))]
    return Place(
        options=options,
        access=access,
        environment=environment.referred(found.get("env") or [], variables),
        mounts=mounts,
        runs_as_root=_mapping(spec, "securityContext").get("runAsUser") == 0,
        guaranteed=sizes.is_guaranteed(spec),
        disk_limit=sizes.has_disk_limit(spec),
    )


def _checkpoint_mounts(spec: Json, found: Json, options: Options) -> Iterator[Json]:
    """Read-only: the engine's mount that holds the folder, and what was asked for."""
    asked = dict(options.agent_mounts)
    holding = [
        each
        for each in found.get("volumeMounts") or []
        if options.folder and ours.holds(str(each.get("mountPath")), options.folder)
    ]
    if holding:
        best = max(holding, key=lambda each: len(str(each["mountPath"])))
        if best["mountPath"] not in asked.values():
            kept = {key: best[key] for key in COPIED if key in best}
            yield {**kept, "readOnly": True}
    known = {each.get("name") for each in spec.get("volumes") or []}
    for volume, path in options.agent_mounts:
        if volume not in known:
            raise Refused(
                Reason.VOLUME_MISSING, f"--agent-mount {volume}:{path}: the pod has no such volume"
            )
        yield {"name": volume, "mountPath": path, "readOnly": True}


def _refuse_clashes(spec: Json, found: Json, claims: tuple[str, ...], options: Options) -> None:
    """What has our names and is not ours: an injection of our own was taken back before."""
    if spec.get("hostNetwork"):
        raise Refused(
            Reason.HOST_NETWORK,
            f"hostNetwork: ports {names.DEFAULT_GRPC_PORT} and {names.DEFAULT_HTTP_PORT} of the node"
            " would be the agent's, one such pod a node, open to whoever reaches the node",
            "take hostNetwork out of the pod",
        )
    taken = [
        *_taken("volume", _names(spec, "volumes") | set(claims), _our_volumes(options)),
        *_taken(
            "container", _names(spec, "containers") | _names(spec, "initContainers"), CONTAINERS
        ),
        *_taken("mount of the engine", _mounted(found), _our_mounts(options)),
        *_taken("port", set(_ports(spec)), _our_ports(options)),
    ]
    if taken:
        raise Refused(
            Reason.NAME_TAKEN,
            f"{', '.join(taken)}: there already, and not by inject",
            "take out what was written by hand, inject brings it",
        )


def _taken(kind: str, there: set[Any], wanted: tuple[Any, ...]) -> list[str]:
    return [f"{kind} {each}" for each in wanted if each in there]


def _our_mounts(options: Options) -> tuple[str, ...]:
    return tuple(str(each["mountPath"]) for each in ours.engine_mounts(options))


def _our_volumes(options: Options) -> tuple[str, ...]:
    return tuple(str(each["name"]) for each in ours.volumes("", options))


def _our_ports(options: Options) -> tuple[object, ...]:
    asked = [value for each in trainers.ports(options) for value in each.values()]
    always = (names.PORT_GRPC, names.PORT_HTTP, names.DEFAULT_GRPC_PORT, names.DEFAULT_HTTP_PORT)
    return (*always, *asked)


def _mounted(container: Json) -> set[str]:
    found = container.get("volumeMounts") or []
    return {str(each.get("mountPath")).rstrip("/") for each in found}


def _ports(spec: Json) -> Iterator[object]:
    for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
        for port in container.get("ports") or []:
            yield port.get("name")
            yield port.get("containerPort")


def _names(spec: Json, key: str) -> set[str]:
    return {str(each.get("name")) for each in spec.get(key) or []}


def _mapping(parent: Json, key: str) -> Json:
    found = parent.get(key)
    return found if isinstance(found, dict) else {}
