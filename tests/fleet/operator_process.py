"""The operator as a process of its own, as a Deployment would run it."""

import os
import signal
import sys
from pathlib import Path
from typing import Final

from localcluster.cluster import free_ports
from localcluster.processes import Command, Process, start_process

#: Fail-over in a test should take seconds; the defaults are for clusters.
LEASE: Final = ("--lease-seconds=5", "--renew-seconds=3.5", "--retry-seconds=1")

TESTS: Final = Path(__file__).resolve().parents[1]
PROGRAMS: Final = (str(TESTS), str(TESTS.parent / "operator"))


class OperatorProcess:
    """One replica. `start` may be called again after `kill`: the next leader."""

    def __init__(
        self,
        kubeconfig: Path,
        namespace: str,
        folder: Path,
        name: str = "operator-0",
        module: str = "weightrollout.controller",
    ) -> None:
        self.name = name
        self._module = module
        self._kubeconfig = kubeconfig
        self._namespace = namespace
        self._folder = folder
        self._starts = 0
        self._process: Process | None = None
        self.http = ""

    @property
    def log(self) -> Path:
        return self._folder / f"{self.name}-{self._starts}.log"

    def start(self) -> None:
        self._starts += 1
        (port,) = free_ports(1)
        self.http = f"http://127.0.0.1:{port}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = start_process(
            Command(
                [
                    sys.executable,
                    "-m",
                    self._module,
                    f"--namespace={self._namespace}",
                    f"--kubeconfig={self._kubeconfig}",
                    f"--http-bind=127.0.0.1:{port}",
                    *LEASE,
                ],
                {**os.environ, "POD_NAME": self.name, "PYTHONPATH": os.pathsep.join(PROGRAMS)},
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

    def kill(self, sign: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.signal(sign)

    async def stop(self, grace_s: float = 10.0) -> None:
        if self._process is not None:
            await self._process.stop(grace_s)
            self._process = None
