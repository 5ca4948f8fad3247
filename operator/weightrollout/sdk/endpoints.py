"""Which pods serve a version that is new enough, by what Kubernetes shows. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from weightrollout.kube.pods import Pod
from weightrollout.sdk.state import FleetState
from weightrollout.sdk.versions import at_least, step_of, version_of


@dataclass(frozen=True, slots=True)
class Endpoint:
    pod: str
    ip: str
    port: int
    version: str  # or a newer one: labels are late

    @property
    def url(self) -> str:
        host = f"[{self.ip}]" if ":" in self.ip else self.ip
        return f"http://{host}:{self.port}"


def serving(
    pods: Iterable[Pod], state: FleetState, run: str, min_step: int | None, port: int
) -> list[Endpoint]:
    """`state`: seen after the pods. Labels are written after a pod was verified, with takeOut None seconds later; where
    the status says that no pod has anything older, that is believed, too."""
    floor = _oldest(state, run)
    found = (
        Endpoint(pod.name, pod.ip, port, _newer(pod.version_label, floor, run))
        for pod in pods
        if pod.ready and not pod.terminating and pod.ip
    )
    wanted = (each for each in found if min_step is None or at_least(run, each.version, min_step))
    return sorted(wanted, key=lambda each: each.pod)


def _oldest(state: FleetState, run: str) -> int | None:
    """Step that every pod has at least, proven; None: one has none, or nobody can speak for it."""
    steps = [step_of(run, version) for version, _ in state.versions]
    known = [step for step in steps if step is not None]
    whole = sum(pods for _, pods in state.versions) >= state.pods > 0
    return min(known) if whole and len(known) == len(steps) else None


def _newer(label: str, floor: int | None, run: str) -> str:
    return label if floor is None or at_least(run, label, floor) else version_of(run, floor)
