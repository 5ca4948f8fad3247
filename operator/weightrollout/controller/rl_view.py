"""What a link knows of an agent's RL routes."""

from weightrollout.controller.agents import AgentLink
from weightrollout.controller.rl_workers import Door, Worker
from weightrollout.rollout.fleet import AgentFault


def worker_of(rollout: str, link: AgentLink) -> Worker:
    said, address = link.said, link.address
    door = None
    if said is not None and said.HasField("trainer"):
        shown = said.trainer
        door = Door(
            *(shown.port, shown.tls, tuple(shown.routes), shown.world_size, shown.model),
            backend=shown.transfer_backend,
        )
    trouble = ""
    if isinstance(link.seen, AgentFault):
        trouble = link.message or f"its agent: {link.seen}"
    elif said is not None and not said.engine.reachable:
        trouble = "its engine does not answer"
    return Worker(
        rollout=rollout,
        pod=address.pod,
        pod_uid=address.pod_uid,
        ip=address.target.rpartition(":")[0].strip("[]"),
        door=door,
        instance=said.engine.instance if said is not None else "",
        trouble=trouble,
    )
