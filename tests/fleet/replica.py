"""One replica of the operator that a test can freeze in an action, thaw, cut off and question."""

import os
import re
import signal
from pathlib import Path
from typing import Final

import aiohttp

from fleet import wrapped_operator
from fleet.operator_process import OperatorProcess, OperatorRun
from localcluster.waiting import eventually

TESTS: Final = Path(__file__).resolve().parents[1]
#: Fast, and still patient with a busy machine; a lost Lease only costs an epoch.
LEASE: Final = ("--lease-seconds=3", "--renew-seconds=2.4", "--retry-seconds=0.5")
MODULE: Final = "fleet.wrapped_operator"
SOON_S: Final = 30.0


class Replica:
    """Started by `start`; `process` is the operator itself."""

    def __init__(
        self,
        name: str,
        kubeconfig: Path,
        namespace: str,
        folder: Path,
        *,
        deaf: bool = False,
        wall_shift_s: float = 0.0,
        lease: tuple[str, ...] = LEASE,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        self._freeze = folder / f"{name}.freeze"
        path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
        environment = {"PYTHONPATH": path, wrapped_operator.FREEZE: str(self._freeze)}
        if deaf:
            environment[wrapped_operator.DEAF] = "1"
        if wall_shift_s:
            environment[wrapped_operator.WALL_SHIFT_S] = str(wall_shift_s)
        self.process = OperatorProcess(
            kubeconfig,
            namespace,
            folder,
            name,
            OperatorRun(MODULE, lease, environment),
        )

    def freeze_in(self, action: str) -> None:
        """At its next such action it stops, having decided and sent nothing."""
        whole = self._freeze.with_suffix(".new")
        whole.write_text(action)
        whole.rename(self._freeze)

    async def frozen(self) -> None:
        await eventually(
            lambda: not self._freeze.exists() and self._stopped(), SOON_S, f"{self.name} is frozen"
        )

    def disarm(self) -> None:
        self._freeze.unlink(missing_ok=True)

    def thaw(self) -> None:
        self.process.kill(signal.SIGCONT)

    def _stopped(self) -> bool:
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    async def ready(self) -> None:
        async def answers() -> bool:
            return await self._get("/readyz") is not None

        await eventually(answers, SOON_S, f"{self.name} is ready", every_s=0.1)

    async def leads(self) -> bool:
        return await self.metric("weightrollout_leader") == 1

    async def metric(self, name: str, label: str = "") -> float:
        """The sum over all labels that contain `label`; 0 where it is absent or nobody answers."""
        text = await self._get("/metrics") or ""
        lines = [re.fullmatch(r"(\w+)(\{.*\})? (\S+)", line) for line in text.splitlines()]
        return sum(
            float(line[3])
            for line in lines
            if line is not None and line[1] == name and label in (line[2] or "")
        )

    def said(self, text: str) -> int:
        """How often its log says so."""
        return self.process.log.read_text(errors="replace").count(text)

    async def _get(self, path: str) -> str | None:
        """None: no 200 within a second, as from a process that is frozen or gone."""
        timeout = aiohttp.ClientTimeout(total=1)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            try:
                async with session.get(self.process.http + path) as answer:
                    return await answer.text() if answer.status == 200 else None
            except (aiohttp.ClientError, OSError, TimeoutError):
                return None


async def only_leader(*replicas: Replica) -> Replica:
    """The one that leads, once exactly one does."""

    async def one() -> Replica | None:
        leading = [each for each in replicas if await each.leads()]
        return leading[0] if len(leading) == 1 else None

    found = await eventually(one, SOON_S, "exactly one replica leads", every_s=0.1)
    assert found is not None
    return found
