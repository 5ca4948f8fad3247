"""The engine's probes and its end, asked of the agent: where the kubelet cannot ask the engine itself, and before it ends it."""

import math
from typing import Any, Final

from weightrollout.api import names
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.cli.inject.edits import Edits, Key
from weightrollout.cli.inject.engine import Access
from weightrollout.cli.inject.report import Json, Reason, Report

#: Of a container's probes: what the agent answers in the engine's place.
RELAYED: Final = {"livenessProbe": "/livez", "startupProbe": "/startupz"}
ACTIONS: Final = ("httpGet", "tcpSocket", "grpc", "exec")
#: An agent that crashes is started again after five minutes at most: no engine may be ended for its agent's absence.
AGENT_AWAY_S: Final = 360
#: Kubernetes' own.
DEFAULTS: Final = {"initialDelaySeconds": 0, "periodSeconds": 10, "failureThreshold": 3}
DEFAULT_GRACE_S: Final = 30
#: Of the pod's grace: for the engine's own end after SIGTERM, which comes when the hook was answered.
ENDS_S: Final = 5
#: With drainSeconds: a swap that has started is finished, too.
PAUSE_S: Final = 10


def edit(
    edits: Edits, here: tuple[Key, ...], container: Json, access: Access, report: Report
) -> None:
    """Probes where the kubelet can't ask the engine; the hook in any case."""
    if access.closed:
        _relay(edits, here, container, report)
    _hook(edits, here, container, report)


def is_left(container: Json, name: str, access: Access) -> bool:
    """Whether that probe goes on asking the engine from outside its container."""
    return bool(container.get(name)) and not access.closed and "exec" not in container[name]


def probe_text(probe: Json) -> str:
    """`httpGet /health :8000`."""
    kind = next((each for each in (*ACTIONS, "sleep") if probe.get(each)), "?")
    asked = probe.get(kind) or {}
    parts = [kind, str(asked.get("path") or ""), f":{asked['port']}" if "port" in asked else ""]
    return " ".join(each for each in parts if each)


def _relay(edits: Edits, here: tuple[Key, ...], container: Json, report: Report) -> None:
    # A command runs inside the container, and reaches it.
    own = {name: container.get(name) for name in RELAYED}
    blind = {name: probe for name, probe in own.items() if probe and not probe.get("exec")}
    for name, before in blind.items():
        asked = probe_text(before)
        path = RELAYED[name]
        after = _asking(path, before)
        if name == "livenessProbe":
            _start_first(edits, here, container, before, report)
            after["failureThreshold"] = _threshold(after, AGENT_AWAY_S)
        edits.put((*here, name), after)
        report.changed.append(f"{name}: {path} of the agent, in place of {asked}")


def _asking(path: str, before: Json) -> Json:
    kept = {key: value for key, value in before.items() if key not in ACTIONS}
    return {"httpGet": {"path": path, "port": names.DEFAULT_HTTP_PORT}, **kept}


def _start_first(
    edits: Edits, here: tuple[Key, ...], container: Json, liveness: Json, report: Report
) -> None:
    """An engine that loads is silent, too: only a startup probe tells it from one that hangs."""
    if container.get("startupProbe"):
        return
    period_s = _number(liveness, "periodSeconds")
    patience_s = (
        _number(liveness, "initialDelaySeconds") + _number(liveness, "failureThreshold") * period_s
    )
    probe = {
        "httpGet": {"path": RELAYED["startupProbe"], "port": names.DEFAULT_HTTP_PORT},
        "periodSeconds": period_s,
        "failureThreshold": math.ceil(patience_s / period_s),
    }
    edits.put((*here, "startupProbe"), probe)
    report.changed.append(
        f"startupProbe: {RELAYED['startupProbe']} of the agent, for {patience_s} s as the"
        " livenessProbe had it"
    )


def _threshold(probe: Json, least_s: int) -> int:
    needed = math.ceil(least_s / _number(probe, "periodSeconds"))
    return max(_number(probe, "failureThreshold"), needed)


def _number(probe: Json, key: str) -> int:
    found = probe.get(key)
    least = 0 if key == "initialDelaySeconds" else 1
    return max(least, int(found)) if isinstance(found, int) and found else DEFAULTS[key]


def _hook(edits: Edits, here: tuple[Key, ...], container: Json, report: Report) -> None:
    before: Any = (container.get("lifecycle") or {}).get("preStop")
    grace_s = _grace_s(edits)
    if before:
        report.could_not_know(
            Reason.PRE_STOP_KEPT,
            f"preStop ({probe_text(before)}) stays: the agent hears of the pod's end only when its engine"
            " has ended, and a swap under way is cut",
            "take it out and inject again, or let it ask /prestop of the agent, too",
        )
        return
    seconds = max(1, grace_s - min(ENDS_S, grace_s // 2))
    get = {"path": f"/prestop?seconds={seconds}", "port": names.DEFAULT_HTTP_PORT}
    edits.put((*here, "lifecycle", "preStop"), {"httpGet": get})
    report.changed.append(f"preStop: /prestop of the agent, for at most {seconds} s")
    wanted_s = WeightRolloutSpec().swap.drain_seconds + PAUSE_S
    if grace_s < wanted_s:
        report.could_not_know(
            Reason.GRACE_SHORT,
            f"terminationGracePeriodSeconds is {grace_s}: requests that take longer than {seconds} s are cut"
            " when their pod ends",
            f"{wanted_s} or more, as swap.drainSeconds lets them have {wanted_s - PAUSE_S} s",
        )


def _grace_s(edits: Edits) -> int:
    found = edits.get("spec", "terminationGracePeriodSeconds")
    return found if isinstance(found, int) and found >= 0 else DEFAULT_GRACE_S
