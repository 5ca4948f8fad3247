"""Pods that serve the right weights, and whose speculative draft is not right."""

from collections.abc import Iterable

from weightrollout.api.reasons import DegradedReason
from weightrollout.rollout.classify import Pod, loaded_by
from weightrollout.rollout.refusal import listed


def degraded(pods: Iterable[Pod]) -> tuple[str, str] | None:
    """The worst reason, and a message that names its pods; None: all is well."""
    found = [(pod, reason_of(pod)) for pod in pods]
    for reason in DegradedReason:
        named = [pod for pod, its in found if its == reason]
        if not named:
            continue
        agent = named[0].agent
        why = agent.degraded_message if agent is not None else ""
        return reason, f"{listed([pod.name for pod in named])}: {why}"
    return None


def reason_of(pod: Pod) -> str:
    """ "" when all is well, and while nobody can say what is loaded."""
    if pod.agent is None or loaded_by(pod.agent) is None:
        return ""
    return pod.agent.degraded_reason
