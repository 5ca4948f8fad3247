"""Whatever kopf does with a watch that ends at once, it never asks in a tight loop. The rest is in the cluster tier."""

import asyncio
import getpass
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from apifront import api_front
from localcluster.waiting import eventually
from weightrollout.controller import wakeups as wakeups_module
from weightrollout.controller.wakeups import Pacer, Wakeups
from weightrollout.kube.rollouts import Rollouts

ROLLOUTS = "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts"


async def test_watches_that_close_at_once_are_opened_more_and_more_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups_module, "BACKOFF_S", (0.05, 0.1))
    async with api_front(tmp_path) as (front, _):
        front.fault = lambda request: web.Response(text="{}")
        loop = asyncio.get_running_loop()
        async with aiohttp.ClientSession(trace_configs=Pacer().traces()) as session:
            begun = loop.time()
            for _ in range(4):
                async with session.get(f"{front.url}{ROLLOUTS}?watch=true") as answer:
                    await answer.read()
            assert loop.time() - begun >= 0.05 + 0.1 + 0.1


async def test_user_of_a_container_needs_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 65532")

    monkeypatch.setattr(getpass, "getuser", nameless)
    async with api_front(tmp_path) as (front, client):
        # Else kopf leaves a failed task behind, whose traceback is written when it is collected: inside another test,
        # and where that is just being compiled, Python 3.11 gives up ("AST constructor recursion depth mismatch").
        front.fault = lambda request: web.json_response({"versions": [], "groups": []})
        watch = asyncio.create_task(Wakeups(client, Rollouts(client)).run())
        try:
            await eventually(lambda: front.requests, 30, "kopf asks the API server")
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
