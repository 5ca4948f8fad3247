"""A real Prometheus of Debian's package that scrapes what a test exposes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import yaml
from aiohttp import web

from debian import NotThere, program
from localcluster.waiting import eventually
from ports import ports_for_good
from tiers import unavailable

STARTS_WITHIN_S: Final = 60.0
SCRAPED_WITHIN_S: Final = 30.0


@dataclass
class RealPrometheus:
    port: int
    exposed: str = ""  # in the text format

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def shows(self, exposed: str, query: str) -> None:
        """Expose this, and wait until it was scraped: the query then selects something."""
        self.exposed = exposed
        await eventually(
            lambda: self._selects(query), SCRAPED_WITHIN_S, f"{query} selects nothing", every_s=0.1
        )

    async def _selects(self, query: str) -> bool:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{self.url}/api/v1/query", params={"query": query}) as reply,
        ):
            said = await reply.json()
        return bool(said["data"]["result"])

    async def _is_ready(self) -> bool:
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"{self.url}/-/ready") as reply,
            ):
                return reply.status == 200
        except aiohttp.ClientError:
            return False

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(text=self.exposed)


@asynccontextmanager
async def real_prometheus(folder: Path) -> AsyncIterator[RealPrometheus]:
    try:
        binary = program("prometheus", "prometheus")
    except NotThere as why:
        unavailable(f"there is no Prometheus: {why}")
    found = RealPrometheus(ports_for_good(1)[0])
    exporter = web.Application()
    exporter.router.add_get("/metrics", found._metrics)
    runner = web.AppRunner(exporter, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    config = folder / "prometheus.yaml"
    config.write_text(yaml.safe_dump(_scraping(runner.addresses[0][1])))
    with (folder / "log").open("w") as log:
        process = await asyncio.create_subprocess_exec(
            *(str(binary), f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"),
            f"--web.listen-address=127.0.0.1:{found.port}",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
        )
    try:
        await eventually(found._is_ready, STARTS_WITHIN_S, f"see {folder / 'log'}", every_s=0.1)
        yield found
    finally:
        process.terminate()
        await process.wait()
        await runner.cleanup()


def _scraping(port: int) -> dict[str, object]:
    target = {"job_name": "test", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
    return {
        "global": {"scrape_interval": "200ms", "scrape_timeout": "200ms"},
        "scrape_configs": [{**target, "honor_labels": True}],
    }
