"""docs/howto/rl-clients.md: what it tells a trainer to set and to call is there."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from weightrollout.agent.rl.routes import ROUTES
from weightrollout.controller.rl_door import routes

PAGE = (Path(__file__).parents[3] / "docs" / "howto" / "rl-clients.md").read_text()
REFUSED = re.split("^## What is refused", PAGE, flags=re.MULTILINE)[1]
CALLED = sorted(set(re.findall(r"`((?:control|update)/\w+)`", PAGE)))
#: Settings that `rl` of prime-rl 4a24d86e reads from the page's tables (packages/prime-rl-configs, rl.py and shared.py).
PRIME_RL = {
    "model": {"name"},
    "orchestrator.model.client": {"base_url", "api_key_var", "wait_for_ready_timeout"},
    "orchestrator.model.client.dynamo": {"discovery_url"},
    "weight_broadcast": {"type", "host", "port"},
    "deployment": {"num_train_gpus", "num_infer_gpus"},
}


def settings() -> dict[str, Any]:
    [text] = re.findall("^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return tomllib.loads(text)


def tables(found: dict[str, Any], at: str = "") -> dict[str, set[str]]:
    inner = {key: each for key, each in found.items() if isinstance(each, dict)}
    own = {at: found.keys() - inner.keys()} if found.keys() - inner.keys() else {}
    for key, each in inner.items():
        own |= tables(each, f"{at}.{key}" if at else key)
    return own


def test_settings_of_the_page_are_those_that_prime_rl_reads() -> None:
    assert tables(settings()) == PRIME_RL


def test_each_setting_is_explained() -> None:
    for names in PRIME_RL.values():
        for name in names - {"type", "num_train_gpus"}:
            assert re.search(rf"^\| [^|]*`(\w+\.)?{name}`", PAGE, re.MULTILINE), name


async def test_discovery_url_of_the_page_leads_to_one_fleet() -> None:
    url = settings()["orchestrator"]["model"]["client"]["dynamo"]["discovery_url"]
    path = re.sub(r"^https://[^/]+", "", url) + "/v1/rl/workers"  # as prime-rl makes it
    app = web.Application()
    app.add_routes(routes(answer))
    found = await app.router.resolve(make_mocked_request("GET", path))
    assert dict(found) == {"namespace": "ml", "name": "chat"}


async def answer(_: web.Request) -> web.Response:
    return web.Response()


@pytest.mark.parametrize("call", CALLED)
def test_each_call_that_a_client_makes_is_served(call: str) -> None:
    assert call in {each.name for each in ROUTES}


def test_native_prime_rl_finds_all_that_it_needs() -> None:
    assert len(CALLED) == 9


def test_what_is_refused_is_not_served() -> None:
    for path in re.findall(r"^\| `(/\w+)`", REFUSED, re.MULTILINE):
        assert path not in {each.alias for each in ROUTES}
