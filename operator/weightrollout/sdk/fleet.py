"""One fleet, as a trainer drives it. Writes spec.weights by server-side apply under a name of its own, and nothing else."""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weightrollout.api.names import (
    ANNOTATION_ACTION,
    API_VERSION,
    KIND,
)
from weightrollout.api.status import ActionOutcome
from weightrollout.kube.client import APPLY, Client, Json
from weightrollout.kube.client import connect as connect_in_cluster
from weightrollout.kube.errors import Conflict, Forbidden, Invalid
from weightrollout.kube.person import change, keeper_of
from weightrollout.kube.reader import connect_as_user, follow, read_pods, read_rollout
from weightrollout.kube.rollouts import rollouts_path
from weightrollout.reading import read_status
from weightrollout.rollout.verbs import VerbName, action_id, spell
from weightrollout.sdk import goals
from weightrollout.sdk.endpoints import Endpoint, serving
from weightrollout.sdk.errors import (
    NotPublished,
    SdkError,
    TimedOut,
    typed,
)
from weightrollout.sdk.state import FleetState, state_of
from weightrollout.sdk.storage import Storage
from weightrollout.sdk.versions import at_least, step_of, version_of

FIELD_MANAGER: Final = "weightrollout-sdk"
ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
ANSWER_S: Final = 30.0

Progress = Callable[[FleetState], None]


@dataclass(frozen=True, slots=True)
class Published:
    step: int
    version: str
    uri: str
    digest: str  # "": a pod of the fleet finds it out
    changed: bool  # False: the fleet was asked for just this already


class Fleet:
    def __init__(self, client: Client, name: str, run: str) -> None:
        """Use `connect`. Raises ValueError for a run that is no name."""
        version_of(run, 0)
        self._client = client
        self.name = name
        self.run = run

    async def state(self) -> FleetState:
        """One look at the fleet. Raises FleetNotFound, ClusterFailed."""
        return state_of(await self._read())

    async def publish(
        self,
        step: int,
        uri: str = "",
        *,
        digest: str = "",
        tensors: Mapping[str, Any] | None = None,
        storage: Storage | None = None,
        force: bool = False,
    ) -> Published:
        """Ask the fleet for this step: a folder that is there (`uri`), or tensors, which are stored first.

        Returns when the spec says so, not when the fleet serves it; a fleet that is slower than the trainer goes
        to the newest. The same step again changes nothing. Raises NotPublished (VersionReused, OlderStep,
        OwnedByAnother, Invalid, Forbidden), NotStored, FleetNotFound, ClusterFailed; `force` takes spec.weights from whoever
        owns it, but never from a newer step of this run.
        """
        version = version_of(self.run, step)
        if (tensors is None) is not bool(uri):
            raise ValueError("give uri, or tensors with storage")
        if tensors is not None:
            if storage is None:
                raise ValueError(
                    "tensors need a storage that the agents can read: Folder(...) or Bucket(...)"
                )
            self._refuse_older(await self._read(), step)  # before gigabytes are written
            stored = await storage.put(version, tensors)
            uri, digest = stored.uri, stored.digest
        weights = {"version": version, "uri": uri, **({"digest": digest} if digest else {})}
        with typed([]):
            changed = await self._ask_for(step, weights, force=force)
        return Published(step, version, uri, digest, changed)

    async def _ask_for(self, step: int, weights: Json, *, force: bool) -> bool:
        """On top of what was read, so that two trainers of one run never go back by racing."""
        while True:
            read = await self._read()
            self._refuse_older(read, step)
            now = (read.get("spec") or {}).get("weights") or {}
            if now.get("version") == weights["version"]:
                self._must_be(now, weights)
                return False
            try:
                await self._apply(read, weights, force=force)
            except Conflict as conflict:
                keeper = keeper_of(read, "spec", "weights")
                if "resourceVersion" not in str(conflict) and "modified" not in str(conflict):
                    raise NotPublished(
                        "OwnedByAnother",
                        f"{keeper or 'somebody else'} owns spec.weights of {self.name}: leave the field out"
                        f" there, or publish with force ({conflict})",
                        state_of(read),
                    ) from conflict
                continue  # somebody wrote in between: look again
            except Invalid as wrong:
                raise NotPublished("Invalid", str(wrong), state_of(read)) from wrong
            except Forbidden as wrong:
                raise NotPublished("Forbidden", str(wrong), state_of(read)) from wrong
            return True

    async def _apply(self, read: Json, weights: Json, *, force: bool) -> None:
        metadata = read["metadata"]
        body = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {
                "name": self.name,
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "spec": {"weights": weights},
        }
        await self._client.request(
            "PATCH",
            f"{rollouts_path(self._client)}/{self.name}",
            query={"fieldManager": FIELD_MANAGER, "force": str(force).lower()},
            body=body,
            content_type=APPLY,
        )

    def _refuse_older(self, read: Json, step: int) -> None:
        state = state_of(read)
        known = step_of(self.run, state.asked)
        if known is not None and known > step:
            raise NotPublished(
                "OlderStep",
                f"{self.name} is asked for step {known} already; to go back: rollback()",
                state,
            )

    def _must_be(self, now: Json, weights: Json) -> None:
        """A version is bound to its content; the operator would refuse the spec."""
        other = [key for key in ("uri", "digest") if weights.get(key, now.get(key)) != now.get(key)]
        if other:
            raise NotPublished(
                "VersionReused",
                f"{self.name} is asked for {weights['version']} already, with another {other[0]}:"
                f" {now.get(other[0])}; publish a newer step",
            )

    async def wait(
        self,
        step: int,
        *,
        pods: int | str = "100%",
        timeout_s: float,
        progress: Progress | None = None,
    ) -> FleetState:
        """Until so many pods (or percent, rounded up) serve this step or a newer one of this run, proven.

        Where a trainer drives (spec.driver) the operator brings no pod to spec.weights: there it is until so many
        pods report such a step, as `wait_reported` says it. `progress` is called at each change. Raises Rejected,
        Superseded (neither where a trainer drives), TimedOut, FleetNotFound, ClusterFailed.
        """
        version_of(self.run, step)

        def arrived(state: FleetState) -> bool:
            there = goals.is_there(state, self.run, step, pods)
            if not there:
                goals.refuse_hopeless(state, self.run, step)
            return there

        def fits(version: str) -> bool:
            return at_least(self.run, version, step)

        return await self._until(arrived, fits, timeout_s, progress)

    async def wait_reported(
        self,
        version: str,
        *,
        pods: int | str = "100%",
        timeout_s: float,
        progress: Progress | None = None,
    ) -> FleetState:
        """Until so many pods (or percent, rounded up) report that they hold just this version.

        It is the name that a trainer gave its weights by the RL routes, or spec.weights has; each agent read it back
        from its engine. Who brought it, and whether the pod is still paused, is not asked: `FleetState.held`, and
        `endpoints()` for Ready pods. `progress` is called at each change. Raises TimedOut, FleetNotFound, ClusterFailed.
        """

        def fits(found: str) -> bool:
            return found == version

        def arrived(state: FleetState) -> bool:
            return goals.is_reported(state, pods, fits)

        return await self._until(arrived, fits, timeout_s, progress)

    async def _until(
        self,
        arrived: Callable[[FleetState], bool],
        fits: Callable[[str], bool],
        timeout_s: float,
        progress: Progress | None,
    ) -> FleetState:
        """`fits`: of which versions the words of a timeout speak."""
        seen: list[FleetState] = []
        try:
            with typed(seen):
                async with (
                    asyncio.timeout(timeout_s),
                    aclosing(follow(self._client, self.name)) as sights,
                ):
                    async for sight in sights:
                        seen[:] = [state_of(sight.rollout)]
                        if progress is not None:
                            progress(seen[0])
                        if arrived(seen[0]):
                            return seen[0]
        except TimeoutError as late:
            last = seen[0] if seen else None
            raise TimedOut("TimedOut", goals.how_far(last, fits, timeout_s), last) from late
        raise AssertionError("a watch ends with an error or an answer")

    async def endpoints(self, min_step: int | None = None, *, port: int = 8000) -> list[Endpoint]:
        """Ready pods that serve at least this step, sorted by name. Raises FleetNotFound, ClusterFailed.

        Known by their labels, which may be late by seconds, or by the status, where no pod has anything older.
        """
        with typed([]):
            pods = await read_pods(self._client, self.name)
        state = await self.state()  # after the pods: they only go forward
        return serving(pods, state, self.run, min_step, port)

    async def rollback(self, *, timeout_s: float = ANSWER_S) -> FleetState:
        """Back to the newest version that the whole fleet verified before; spec.weights stays as it is.

        Returns when the operator has accepted it. Raises SdkError with the operator's words where it does not.
        """
        written = ""

        def decide(read: Json) -> Json:
            nonlocal written
            desired = read_status(read).desired
            if desired is None:
                raise SdkError(
                    "NothingDesired", f"{self.name} was asked for nothing yet", state_of(read)
                )
            written = spell(VerbName.ABORT, desired.revision, secrets.token_hex(6))
            return {"metadata": {"annotations": {ANNOTATION_ACTION: written}}}

        with typed([]):
            await change(self._client, self.name, decide, manager=FIELD_MANAGER)
            return await self._answered(written, timeout_s)

    async def _answered(self, text: str, timeout_s: float) -> FleetState:
        seen: FleetState | None = None
        try:
            async with (
                asyncio.timeout(timeout_s),
                aclosing(follow(self._client, self.name)) as sights,
            ):
                async for sight in sights:
                    seen = state_of(sight.rollout)
                    last = read_status(sight.rollout).last_action
                    if last is None or last.id != action_id(text):
                        continue
                    if last.outcome is ActionOutcome.ACCEPTED:
                        return seen
                    raise SdkError(str(last.outcome), last.message, seen)
        except TimeoutError as late:
            message = f"no operator has answered within {timeout_s:g} s; the request stays"
            raise TimedOut("TimedOut", message, seen) from late
        raise AssertionError("a watch ends with an error or an answer")

    async def _read(self) -> Json:
        with typed([]):
            return await read_rollout(self._client, self.name)


@asynccontextmanager
async def connect(
    name: str,
    *,
    run: str,
    namespace: str | None = None,
    kubeconfig: Path | None = None,
    context: str | None = None,
) -> AsyncIterator[Fleet]:
    """As kubectl finds its cluster; in a pod without a kubeconfig by the pod's own ServiceAccount.

    Raises ClusterFailed, and ValueError for a run that is no name.
    """
    inside = ACCOUNT / "namespace"
    async with AsyncExitStack() as stack:
        with typed([]):
            if kubeconfig is None and "KUBECONFIG" not in os.environ and inside.is_file():
                own = namespace or inside.read_text().strip()
                client = await stack.enter_async_context(connect_in_cluster(own, None))
            else:
                opened = connect_as_user(kubeconfig, context, namespace)
                client = await stack.enter_async_context(opened)
        yield Fleet(client, name, run)
