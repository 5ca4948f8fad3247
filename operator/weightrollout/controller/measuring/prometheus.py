"""An instant query of Prometheus' HTTP API (also Thanos, Mimir, VictoriaMetrics): one number, or why not."""

import json
import math
from typing import Any, Final
from urllib.parse import urlencode

from yarl import URL

from weightrollout.api.reasons import MeasurementReason
from weightrollout.controller.measuring.call import Limits, Reply, Unanswered, post, readable
from weightrollout.controller.measuring.hosts import Hosts

#: A vector with one series has some hundred bytes; more is a query that selects too much.
LIMITS: Final = Limits(seconds=20.0, answer_bytes=1024 * 1024)
HEADERS: Final = {"Content-Type": "application/x-www-form-urlencoded"}


async def query(hosts: Hosts, address: URL, text: str, limits: Limits = LIMITS) -> float:
    """A finite number. Raises Unanswered."""
    form = urlencode({"query": text, "timeout": f"{limits.seconds:g}s"}).encode()
    reply = await post(hosts, address / "api" / "v1" / "query", form, HEADERS, limits)
    return _number(_data(reply))


def _data(reply: Reply) -> Any:
    try:
        said = json.loads(reply.body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        if reply.status != 200:
            message = f"HTTP {reply.status}: {readable(reply.body)}"
            raise Unanswered(MeasurementReason.HTTP_ERROR, message)
        message = f"not the answer of a Prometheus: {readable(reply.body)}"
        raise Unanswered(MeasurementReason.NOT_UNDERSTOOD, message)
    if said.get("status") == "error":
        message = readable(f"{said.get('errorType')}: {said.get('error')}")
        raise Unanswered(MeasurementReason.QUERY_REFUSED, message)
    if reply.status != 200:
        raise Unanswered(MeasurementReason.HTTP_ERROR, f"HTTP {reply.status}")
    return said.get("data")


def _number(data: Any) -> float:
    kind = data.get("resultType") if isinstance(data, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    if kind == "vector" and isinstance(result, list):
        if not result:
            raise Unanswered(MeasurementReason.NO_DATA, "the query selects nothing")
        if len(result) > 1:
            message = f"the query gives {len(result)} series: aggregate them, such as with sum(...)"
            raise Unanswered(MeasurementReason.SEVERAL_SERIES, message)
        sample = result[0].get("value") if isinstance(result[0], dict) else None
    elif kind == "scalar":
        sample = result
    else:
        message = f"the query gives a {readable(str(kind))}, not a scalar or a vector"
        raise Unanswered(MeasurementReason.NOT_UNDERSTOOD, message)
    return _finite(sample)


def _finite(sample: Any) -> float:
    """Of [time, "value"]. A series of native histograms has none."""
    if not (isinstance(sample, list) and len(sample) == 2 and isinstance(sample[1], str)):
        raise Unanswered(MeasurementReason.NOT_UNDERSTOOD, "the series has no plain number")
    try:
        value = float(sample[1])
    except ValueError as wrong:
        message = f"not a number: {readable(sample[1])}"
        raise Unanswered(MeasurementReason.NOT_UNDERSTOOD, message) from wrong
    if not math.isfinite(value):
        raise Unanswered(MeasurementReason.NOT_A_NUMBER, f"the query gives {sample[1]}")
    return value
