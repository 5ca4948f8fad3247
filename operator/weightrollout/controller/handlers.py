"""kopf's part: it watches the WeightRollouts and wakes us. No rule lives here.

kopf writes nothing: no finalizer, no annotation, no event, no peering object.
"""

import logging
from collections.abc import Callable, Iterator

import aiohttp
import kopf

from weightrollout.api.names import API_VERSION, GROUP, KIND, PLURAL, VERSION
from weightrollout.kube.client import Json
from weightrollout.kube.connection import Connection
from weightrollout.kube.rollouts import Rollouts, key_of_body


class Forever:
    """Back-offs without an end: an API server that is away for an hour must not end the operator."""

    def __iter__(self) -> Iterator[float]:
        delay_s = 0.25
        while True:
            yield delay_s
            delay_s = min(delay_s * 2, 15.0)


def settings() -> kopf.OperatorSettings:
    chosen = kopf.OperatorSettings()
    chosen.posting.enabled = False
    chosen.peering.standalone = True
    chosen.scanning.disabled = (
        True  # needs rights on namespaces and CRDs, and waits when it has none
    )
    chosen.watching.server_timeout = 300  # a whole number, else the API server answers 400
    chosen.watching.connect_timeout = 5
    chosen.networking.request_timeout = 30
    chosen.networking.connect_timeout = 5
    chosen.networking.error_backoffs = Forever()
    chosen.queueing.idle_timeout = 0.5
    chosen.process.ultimate_exiting_timeout = None  # else it kills us when it fails by itself
    logging.getLogger("kopf.objects").setLevel(logging.WARNING)  # a line for every event else
    # Who runs kopf says in a line why it ended; here it would be several traces.
    for part in ("running", "orchestration"):
        logging.getLogger(f"kopf._core.reactor.{part}").setLevel(logging.CRITICAL)
    return chosen


def registry(
    deliver: Callable[[kopf.RawEvent], None],
    connection: Connection,
    traces: list[aiohttp.TraceConfig],
) -> kopf.OperatorRegistry:
    """Our own, so that nothing is global. `traces` see every request of kopf."""
    handlers = kopf.OperatorRegistry()

    @kopf.on.login(registry=handlers)
    async def login(**_: object) -> kopf.AiohttpSession:
        return kopf.AiohttpSession(
            server=connection.api.configuration.host,
            aiohttp_session=await connection.session(traces),
        )

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=handlers)
    async def rollout_changed(event: kopf.RawEvent, **_: object) -> None:
        deliver(event)

    return handlers


def take(rollouts: Rollouts, event: kopf.RawEvent) -> None:
    """Any event only wakes its rollout; the pass reads the truth again."""
    body: Json = {"apiVersion": API_VERSION, "kind": KIND, **event["object"]}
    if event["type"] == "DELETED":
        rollouts.forget(key_of_body(body), body["metadata"]["uid"])
    else:
        rollouts.learn(body)
