"""Labels that nothing waits for are written later, and few at a time.

With takeOut None a pod never leaves its endpoints, and what a trainer gives a pod takes it out by its agent alone, so
neither needs a write to the pod: label and note only say to people what it serves. A trainer that publishes every two seconds would make one write per pod of it each time. So a
label is written again after 10 s at the earliest, and a fleet's labels share a rate, whatever the number of pods.
What stands there was true when it was written; status is never late by more than a second.
"""

from dataclasses import replace
from typing import Final

from weightrollout.api.spec import TakeOut
from weightrollout.rollout.actions import LabelPod, PutIn
from weightrollout.rollout.backoff import call_failure
from weightrollout.rollout.classify import Pod
from weightrollout.rollout.fleet import Doing, Memory, PodMemory
from weightrollout.rollout.situation import Situation

#: One pod's label, after the one before.
AGAIN_S: Final = 10.0
#: Of one fleet. All writes together shall be five a second where a version comes every other one; four are status, history
#: and events of its rollout.
PER_S: Final = 1.0
#: So many at once after a quiet time: a small fleet's labels are not late at all.
BURST: Final = 10


def may_wait(pod: Pod, take_out: TakeOut) -> bool:
    """It serves as it is: neither its gate nor its way back waits for a write."""
    gate_shut = pod.view.gated and pod.view.gate_open is not True
    its_trainers = pod.agent is not None and pod.agent.has_trainers_weights
    return (take_out is TakeOut.NONE or its_trainers) and not gate_shut


def label_steps(situation: Situation, late: list[tuple[Pod, PutIn]]) -> list[LabelPod]:
    """Of the pods whose label is late, those whose turn it is: the oldest label first."""
    now, room = situation.fleet.now, room_for(situation.fleet.memory, situation.fleet.now)
    due = [
        (pod, said)
        for pod, said in late
        if now >= label_again_at(pod.memory)
        and Doing.LABEL not in pod.work
        and call_failure(situation.fleet, Doing.LABEL, pod.uid) is None
    ]
    due.sort(key=lambda each: (each[0].memory.labelled_at, each[0].name))
    return [
        LabelPod(
            *(said.pod, said.pod_uid, said.txn, said.attempt, said.serving),
            *(said.reason, said.message),
        )
        for _, said in due[:room]
    ]


def label_again_at(memory: PodMemory) -> float:
    return memory.labelled_at + AGAIN_S


def room_for(memory: Memory, now: float) -> int:
    """How many labels of the fleet may be written now."""
    spent = max(0.0, memory.labels_paid_at - now) * PER_S
    return int(BURST - spent + 1e-6)


def room_at(memory: Memory) -> float:
    """When there is room for one."""
    return memory.labels_paid_at - (BURST - 1) / PER_S


def with_paid(memory: Memory, now: float, labels: int) -> Memory:
    if not labels:
        return memory
    return replace(memory, labels_paid_at=max(memory.labels_paid_at, now) + labels / PER_S)
