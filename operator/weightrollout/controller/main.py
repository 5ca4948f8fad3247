"""weightrollout-operator: the command line, the log, and the exit status.

0: asked to stop. 1: a part of it died, start it again. 2: it cannot work here, the message says why.
"""

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weightrollout import __version__
from weightrollout.api.addresses import is_loopback
from weightrollout.api.names import OPERATOR_ACCOUNT
from weightrollout.clock import SystemClock
from weightrollout.controller.measuring.analyst import Analyst
from weightrollout.controller.measuring.hosts import address_of, hosts_of
from weightrollout.controller.process import Options, Process
from weightrollout.controller.rl_door import DiscoveryOptions
from weightrollout.engine.server_tls import FilesUnusable, ServerFiles
from weightrollout.engine.tls import TlsFiles
from weightrollout.kube.client import connect
from weightrollout.kube.errors import KubeError
from weightrollout.kube.lease import LeaseTimes
from weightrollout.kube.schema import schema_problem
from weightrollout.metrics import API_REQUESTS, Door, Metrics
from weightrollout.rollout.plan import plan

OK: Final = 0
DIED: Final = 1
CANNOT_WORK: Final = 2
TOKEN: Final = "token"
CERTIFICATE: Final = "certificate"

log = logging.getLogger("weightrollout")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    _log_to_stderr(options.log_format, options.log_level)
    try:
        lease = LeaseTimes(options.lease_seconds, options.renew_seconds, options.retry_seconds)
        host, port = _host_port("--http-bind", options.http_bind)
        agent_tls = _agent_tls(options)
        analyst = _analyst(options)
        discovery = _discovery(options)
    except ValueError as wrong:
        log.error("%s", wrong)
        return CANNOT_WORK
    account = options.service_account if options.agent_identity == TOKEN else None
    everywhere = options.scope == "cluster"
    how = Options(host, port, lease, everywhere, account, analyst, agent_tls, discovery)
    return asyncio.run(_run(options.namespace, options.kubeconfig, how))


async def _run(namespace: str, kubeconfig: Path | None, options: Options) -> int:
    metrics = Metrics(Door.OPERATOR)
    requests = metrics.counter(API_REQUESTS)
    try:
        async with connect(
            namespace, kubeconfig, lambda verb, code: requests.labels(verb, code).inc()
        ) as client:
            if problem := await schema_problem(client):
                log.error("%s", problem)
                return CANNOT_WORK
            where = "all namespaces" if options.everywhere else f"namespace {namespace}"
            log.info("operator %s in %s, for %s", __version__, namespace, where)
            await Process(client, SystemClock(), metrics, plan, options).run()
    except (KubeError, FilesUnusable) as error:
        log.error("%s", error)
        return CANNOT_WORK
    except Exception:
        log.exception("the operator died; starting it again is the recovery")
        return DIED
    log.info("stopped")
    return OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="weightrollout-operator", description="Rolls new weights into running vLLM pods."
    )
    parser.add_argument("--namespace", required=True, help="its own: here is its Lease")
    parser.add_argument(
        "--scope",
        choices=("namespace", "cluster"),
        default="namespace",
        help="works in its own namespace, or in all",
    )
    parser.add_argument("--kubeconfig", type=Path, help="file; default: this pod's ServiceAccount")
    parser.add_argument(
        "--http-bind", default="0.0.0.0:8080", metavar="HOST:PORT", help="probes, metrics"
    )
    parser.add_argument("--lease-seconds", type=float, default=15.0, help="others wait this long")
    parser.add_argument(
        "--renew-seconds", type=float, default=10.0, help="a leader stops itself then"
    )
    parser.add_argument("--retry-seconds", type=float, default=2.0, help="between attempts")
    agents = parser.add_argument_group("calls to agents")
    agents.add_argument(
        "--agent-identity",
        choices=(TOKEN, CERTIFICATE),
        default=TOKEN,
        help="what says who calls (default %(default)s)",
    )
    agents.add_argument(
        "--service-account", default=OPERATOR_ACCOUNT, help="its own (default %(default)s)"
    )
    agents.add_argument(
        "--agent-ca", type=Path, help="PEM: whom agents' certificates are of (default: pinned)"
    )
    agents.add_argument("--agent-certificate", type=Path, help="PEM: for mutual TLS")
    agents.add_argument("--agent-key", type=Path, help="PEM: the key of that certificate")
    agents.add_argument(
        "--agent-server-name", default="", help="DNS name in agents' certificates, if not the IP"
    )
    analyses = parser.add_argument_group("analyses of canaries")
    analyses.add_argument(
        "--analysis-host",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="that a WeightRollout may have asked; repeat it (default: none)",
    )
    analyses.add_argument(
        "--prometheus-address", metavar="URL", help="for queries that name no other"
    )
    analyses.add_argument(
        "--webhook-key-file", type=Path, metavar="FILE", help="signs webhooks; read each time"
    )
    trainers = parser.add_argument_group("workers for trainers")
    trainers.add_argument(
        "--discovery-token-file",
        type=Path,
        metavar="FILE",
        help="opens /v1/rl/workers, to whoever brings this token (Authorization: Bearer)",
    )
    trainers.add_argument(
        "--discovery-bind", default="127.0.0.1:9613", metavar="HOST:PORT", help="(%(default)s)"
    )
    trainers.add_argument("--discovery-certificate", type=Path, help="PEM; off loopback a must")
    trainers.add_argument("--discovery-key", type=Path, help="PEM: the key of that certificate")
    trainers.add_argument(
        "--discovery-transfer-backend",
        action="store_true",
        help="name each worker's weight_transfer_backend, which some clients want and others refuse",
    )
    parser.add_argument("--log-format", choices=("text", "json"), default="text")
    parser.add_argument("--log-level", choices=("DEBUG", "INFO", "WARNING"), default="INFO")
    parser.add_argument("--version", action="version", version=__version__)
    return parser


def _host_port(flag: str, bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"{flag} must be HOST:PORT, got: {bind}")
    return host.strip("[]"), int(port)


def _agent_tls(options: argparse.Namespace) -> TlsFiles | None:
    """Raises ValueError."""
    ca, certificate, key = options.agent_ca, options.agent_certificate, options.agent_key
    if (certificate is None) is not (key is None):
        raise ValueError("--agent-certificate and --agent-key: give both or none")
    if ca is None and (certificate is not None or options.agent_server_name):
        raise ValueError("--agent-ca: needed to know an agent's certificate by its authority")
    if options.agent_identity == CERTIFICATE and certificate is None:
        raise ValueError("--agent-identity certificate needs --agent-certificate and --agent-key")
    return TlsFiles(ca, certificate, key, options.agent_server_name) if ca is not None else None


def _analyst(options: argparse.Namespace) -> Analyst:
    """Raises ValueError."""
    given = options.prometheus_address
    try:
        own = address_of(given) if given is not None else None
    except ValueError as wrong:
        raise ValueError(f"--prometheus-address: {wrong}") from wrong
    return Analyst(hosts_of(options.analysis_host), own, options.webhook_key_file)


def _discovery(options: argparse.Namespace) -> DiscoveryOptions | None:
    """Raises ValueError."""
    token, certificate = options.discovery_token_file, options.discovery_certificate
    key = options.discovery_key
    if token is None:
        return None
    host, port = _host_port("--discovery-bind", options.discovery_bind)
    if (certificate is None) is not (key is None):
        raise ValueError("--discovery-certificate and --discovery-key: give both or none")
    if certificate is None and not is_loopback(host):
        raise ValueError(
            f"--discovery-bind {options.discovery_bind}: a token is shown to everybody on the way"
            " without TLS: --discovery-certificate and --discovery-key, or loopback"
        )
    files = ServerFiles(certificate, key) if certificate is not None else None
    with_backend = options.discovery_transfer_backend
    return DiscoveryOptions(host, port, token, files, with_backend)


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said)


def _log_to_stderr(style: str, level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(_JsonLines() if style == "json" else plain)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("kopf").setLevel(logging.WARNING)


if __name__ == "__main__":
    sys.exit(main())
