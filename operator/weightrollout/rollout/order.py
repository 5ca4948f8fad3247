"""Who goes first: pods that serve nobody, then the oldest revision, then who gave up less, then by name.

Oldest first is what keeps a fleet fair when versions come faster than a rollout takes: no pod is
passed over for ever.
"""

from collections.abc import Iterable

from weightrollout.rollout.classify import Pod
from weightrollout.rollout.fleet import Revision
from weightrollout.rollout.revisions import find


def in_order(pods: Iterable[Pod], revisions: tuple[Revision, ...]) -> tuple[Pod, ...]:
    def key(pod: Pod) -> tuple[bool, int, int, str]:
        return (pod.in_service, _age(pod, revisions), pod.memory.gave_up, pod.name)

    return tuple(sorted(pods, key=key))


def _age(pod: Pod, revisions: tuple[Revision, ...]) -> int:
    """Number of the revision that is loaded; 0 for the baseline and for what nobody knows."""
    known = None if pod.loaded is None else find(revisions, pod.loaded.revision)
    return 0 if known is None else known.number
