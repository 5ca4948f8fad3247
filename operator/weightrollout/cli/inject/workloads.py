"""Which kinds of objects hold pods, and where; a stream of objects goes through."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.cli.inject import engine, pod, remarks
from weightrollout.cli.inject.edits import is_injected, take_back
from weightrollout.cli.inject.report import Json, Options, Reason, Refused, Report

TEMPLATE: Final = ("spec", "template")
GROUP: Final = ("spec", "leaderWorkerTemplate")
#: (apiVersion, kind) -> where the template of its pods is; () for the object itself.
KINDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("apps/v1", "Deployment"): TEMPLATE,
    ("apps/v1", "StatefulSet"): TEMPLATE,
    ("apps/v1", "DaemonSet"): TEMPLATE,
    ("apps/v1", "ReplicaSet"): TEMPLATE,
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): GROUP,
    ("v1", "Pod"): (),
}
LEADER_WORKER_SET: Final = "LeaderWorkerSet"


@dataclass(frozen=True, slots=True)
class Result:
    objects: list[Any]
    reports: list[Report]


def inject_all(objects: Sequence[Any], options: Options) -> Result:
    """In order; what holds no engine comes through as it was. Raises Refused, also where nothing holds one."""
    reports: list[Report] = []

    def each(found: Json) -> Json:
        report = Report(_who(found))
        try:
            after = _inject(found, options, report)
        except Refused as refused:
            raise refused.of(report.who) from refused
        except (AttributeError, TypeError, KeyError) as error:
            message = f"{report.who}: is not what its kind holds: {error!r}"
            raise Refused(Reason.MALFORMED, message) from error
        reports.append(report)
        return after

    after = [_through(found, each) for found in objects]
    if all(report.left for report in reports):
        raise Refused(
            Reason.NO_ENGINE,
            "nothing to inject: " + ("; ".join(_why(each) for each in reports) or "no objects"),
            "name the engine: --container NAME",
        )
    return Result(after, reports)


def take_back_all(objects: Sequence[Any]) -> Result:
    """In order; what was not injected comes through as it was. Raises Refused."""
    reports: list[Report] = []

    def each(found: Json) -> Json:
        report = Report(_who(found), left="was not injected")
        reports.append(report)
        at = _pods_of(found)
        if at is None or not is_injected(_down(found, at)):
            return copy.deepcopy(found)
        report.left = ""
        report.changed.append("what inject had put in is taken out")
        try:
            before, lost = take_back(_down(found, at))
        except Refused as refused:
            raise refused.of(report.who) from refused
        remarks.add_lost(report, lost)
        return _replaced(found, at, before)

    return Result([_through(found, each) for found in objects], reports)


def _through(found: Any, each: Callable[[Json], Json]) -> Any:
    """Lists are opened; what is no object is left."""
    if not isinstance(found, dict):
        return copy.deepcopy(found)
    if found.get("apiVersion") == "v1" and found.get("kind") == "List":
        return {
            key: [_through(item, each) for item in value or []] if key == "items" else value
            for key, value in found.items()
        }
    return each(found)


def _inject(found: Json, options: Options, report: Report) -> Json:
    at = _pods_of(found)
    if at is None:
        report.left = "no kind that holds pods and is known here"
        return copy.deepcopy(found)
    template = _down(found, at)
    if not isinstance(template, dict):
        raise Refused(Reason.MALFORMED, f"has no {'.'.join(at)}")
    metadata = found.get("metadata") or {}
    name = str(metadata.get("name") or metadata.get("generateName") or "").rstrip("-")
    after = pod.inject(template, name, options, report, _claims(found))
    if after is None:
        report.left = _without_engine(template)
        if options.container:
            report.left = f"has no container {options.container}"
        return copy.deepcopy(found)
    if found["kind"] == LEADER_WORKER_SET:
        _about_groups(found, report)
    return _replaced(found, at, after)


def _pods_of(found: Json) -> tuple[str, ...] | None:
    kind = (str(found.get("apiVersion")), str(found.get("kind")))
    if KINDS.get(kind) is not GROUP:
        return KINDS.get(kind)
    # With size 1 there are only leaders, which take the workers' template where they have none.
    leads = _down(found, (*GROUP, "leaderTemplate"))
    return (*GROUP, "leaderTemplate" if leads else "workerTemplate")


def _about_groups(found: Json, report: Report) -> None:
    group = _down(found, GROUP)
    if (group.get("size") or 1) != 1:
        raise Refused(
            Reason.MULTI_POD_ENGINE,
            f"leaderWorkerTemplate.size is {group['size']}: engines of several pods cannot be swapped"
            " by this release",
        )
    policy = group.get("restartPolicy") or "RecreateGroupOnPodRestart"
    if policy != "None":
        report.could_not_know(
            Reason.GROUP_RESTARTS,
            f"restartPolicy {policy}: an engine that is restarted takes its pod and what is staged"
            " with it",
            "leaderWorkerTemplate.restartPolicy: None, as the group is one pod",
        )


def _claims(found: Json) -> tuple[str, ...]:
    claims = (found.get("spec") or {}).get("volumeClaimTemplates") or []
    return tuple(str((each.get("metadata") or {}).get("name")) for each in claims)


def _without_engine(template: Json) -> str:
    """An engine that is a native sidecar, as in Dynamo's examples, would start before what we bring."""
    spec = template.get("spec") or {}
    there = ", ".join(str(each.get("name")) for each in spec.get("containers") or [])
    said = f"no container looks like vLLM ({there or 'none'})"
    for each in spec.get("initContainers") or []:
        if each.get("restartPolicy") == "Always" and engine.says_vllm(each):
            return f"{said}; native sidecar {each.get('name')} does: write it among the containers"
    return said


def _down(found: Any, at: tuple[str, ...]) -> Any:
    for key in at:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _replaced(found: Json, at: tuple[str, ...], value: Json) -> Json:
    if not at:
        return value
    key, *below = at
    return {
        name: _replaced(each, tuple(below), value) if name == key else copy.deepcopy(each)
        for name, each in found.items()
    }


def _who(found: Json) -> str:
    metadata = found.get("metadata") or {}
    name = (
        metadata.get("name") or metadata.get("generateName") if isinstance(metadata, dict) else ""
    )
    return f"{found.get('kind') or '?'}/{name or '?'}"


def _why(report: Report) -> str:
    return f"{report.who}: {report.left}"
