"""The operator as a process of its own, as a Deployment would run it."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localcluster.processes import Command, Process, start_process
from ports import ports_for_good

#: Fail-over in a test should take seconds; the defaults are for clusters.
LEASE: Final = ("--lease-seconds=5", "--renew-seconds=3.5", "--retry-seconds=1")

TESTS: Final = Path(__file__).resolve().parents[1]
PROGRAMS: Final = (str(TESTS), str(TESTS.parent / "operator"))


@dataclass(frozen=True)
class OperatorRun:
    """How a replica is started."""

    module: str = "weightrollout.controller"
    lease: Sequence[str] = LEASE
    environment: Mapping[str, str] = field(default_factory=dict)  # on top of our own
    flags: Sequence[str] = ()


class OperatorProcess:
    """One replica. `start` may be called again after `kill`: the next leader."""

    def __init__(
        self,
        kubeconfig: Path,
        namespace: str,
        folder: Path,
        name: str = "operator-0",
        how: OperatorRun | None = None,
    ) -> None:
        self.name = name
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._folder = folder
        self._how = how or OperatorRun()
        self._starts = 0
        self._process: Process | None = None
        self.http = ""

    @property
    def log(self) -> Path:
        return self._folder / f"{self.name}-{self._starts}.log"

    def start(self) -> None:
        self._starts += 1
        (port,) = ports_for_good(1)
        self.http = f"http://127.0.0.1:{port}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = start_process(
            Command(
                [
                    sys.executable,
                    "-m",
                    self._how.module,
                    f"--namespace={self._namespace}",
                    f"--kubeconfig={self._kubeconfig}",
                    f"--http-bind=127.0.0.1:{port}",
                    *self._how.lease,
                    *self._how.flags,
                ],
                {
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(PROGRAMS),
                    **self._how.environment,
                    "POD_NAME": self.name,
                },
                self.log,
                self._folder,
            )
        )

    @property
    def pid(self) -> int:
        assert self._process is not None, "start it first"
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return None if self._process is None else self._process.exit_code

    async def ended(self) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None, "start it first"
        return await self._process.wait()

    def kill(self, sign: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.signal(sign)

    async def stop(self, grace_s: float = 10.0) -> None:
        if self._process is not None:
            await self._process.stop(grace_s)
            self._process = None
