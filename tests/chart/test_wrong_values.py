"""A value that cannot work is refused before anything is created, by its name."""

import pytest

from helm.chart import SETS, template

WRONG = {
    "--set=image.repository=": "image.repository",
    "--set=image.tag=a tag": "image.tag",
    "--set=image.digest=latest": "image.digest",
    "--set=image.pullPolicy=Sometimes": "image.pullPolicy",
    "--set=replicas=two": "replicas",
    "--set=replicas=-1": "replicas",
    "--set=replica=2": "replica",
    "--set=lease.seconds=0": "lease.seconds",
    "--set=lease.renewSeconds=20": "lease: seconds must be more than renewSeconds",
    "--set=lease.retrySeconds=10": "lease: seconds must be more than renewSeconds",
    "--set=agents.identity=password": "agents.identity",
    "--set=agents.identity=certificate": "agents.tls.secretName",
    "--set=agents.tls.serverName=agents.example": "agents.tls.secretName",
    "--set=agents.tls.secretName=A B": "agents.tls.secretName",
    "--set=analysis.allowedHosts={http://prometheus}": "analysis.allowedHosts",
    "--set=analysis.allowedHosts={*.example}": "analysis.allowedHosts",
    "--set=analysis.prometheusAddress=prometheus:9090": "analysis.prometheusAddress",
    "--set=analysis.webhook.key=../key": "analysis.webhook.key",
    "--set=discovery.enabled=true": "discovery.token.secretName",
    "--set=discovery.enabled=true,discovery.token.secretName=t": "discovery.tls.secretName",
    "--set=discovery.enabled=true,discovery.token.secretName=t,discovery.tls.secretName=c,"
    "discovery.port=8080": "discovery.port and port",
    "--set=discovery.port=80": "discovery.port",
    "--set=discovery.token.key=../token": "discovery.token.key",
    "--set=discovery.token=secret": "discovery.token",
    "--set=discovery.certificate=c": "certificate",
    "--set=networkPolicy.engines.trainerPort=0": "networkPolicy.engines.trainerPort",
    "--set=log.level=TRACE": "log.level",
    "--set=log.format=xml": "log.format",
    "--set=port=80": "port",
    "--set=resources.limits.memory=plenty": "resources.limits.memory",
    "--set=crds.instal=true": "instal",
    "--set=rbac.clusterRole=maybe": "rbac.clusterRole",
    "--set=networkPolicy.operator.apiServerPorts={}": "networkPolicy.operator.apiServerPorts",
    "--set=networkPolicy.operator.agentPort=0": "networkPolicy.operator.agentPort",
    "--set=networkPolicy.engines.servingPorts={http}": "networkPolicy.engines.servingPorts",
    "--set=sources.enabled=true": "sources.allowed",
    "--set=sources.allowed={file:///models}": "sources.allowed",
    "--set=sources.allowed={s3://bucket}": "sources.allowed",
    "--set=sources.allowed={ftp://bucket/}": "sources.allowed",
    "--set=sources.allowed={file:///a'\\,'/}": "sources.allowed",
    '--set-json=signatures.required={"team":[]}': "signatures.required.team",
    '--set-json=signatures.required={"Team":[{"key":"x"}]}': "signatures.required",
    '--set-json=signatures.required={"team":[{"key":"x"}]}': "signatures.required.team.0.key",
    '--set-json=signatures.required={"team":[{"identity":"x"}]}': "identity",
    '--set-json=signatures.required={"team":[{}]}': "signatures.required.team.0",
    "--set=scope=world": "scope",
    "--set=scope=cluster,rbac.clusterRole=false": "scope: cluster needs rbac.clusterRole",
    "--set=scope=cluster,networkPolicy.engines.enabled=true": "networkPolicy.engines.namespaces",
    "--set=networkPolicy.engines.namespaces={Team}": "networkPolicy.engines.namespaces",
    "--set=metrics.serviceMonitor.interval=often": "metrics.serviceMonitor.interval",
}


@pytest.mark.parametrize(("wrong", "name"), WRONG.items())
def test_wrong_value_is_refused_and_named(wrong: str, name: str) -> None:
    said = template(SETS["minimal"], wrong)

    assert not said.ok
    # As a JSON pointer or with dots, by the version of the library in helm.
    assert name in said.error.replace("/", "."), said.error


def test_image_has_no_default_and_that_is_said(tmp_path: object) -> None:
    said = template(SETS["minimal"], "--set=image=null")

    assert not said.ok
    assert "image" in said.error
