"""Run one container of a pod as a local process: start, probe, restart with back-off, stop.

Writes its `ContainerRecord` and says when it has changed; knows nothing of the API server.
"""

from __future__ import annotations

import asyncio
import datetime
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localcluster.container_command import CONTAINER_MARK, PodContext, Prepared, prepare
from localcluster.manifest import ConfigError, probe_port
from localcluster.pod_status import ContainerRecord, now_text
from localcluster.probes import HOOK_AGENT, Answer
from localcluster.processes import Command, Process, start_process

Json = dict[str, Any]

# The exit code a container runtime gives to a command that cannot be executed.
START_ERROR: Final = 128


@dataclass
class Backoff:
    """How long to wait before the next start: not at all the first time, then doubling."""

    base_s: float
    cap_s: float
    reset_s: float
    _next_s: float = 0.0

    def after(self, ran_s: float) -> float:
        """The delay after a run of that length."""
        if ran_s >= self.reset_s:
            self._next_s = 0.0
        delay_s = self._next_s
        self._next_s = min(max(self.base_s, delay_s * 2), self.cap_s)
        return delay_s


class ContainerRunner:
    """One container through all its restarts. `run` it as a task, `stop` it from another."""

    def __init__(self, spec: Json, record: ContainerRecord, pod: PodContext) -> None:
        """`record` is written by this runner alone."""
        self.spec = spec
        self.record = record
        self.process: Process | None = None
        self.was_started = asyncio.Event()  # set once, when it was `started` for the first time
        self._pod = pod
        self._stopping = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._prepared: Prepared | None = None  # the run that runs, or ran last
        self._unready_because = ""

    @property
    def log(self) -> Path:
        """The log of the current run."""
        metadata = self._pod.facts.pod["metadata"]
        name = f"{metadata['namespace']}_{metadata['name']}_{self.record.name}_{self.record.restarts}.log"
        return self._pod.host.logs / name

    # -- what a probe or hook needs (probes.Target) --

    @property
    def pod_ip(self) -> str:
        """Where the pod is."""
        return self._pod.facts.pod_ip

    def port(self, port: int | str) -> int:
        """The number of a port of a probe or hook."""
        spec = self._pod.facts.pod["spec"]
        everyone = [*spec["containers"], *(spec.get("initContainers") or [])]
        return probe_port(
            port, self.spec, everyone if self._pod.host.settings.ports_of_any_container else ()
        )

    async def execute(self, command: list[str], log: Path | None, deadline_s: float) -> int:
        """Run a command with the container's environment."""
        inside = self._prepared
        if inside is None:
            raise ConfigError("the container has not started yet")
        argv = inside.paths.rewrite_all(command)
        process = start_process(
            Command(argv, inside.environment, log or Path("/dev/null"), inside.folder)
        )
        try:
            async with asyncio.timeout(deadline_s):
                return await process.wait()
        finally:
            process.signal_group(signal.SIGKILL)

    # -- its life --

    async def run(self) -> int:
        """Start and restart it until it is stopped or may not restart; return its last exit code."""
        settings = self._pod.host.settings
        backoff = Backoff(settings.backoff_base_s, settings.backoff_cap_s, settings.backoff_reset_s)
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            code = await self._run_once()
            if self._stopping.is_set() or not self._restarts_after(code):
                return code
            delay_s = backoff.after(loop.time() - began)
            if delay_s:
                message = f"back-off {delay_s:g}s restarting failed container={self.record.name}"
                self._wait_in("CrashLoopBackOff", message)
            with suppress(TimeoutError):
                async with asyncio.timeout(delay_s):
                    await self._stopping.wait()
            if self._stopping.is_set():
                return code
            self._wait_in("ContainerCreating", "")
            self.record.restarts += 1

    async def stop(self, grace_s: float) -> None:
        """preStop, SIGTERM, SIGKILL after `grace_s` in all; it is not started again. 0: SIGKILL at once."""
        self._stopping.set()
        end = asyncio.get_running_loop().time() + grace_s
        if grace_s and self._ending is not None and not self._ending.done():
            await asyncio.wait({self._ending}, timeout=grace_s)  # a failed probe ends it already
            grace_s = max(end - asyncio.get_running_loop().time(), 0.0)
        await self._end(grace_s)

    async def _run_once(self) -> int:
        try:
            process = await self._start()
        except OSError as failed:
            return self._ended(START_ERROR, "StartError", str(failed))
        if process is None:
            return 0
        watching = asyncio.create_task(self._watch_over(), name=f"probes of {self.record.name}")
        try:
            code = await process.wait()
        finally:
            watching.cancel()
            process.signal_group(signal.SIGKILL)
        self.process = None
        # As a cgroup ends with its container: also what has left the process group.
        await self._pod.host.sweeper.sweep(f"{CONTAINER_MARK}={self.record.container_id}")
        return self._ended(code, "Completed" if code == 0 else "Error", "")

    async def _start(self) -> Process | None:
        """Start the process as soon as its configuration is complete; None when stopped before that."""
        while not self._stopping.is_set():
            try:
                prepared = prepare(self.spec, self._pod)
            except ConfigError as missing:
                self._wait_in("CreateContainerConfigError", str(missing))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._pod.host.settings.config_retry_s):
                        await self._stopping.wait()
                continue
            record = self.record
            record.container_id = prepared.container_id
            self._prepared = prepared
            self.process = start_process(
                Command(prepared.argv, prepared.environment, self.log, prepared.folder)
            )
            record.state = {"running": {"startedAt": _now()}}
            if (
                record.kind != "init"
                and "startupProbe" not in self.spec
                and not self._hook("postStart")
            ):
                self._set_started()
            self._pod.changed()
            return self.process
        return None

    def _restarts_after(self, code: int) -> bool:
        policy = self._pod.facts.pod["spec"].get("restartPolicy", "Always")
        if self.record.kind == "sidecar" or (self.record.kind == "main" and policy == "Always"):
            return True
        return code != 0 and policy != "Never"

    def _ended(self, code: int, reason: str, message: str) -> int:
        """Write down an end; returns the exit code as Kubernetes has it (128 + signal)."""
        record = self.record
        terminated: Json = {
            "exitCode": code if code >= 0 else 128 - code,
            "reason": reason,
            "startedAt": record.state.get("running", {}).get("startedAt") or _now(),
            "finishedAt": _now(),
        }
        if record.container_id:
            terminated["containerID"] = f"process://{record.container_id}"
        if code < 0:
            terminated["signal"] = -code
        if message:
            terminated["message"] = message
        record.state = {"terminated": terminated}
        record.started = False
        record.ready = record.kind == "init" and code == 0
        self._pod.changed()
        exit_code: int = terminated["exitCode"]
        return exit_code

    def _wait_in(self, reason: str, message: str) -> None:
        record = self.record
        if "terminated" in record.state:
            record.last_state = record.state
        waiting = {"reason": reason, "message": message} if message else {"reason": reason}
        if record.state != {"waiting": waiting}:
            record.state = {"waiting": waiting}
            self._pod.changed()

    # -- probes and hooks --

    async def _watch_over(self) -> None:
        """postStart, then the startup probe, then liveness and readiness, until the container ends."""
        if (hook := self._hook("postStart")) and not await self._run_hook(hook, self._pod.grace_s):
            self._restart("postStart hook failed")
            return
        if self.record.kind == "init":
            return
        prober = self._pod.host.prober
        if (probe := self.spec.get("startupProbe")) is not None:
            passed = asyncio.Event()
            watch = asyncio.create_task(
                prober.watch(probe, self, lambda answer: self._decide_startup(answer, passed))
            )
            try:
                await passed.wait()
            finally:
                watch.cancel()
        if not self.record.started:
            self._set_started()
            self._pod.changed()
        async with asyncio.TaskGroup() as tasks:
            if (probe := self.spec.get("readinessProbe")) is not None:
                tasks.create_task(prober.watch(probe, self, self._decide_readiness))
            if (probe := self.spec.get("livenessProbe")) is not None:
                tasks.create_task(prober.watch(probe, self, self._decide_liveness))

    def _set_started(self) -> None:
        self.record.started = True
        self.record.ready = "readinessProbe" not in self.spec
        self.was_started.set()

    def _decide_startup(self, answer: Answer, passed: asyncio.Event) -> None:
        if answer.passed:
            passed.set()
        else:
            self._restart(f"startup probe failed: {answer.message}")

    def _decide_readiness(self, answer: Answer) -> None:
        if not answer.passed and answer.message != self._unready_because:
            self._note(f"readiness probe failed: {answer.message}")
        self._unready_because = "" if answer.passed else answer.message
        if self.record.ready != answer.passed:
            self.record.ready = answer.passed
            self._pod.changed()

    def _decide_liveness(self, answer: Answer) -> None:
        if not answer.passed:
            self._restart(f"liveness probe failed: {answer.message}")

    def _restart(self, why: str) -> None:
        """End the process; `run` starts it again if its policy says so. Nothing to do when it is already ending."""
        if self._stopping.is_set() or (self._ending is not None and not self._ending.done()):
            return
        self._note(f"killing the container: {why}")
        self._ending = asyncio.create_task(
            self._end(self._pod.grace_s), name=f"end of {self.record.name}"
        )

    async def _end(self, grace_s: float) -> None:
        process = self.process
        if process is None:
            return
        end = asyncio.get_running_loop().time() + grace_s
        if grace_s == 0:
            process.signal_group(signal.SIGKILL)
        elif hook := self._hook("preStop"):
            hooked = asyncio.create_task(self._run_hook(hook, grace_s))
            ended = asyncio.create_task(process.wait())
            await asyncio.wait({hooked, ended}, return_when=asyncio.FIRST_COMPLETED)
            hooked.cancel()
            ended.cancel()
        left_s = end - asyncio.get_running_loop().time()
        await process.stop(max(left_s, self._pod.host.settings.minimum_grace_s) if grace_s else 0.0)

    def _hook(self, name: str) -> Json | None:
        hook: Json | None = (self.spec.get("lifecycle") or {}).get(name)
        return hook

    async def _run_hook(self, hook: Json, deadline_s: float) -> bool:
        if (nap := hook.get("sleep")) is not None:
            await asyncio.sleep(min(float(nap["seconds"]), deadline_s))
            return True
        answer = await self._pod.host.prober.ask(
            {**hook, "timeoutSeconds": deadline_s}, self, HOOK_AGENT
        )
        if not answer.passed:
            self._note(f"hook failed: {answer.message}")
        return answer.passed

    def _note(self, text: str) -> None:
        """Say something in the container's log, where one looks first."""
        with self.log.open("a") as log:
            log.write(f"localcluster: {text}\n")


def _now() -> str:
    return now_text(datetime.datetime.now(datetime.UTC))
