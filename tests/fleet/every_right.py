"""A life in which an operator needs every right that the chart gives it, and what it asked for meanwhile."""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

import aiohttp

from apiproxy.faults import Call, Refuse
from apiproxy.proxy import ApiProxy
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.spec import WeightRolloutSpec

HISTORY: Final = WeightRolloutSpec().revision_history_limit
DONE_S: Final = 90.0
Right = tuple[str, str, str]  # API group, resource with its subresource, verb

#: Of an object's path: group and version, then what lies in a namespace or belongs to none.
PATH: Final = re.compile(
    r"^/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<part>[^/]+))?)?$"
)
VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
CREATED: Final = 201
FORBIDDEN: Final = 403


async def rolls_through(world: World, versions: Iterable[str], written: dict[str, Any]) -> None:
    """The fleet chat, to one version after the other."""
    for version in versions:
        weights = {"version": version, "uri": written[version].uri}
        await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
        await world.until_phase("chat", "Complete", DONE_S)


async def somebody_else_writes(world: World, proxy: ApiProxy) -> None:
    """Between what the operator read and what it writes: it reads again."""
    with proxy.fault(Refuse(reports, 409, "Conflict")) as conflict:
        await world.apply(weight_rollout("idle", {"version": "v0", "uri": "file:///models/v0/"}))
        await eventually(lambda: conflict.hits, DONE_S, "a status was refused")


def reports(call: Call) -> bool:
    return call.verb == "PATCH" and call.path.endswith("/idle/status")


async def history_overflows(world: World) -> None:
    """More versions than are kept, of a rollout without pods; and one that is desired for a second time."""
    for number in (*range(HISTORY + 3), HISTORY + 1):
        version = f"v{number}"
        weights = {"version": version, "uri": f"file:///models/{version}/"}
        await world.apply(weight_rollout("idle", weights))
        await world.until(
            "idle",
            partial(desires, version),
            DONE_S,
            f"{version} is desired",
        )


def desires(version: str, said: dict[str, Any]) -> bool:
    return bool(said["desired"]["version"] == version)


async def fleet_goes(world: World) -> None:
    namespaced = f"/namespaces/{world.namespace}"
    await world.api.delete(f"/apis/{names.API_VERSION}{namespaced}/{names.PLURAL}/chat")
    await world.api.delete(f"/apis/apps/v1{namespaced}/statefulsets/chat")


def rights_of(rules: Iterable[dict[str, Any]]) -> set[Right]:
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(proxy: ApiProxy) -> set[Right]:
    """All that was asked for, as far as it was granted; nothing was refused for want of a right."""
    forbidden = [call for call, status in proxy.answers if status == FORBIDDEN]
    assert not forbidden, forbidden[:5]
    return {right for call, status in proxy.answers for right in asked(call, status)}


def resource_of(found: re.Match[str]) -> str:
    """With its subresource, as a rule names it."""
    return "/".join(filter(None, (found["resource"], found["part"])))


def asked(call: Call, status: int) -> Iterator[Right]:
    """What the API server's authorizer was asked for. A server-side apply that creates asks for both."""
    found = PATH.match(call.path)
    if found is None:
        return  # discovery: open to everybody who is known
    resource = resource_of(found)
    reading = {"WATCH": "watch", "GET": "get" if found["name"] else "list"}
    yield found["group"] or "", resource, {**VERBS, **reading}[call.verb]
    if call.verb == "PATCH" and status == CREATED:
        yield found["group"] or "", resource, "create"


async def count_of_forbidden(operator: OperatorProcess) -> float:
    """As its own metric counts, by which an alert of the chart is given."""
    async with aiohttp.ClientSession() as session, session.get(f"{operator.http}/metrics") as said:
        lines = (await said.text()).splitlines()
    return sum(
        float(line.split()[-1])
        for line in lines
        if line.startswith("weightrollout_api_requests_total{") and 'code="403"' in line
    )
