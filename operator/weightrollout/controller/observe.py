"""Build the frozen Fleet: the rollout, its pods, what each agent said last, revisions, work, the clock.

Only translation happens here. Anything that was not said is None or a fault, never a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from weightrollout.api.names import ANNOTATION_ACTION, stable_configmap
from weightrollout.api.spec import Driver
from weightrollout.clock import rfc3339
from weightrollout.controller.agents import Orders
from weightrollout.controller.leader import Fence
from weightrollout.controller.world import World
from weightrollout.kube.client import Json
from weightrollout.kube.pods import Pod
from weightrollout.reading import (
    is_trainers,
    own_revisions,
    published,
    put_in_txn,
    read_spec,
    read_status,
    revision_of,
)
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    AgentView,
    Fleet,
    Measurement,
    Memory,
    PodView,
    Work,
)


class Said(Protocol):
    """What an agent's link shows."""

    @property
    def seen(self) -> AgentView | AgentFault: ...
    @property
    def message(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """What this leader adds to what the cluster shows."""

    fence: Fence
    links: Mapping[str, Said]  # by pod uid
    work: frozenset[Work]
    failures: tuple[ActionFailure, ...]
    memory: Memory
    answer: Measurement | None = None


def observe(world: World, body: Json, seen: Seen) -> Fleet:
    """Raises InvalidSpec."""
    metadata = body["metadata"]
    name, uid = metadata["name"], metadata["uid"]
    stable = world.stables.get(stable_configmap(name))
    return Fleet(
        namespace=metadata["namespace"],
        name=name,
        uid=uid,
        generation=int(metadata["generation"]),
        spec=read_spec(body),
        status=read_status(body),
        revisions=tuple(
            revision_of(each) for each in own_revisions(world.revisions.all(), name, uid)
        ),
        pods=tuple(pod_view(pod, seen.links.get(pod.uid)) for pod in world.pods_of(name)),
        work=seen.work,
        now=world.clock.monotonic(),
        wall=rfc3339(world.clock.wall()),
        epoch=seen.fence.epoch,
        failures=seen.failures,
        published=published(stable),
        published_by=stable.owner_uid if stable is not None else "",
        published_for_trainer=is_trainers(stable),
        memory=seen.memory,
        measurement=seen.answer,
        action=(metadata.get("annotations") or {}).get(ANNOTATION_ACTION, ""),
        disruption_budgets=tuple(each.budget for each in world.pdbs.all()),
        disruption_budgets_denied=world.cluster.pdbs.denied,
    )


def orders_of(body: Json) -> Orders:
    """What its agents are told. An operator without anything to load drives nobody."""
    spec = body.get("spec") or {}
    driver = str(spec.get("driver", Driver.OPERATOR))
    drives = driver == Driver.TRAINER or spec.get("weights") is not None
    return Orders(driver if drives else "", str(spec.get("guard") or ""))


def pod_view(pod: Pod, link: Said | None) -> PodView:
    return PodView(
        name=pod.name,
        uid=pod.uid,
        agent=_agent(pod, link),
        ready=pod.ready,
        running=pod.running,
        terminating=pod.terminating,
        gated=pod.gated,
        gate_open=pod.gate.open if pod.gate is not None else None,
        version_label=pod.version_label,
        put_in_txn=put_in_txn(pod.swap_annotation),
        agent_message=link.message if link is not None else "",
        labels=pod.labels,
        controlled=pod.controlled,
    )


def _agent(pod: Pod, link: Said | None) -> AgentView | AgentFault:
    if pod.agent_port is None:
        return AgentFault.MISSING
    return AgentFault.STARTING if link is None else link.seen
