"""Visit what no WeightRollout visits: pods that name a missing one, pods that left, ConfigMaps left over.

Such a pod goes on serving what it serves. It only gets what it would wait for for ever: an answer to its
readiness gate, the end of a reservation, a version label that is true, and an Event that says what is wrong.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

import grpc.aio

from weightrollout.api.names import LABEL_NAME
from weightrollout.controller.agents import address_of
from weightrollout.controller.calls import AgentCallFailed, AgentRefusedCall, call_error
from weightrollout.controller.leader import Guard, NotLeading
from weightrollout.controller.world import World
from weightrollout.kube.configmaps import remove_stable
from weightrollout.kube.errors import KubeError
from weightrollout.kube.events import Event, about_pod
from weightrollout.kube.picture import Shelf, key_of
from weightrollout.kube.pods import Pod
from weightrollout.kube.podwrites import Ours
from weightrollout.wire.agent import agent_pb2 as pb

EVERY_S: Final = 30.0
RUNNING_S: Final = 3.0  # a swap without a WeightRollout ends soon
CALL_S: Final = 3.0
AT_ONCE: Final = 16
MOST_TOLD: Final = 3  # pods of one name that get an event: the others would say the same
LABEL_POINTS_TO_NO_ROLLOUT: Final = "LabelPointsToNoRollout"
UNMANAGED: Final = "Unmanaged"

log = logging.getLogger(__name__)


class Orphans:
    """One pass over one namespace; the queue asks for it."""

    def __init__(self, world: World, guard: Guard, slots: asyncio.Semaphore) -> None:
        """`slots`: how many pods are visited at once, in all namespaces together."""
        self._world = world
        self._guard = guard
        self._announced: dict[str, str] = {}  # pod uid -> the name in its label
        self._settled: set[str] = set()
        self._slots = slots

    async def run_pass(self) -> float | None:
        """When to come again: a transaction that still runs, or a lost event, is waited for."""
        if not self._world.complete:
            return None
        self._guard()
        nameless = [pod for pod in self._world.pods.all() if self._is_orphan(pod)]
        strays = [pod for pod in self._world.strays.all() if pod.counts]
        self._forget_all_but({pod.uid for pod in (*nameless, *strays)})
        visits = [self._visit(self._world.pods, pod) for pod in nameless]
        visits += [self._visit(self._world.strays, pod) for pod in strays]
        running = await asyncio.gather(*visits)
        await self._remove_stables()
        return self._world.clock.monotonic() + (RUNNING_S if any(running) else EVERY_S)

    def _is_orphan(self, pod: Pod) -> bool:
        return pod.counts and self._is_nobodys(pod)

    def _is_nobodys(self, pod: Pod) -> bool:
        return not pod.rollout or self._world.rollouts.get(pod.rollout) is None

    async def _visit(self, store: Shelf[Pod], pod: Pod) -> bool:
        """Whether a swap still runs in it."""
        if pod.terminating:
            return False
        self._announce(pod)
        state: pb.AgentState | None = None
        try:
            async with self._slots:
                if not self._is_nobodys(pod):
                    return False  # its WeightRollout came while it waited for its turn
                if pod.uid not in self._settled:
                    state = await self._settle(pod)

                def change(pod: Pod, ours: Ours) -> Ours:
                    return self._answer(pod, ours, state) if self._is_nobodys(pod) else ours

                await self._world.pod_writer.write(store, pod.name, pod.uid, change, self._guard)
        except (KubeError, AgentCallFailed, NotLeading) as error:
            log.info("orphan pod %s is visited again: %s", key_of(pod), error or repr(error))
        return state is not None and _is_swapping(state)

    def _announce(self, pod: Pod) -> None:
        if pod.uid in self._announced or not pod.rollout:
            return
        if list(self._announced.values()).count(pod.rollout) >= MOST_TOLD:
            return
        self._announced[pod.uid] = pod.rollout
        note = (
            f"label {LABEL_NAME} says {pod.rollout}, and there is no WeightRollout of that name in this "
            "namespace: create it, or correct the label in the pod template; the pod serves what it has"
        )
        self._world.events.post(
            Event(
                about_pod(pod.namespace, pod.name, pod.uid), True, LABEL_POINTS_TO_NO_ROLLOUT, note
            )
        )

    def _answer(self, pod: Pod, ours: Ours, state: pb.AgentState | None) -> Ours:
        gate = ours.gate
        if pod.gated:
            gate = self._world.pod_writer.flip(
                gate, True, UNMANAGED, "no WeightRollout manages this pod"
            )
        if pod.rollout:
            # A swap that ended after its WeightRollout was deleted was put in by nobody.
            known = state is not None and state.engine.reachable and not _is_swapping(state)
            said = state.serving.version if state is not None and known else ""
            return Ours(said or ours.version_label, ours.swap_annotation, gate)
        return Ours("", "", gate)  # it left for good: nothing on it says any more what it serves

    async def _settle(self, pod: Pod) -> pb.AgentState | None:
        """Ends a reservation, and returns what the agent said; None: nothing yet, or there is none.

        Without reservation and transaction it is settled. We speak with the fence the agent knows.
        """
        address = address_of(pod)
        if address is None:
            if pod.agent_port is None:
                self._settled.add(pod.uid)
            return None
        access = self._world.access
        opened = await access.open(address.target, pod.callee, pod.agent_container, None)
        async with opened.channel:
            stub = opened.stub
            try:
                stream = stub.Watch(pb.WatchRequest(heartbeat_seconds=1.0), timeout=CALL_S)
                state = await stream.read()
                stream.cancel()
                if not isinstance(state, pb.AgentState):
                    return None
                if _is_swapping(state):
                    return state
                if state.HasField("reservation"):
                    self._guard()
                    request = pb.ReleaseRequest(fence=state.fence, txn=state.reservation.txn)
                    await stub.Release(request, timeout=CALL_S)
            except grpc.aio.AioRpcError as error:
                failed = call_error("Release", error)
                if isinstance(failed, AgentRefusedCall):
                    failed = access.judged(pod.callee, failed)
                raise failed from error
        self._settled.add(pod.uid)
        return state

    async def _remove_stables(self) -> None:
        for record in list(self._world.stables.all()):
            missing = self._world.rollouts.get(record.rollout) is None
            if missing and not any(pod.rollout == record.rollout for pod in self._world.pods.all()):
                self._guard()
                await remove_stable(self._world.client, self._world.stables, record)

    def _forget_all_but(self, uids: Iterable[str]) -> None:
        there = set(uids)
        self._announced = {uid: name for uid, name in self._announced.items() if uid in there}
        self._settled &= there


def _is_swapping(state: pb.AgentState) -> bool:
    return state.HasField("transaction") and not state.transaction.outcome
