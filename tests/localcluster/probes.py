"""Ask a container how it is, as the kubelet does: httpGet, tcpSocket, exec; counted against thresholds, period by period."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from localcluster.manifest import ConfigError

Json = dict[str, Any]

PROBE_AGENT: Final = "kube-probe/1.34"
HOOK_AGENT: Final = "kube-lifecycle/1.34"
UNVERIFIED: Final = ssl.create_default_context()
UNVERIFIED.check_hostname = False
UNVERIFIED.verify_mode = ssl.CERT_NONE


@dataclass(frozen=True)
class Answer:
    """What one probe found; `message` says why it failed."""

    passed: bool
    message: str = ""


class Target(Protocol):
    """The container a probe or hook is for."""

    @property
    def pod_ip(self) -> str:
        """Where it is, when the probe names no host."""

    def port(self, port: int | str) -> int:
        """The number of a port; LookupError for an unknown name."""

    async def execute(self, command: list[str], log: Path | None, deadline_s: float) -> int:
        """Run a command in it and return its exit code; TimeoutError ends the command."""


class Prober:
    """Asks; use as many as there are nodes, within one event loop."""

    def __init__(self) -> None:
        """A new connection for each probe, as the kubelet does: a kept one would hide a listener that is gone."""
        connector = aiohttp.TCPConnector(force_close=True, limit=0, ssl=UNVERIFIED)
        self._session = aiohttp.ClientSession(connector=connector, trust_env=False)

    async def close(self) -> None:
        """Drop the connections."""
        await self._session.close()

    async def ask(self, probe: Json, target: Target, agent: str = PROBE_AGENT) -> Answer:
        """One probe, or a hook of the same form, within its timeoutSeconds."""
        deadline_s = float(probe.get("timeoutSeconds") or 1)
        try:
            async with asyncio.timeout(deadline_s):
                return await self._act(probe, target, deadline_s, agent)
        except TimeoutError:
            return Answer(passed=False, message=f"no answer within {deadline_s:g} s")
        except (aiohttp.ClientError, OSError, LookupError, ConfigError) as failed:
            return Answer(passed=False, message=str(failed) or repr(failed))

    async def _act(self, probe: Json, target: Target, deadline_s: float, agent: str) -> Answer:
        if (http := probe.get("httpGet")) is not None:
            return await self._http(http, target, agent)
        if (tcp := probe.get("tcpSocket")) is not None:
            _, writer = await asyncio.open_connection(
                tcp.get("host") or target.pod_ip, target.port(tcp["port"])
            )
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return Answer(passed=True)
        if (run := probe.get("exec")) is not None:
            code = await target.execute(run["command"], None, deadline_s)
            return Answer(code == 0, f"exit code {code}")
        raise ConfigError(f"the virtual node does not do such a probe or hook: {', '.join(probe)}")

    async def _http(self, http: Json, target: Target, agent: str) -> Answer:
        scheme = (http.get("scheme") or "HTTP").lower()
        path = http.get("path") or "/"
        host = http.get("host") or target.pod_ip
        url = f"{scheme}://{host}:{target.port(http['port'])}{path if path.startswith('/') else '/' + path}"
        headers = {"User-Agent": agent, "Accept": "*/*"}
        headers |= {header["name"]: header["value"] for header in http.get("httpHeaders") or []}
        async with self._session.get(url, headers=headers) as answer:
            return Answer(200 <= answer.status < 400, f"HTTP {answer.status}")

    async def watch(self, probe: Json, target: Target, decide: Callable[[Answer], None]) -> None:
        """Probe for ever; call `decide` each time a threshold is reached (again). Cancel it when the container ends."""
        period_s = float(probe.get("periodSeconds") or 10)
        needed = {
            True: int(probe.get("successThreshold") or 1),
            False: int(probe.get("failureThreshold") or 3),
        }
        run_of, last = 0, None
        loop = asyncio.get_running_loop()
        await asyncio.sleep(float(probe.get("initialDelaySeconds") or 0))
        tick = loop.time()
        while True:
            answer = await self.ask(probe, target)
            run_of = run_of + 1 if answer.passed == last else 1
            last = answer.passed
            if run_of >= needed[answer.passed]:
                decide(answer)
            tick = max(tick + period_s, loop.time())
            await asyncio.sleep(tick - loop.time())
