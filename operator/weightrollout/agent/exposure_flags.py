"""Flags about the control port's other side: which addresses the pod has, and whether an open port is known."""

import argparse
import ipaddress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.exposure import ControlPort
from weightrollout.agent.exposure_http import GUARDED, NOT_NEEDED, ON_LOOPBACK, SIDECAR, RlRoutes
from weightrollout.engine.tls import TlsFiles


@dataclass(frozen=True, slots=True)
class PodAddress:
    pod_ip: str = ""  # one, or several with commas, as status.podIPs; "": not checked
    acknowledged: bool = False

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(each.strip() for each in self.pod_ip.split(",") if each.strip())


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pod-ip",
        default="",
        help="address of the pod, or several with commas: where the engine's control port, or an RL route of its"
        " HTTP port, answers on one, swaps are refused (ControlPortExposed); without it nothing is asked",
    )
    parser.add_argument(
        "--acknowledge-exposed-control-port",
        action="store_true",
        help="the control port is open on the pod's address, and something else keeps strangers away",
    )


def take(arguments: dict[str, Any]) -> PodAddress:
    """Out of the parsed arguments, which then no longer have them."""
    names = ("pod_ip", "acknowledge_exposed_control_port")
    return PodAddress(*(arguments.pop(name) for name in names))


def refusal(pod: PodAddress) -> str | None:
    """Names the flag."""
    for address in pod.addresses:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return f"--pod-ip {pod.pod_ip}: {address} is no IP address"
    return None


def door(pod: PodAddress, engine_grpc: str, service: str, access: EngineAccess) -> ControlPort:
    host, _, port = engine_grpc.rpartition(":")
    return ControlPort(_tried(pod), int(port), service, _tls(access, host.strip("[]")))


def http_door(pod: PodAddress, engine_http: str, access: EngineAccess) -> RlRoutes:
    """Of an engine whose agent calls the RL routes itself."""
    return _routes(pod, engine_http, access, GUARDED)


def development_door(pod: PodAddress, engine_http: str, access: EngineAccess) -> RlRoutes:
    """The same routes beside vllm.Control: development mode opens them in the Rust frontend, too."""
    return _routes(pod, engine_http, access, NOT_NEEDED)


def _routes(pod: PodAddress, engine_http: str, access: EngineAccess, ways_out: str) -> RlRoutes:
    url = urlsplit(engine_http)
    port = url.port or (443 if url.scheme == "https" else 80)
    return RlRoutes(_tried(pod), port, _tls(access, url.hostname or ""), ways_out)


def sidecar_door(pod: PodAddress, sidecar: str) -> RlRoutes:
    return RlRoutes(_tried(pod), urlsplit(sidecar).port or 80, None, ON_LOOPBACK, SIDECAR)


def _tried(pod: PodAddress) -> tuple[str, ...]:
    return () if pod.acknowledged else pod.addresses


def _tls(access: EngineAccess, host: str) -> TlsFiles | None:
    tls = access.tls
    if tls is not None and not tls.server_name:
        return replace(tls, server_name=host)  # the certificate is of where it is called
    return tls
