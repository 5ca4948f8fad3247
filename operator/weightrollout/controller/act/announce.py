"""Post a Kubernetes Event about the rollout or one of its pods; never waits and never fails."""

from weightrollout.controller.act.context import Context
from weightrollout.kube.events import Event, about_pod, about_rollout
from weightrollout.rollout.actions import Announce


def announce(context: Context, action: Announce) -> None:
    owner, namespace = context.owner, context.world.namespace
    regarding = (
        about_pod(namespace, action.pod, action.pod_uid)
        if action.pod_uid
        else about_rollout(namespace, owner.name, owner.uid)
    )
    context.world.events.post(Event(regarding, action.warning, action.reason, action.message))
