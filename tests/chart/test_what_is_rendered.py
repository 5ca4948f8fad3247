"""The chart as Helm renders it: lint, goldens, and what no edit may lose."""

import subprocess
import sys
from typing import Any

import pytest
import yaml

from fleet import rbac
from helm.chart import (
    CHART,
    NAMESPACE,
    ROOT,
    SETS,
    golden,
    golden_text,
    helm,
    of_kind,
    one,
    rendered,
    template,
)
from weightrollout import __version__
from weightrollout.api import names
from weightrollout.api.generate import CRD_FILE
from weightrollout.kube.lease import LEASE_NAME

MINIMAL, EVERYTHING, EVERYWHERE = (SETS[each] for each in ("minimal", "everything", "everywhere"))

every_set = pytest.mark.parametrize("name", SETS)


@every_set
def test_lint_finds_nothing_to_say(name: str) -> None:
    said = helm("lint", "--strict", str(CHART), f"--values={SETS[name]}")

    assert said.ok, said.out + said.error


@every_set
def test_what_is_rendered_changes_only_where_a_person_has_seen_it(name: str) -> None:
    assert golden_text(name) == golden(name).read_text(), "look at it, then: make goldens"


def test_no_golden_is_left_of_a_set_that_is_gone() -> None:
    assert {path.stem for path in golden("minimal").parent.glob("*.yaml")} == SETS.keys()


def test_schema_in_the_cluster_is_the_one_the_operator_asks_for_and_survives_uninstall() -> None:
    (ours,) = yaml.safe_load_all(CRD_FILE.read_text())

    installed = one(rendered(MINIMAL), "CustomResourceDefinition")

    assert installed["spec"] == ours["spec"]
    annotations = installed["metadata"]["annotations"]
    assert annotations == {
        **ours["metadata"]["annotations"],
        "helm.sh/resource-policy": "keep",
    }


def test_only_the_owner_of_the_schema_brings_what_is_one_for_the_whole_cluster() -> None:
    objects = rendered(SETS["roles-only"])

    assert not of_kind(objects, "CustomResourceDefinition")
    assert not [each for each in objects if each["kind"].startswith("Cluster")]


@every_set
def test_operator_is_given_what_rights_yaml_lists_and_nothing_else(name: str) -> None:
    objects = rendered(SETS[name])

    operators = [
        each
        for each in objects
        if each["kind"] in ("Role", "ClusterRole")
        and each["metadata"]["name"].startswith("weightrollout-operator")
    ]

    expected = list(rbac.OF_ALL if name in ("everywhere", "signatures") else rbac.OF_ONE_NAMESPACE)
    if name == "everything":
        expected[0] = (*rbac.WHERE_IT_WORKS, *rbac.EVICTING, *rbac.OWN)
    if name == "roles-only":
        expected.pop()
    by_kind = sorted(operators, key=lambda each: str(each["kind"]), reverse=True)
    assert [tuple(each["rules"]) for each in by_kind] == expected


@every_set
def test_nobody_may_delete_a_pod_and_evict_one_only_where_the_values_say_so(name: str) -> None:
    rules = [
        rule
        for each in rendered(SETS[name])
        if each["kind"] in ("Role", "ClusterRole")
        for rule in each["rules"]
    ]

    assert not [rule for rule in rules if "pods" in rule["resources"] and "delete" in rule["verbs"]]
    evicting = [rule for rule in rules if "pods/eviction" in rule["resources"]]
    assert bool(evicting) == (name == "everything")


@every_set
def test_nobody_is_given_a_wildcard(name: str) -> None:
    rules = [
        rule
        for each in rendered(SETS[name])
        if each["kind"] in ("Role", "ClusterRole")
        for rule in each["rules"]
    ]

    assert rules
    for rule in rules:
        assert not any("*" in text for texts in rule.values() for text in texts), rule


def test_what_the_rights_name_is_the_operators_own() -> None:
    named = {
        rule["resources"][0]: rule["resourceNames"]
        for rule in (*rbac.WHERE_IT_WORKS, *rbac.EVICTING, *rbac.OWN, *rbac.CLUSTER_WIDE)
        if "resourceNames" in rule
    }

    crd = f"{names.PLURAL}.{names.GROUP}"
    assert named == {
        "leases": [LEASE_NAME],
        "customresourcedefinitions": [crd],
        "serviceaccounts/token": [names.OPERATOR_ACCOUNT],
    }


@every_set
def test_operator_asks_for_tokens_of_the_account_that_it_runs_as(name: str) -> None:
    objects = rendered(SETS[name])
    account = one(objects, "ServiceAccount")["metadata"]["name"]

    assert account == names.OPERATOR_ACCOUNT
    assert one(objects, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"] == account
    assert f"--service-account={account}" in container(objects)["args"]


def test_certificates_are_read_where_they_are_mounted() -> None:
    objects = rendered(EVERYTHING)
    mounts = container(objects)["volumeMounts"]
    (mount,) = (each for each in mounts if each["name"] == "agents-tls")
    volumes = one(objects, "Deployment")["spec"]["template"]["spec"]["volumes"]
    assert mount["readOnly"]
    assert {each["name"] for each in volumes} == {each["name"] for each in mounts}
    paths = dict(each.partition("=")[::2] for each in container(objects)["args"])
    for flag in ("--agent-ca", "--agent-certificate", "--agent-key"):
        assert paths[flag].startswith(f"{mount['mountPath']}/")


def test_key_of_webhooks_is_read_where_it_is_mounted() -> None:
    objects = rendered(EVERYTHING)
    (flag,) = (
        each for each in container(objects)["args"] if each.startswith("--webhook-key-file=")
    )
    mounts = container(objects)["volumeMounts"]
    (mount,) = (each for each in mounts if each["name"] == "webhook-key")
    assert flag == f"--webhook-key-file={mount['mountPath']}/key"


def test_operator_may_ask_nobody_unless_somebody_says_so() -> None:
    said = [each for each in container(rendered(MINIMAL))["args"] if "analysis" in each]
    assert not said
    assert "--analysis-host=judge.example" in container(rendered(EVERYTHING))["args"]


@every_set
def test_operator_understands_every_flag_it_is_started_with(name: str) -> None:
    arguments = container(rendered(SETS[name]))["args"]

    said = subprocess.run(
        [sys.executable, "-m", "weightrollout.controller", *arguments, "--help"],
        cwd=ROOT / "operator",
        capture_output=True,
        text=True,
        check=False,
    )

    assert said.returncode == 0, said.stderr


@every_set
def test_one_port_is_bound_probed_and_let_through(name: str) -> None:
    objects = rendered(SETS[name])
    found = container(objects)

    port, *others = found["ports"]
    assert [each["name"] for each in others] == (["discovery"] if name == "everything" else [])
    probes = [found[f"{each}Probe"]["httpGet"]["port"] for each in ("startup", "liveness")]
    assert {*probes, found["readinessProbe"]["httpGet"]["port"]} == {port["name"]}
    assert any(each.endswith(f":{port['containerPort']}") for each in found["args"])


def test_agents_are_reached_where_they_listen() -> None:
    policies = {
        each["metadata"]["name"]: each["spec"]
        for each in of_kind(rendered(EVERYTHING), "NetworkPolicy")
    }

    (*_, to_agents) = policies["weightrollout-operator"]["egress"]
    from_operator = policies["weightrollout-engines"]["ingress"][1]
    assert ports(to_agents) == ports(from_operator) == [names.DEFAULT_GRPC_PORT]
    assert ports(policies["weightrollout-engines"]["ingress"][2]) == [names.DEFAULT_HTTP_PORT]


def test_discovery_is_shut_unless_somebody_opens_it() -> None:
    objects = rendered(MINIMAL)
    assert not [each for each in container(objects)["args"] if "discovery" in each]
    assert "weightrollout-discovery" not in {each["metadata"]["name"] for each in objects}


def test_discovery_is_reached_by_its_service_with_the_token_and_certificate_that_are_mounted() -> (
    None
):
    objects = rendered(EVERYTHING)
    found, pod = container(objects), one(objects, "Deployment")["spec"]["template"]
    paths = dict(each.partition("=")[::2] for each in found["args"])
    mounted = {each["name"]: each["mountPath"] for each in found["volumeMounts"]}
    volumes = {each["name"]: each["secret"] for each in pod["spec"]["volumes"]}
    assert paths["--discovery-token-file"] == f"{mounted['discovery-token']}/token"
    assert volumes["discovery-token"]["items"] == [{"key": "bearer", "path": "token"}]
    for flag in ("--discovery-certificate", "--discovery-key"):
        assert paths[flag].startswith(f"{mounted['discovery-tls']}/tls.")
    (port,) = (each for each in found["ports"] if each["name"] == "discovery")
    assert paths["--discovery-bind"].endswith(f":{port['containerPort']}")
    services = {each["metadata"]["name"]: each["spec"] for each in of_kind(objects, "Service")}
    service = services["weightrollout-discovery"]
    assert service["selector"].items() <= pod["metadata"]["labels"].items()
    assert [each["targetPort"] for each in service["ports"]] == ["discovery"]


def test_trainers_reach_the_discovery_and_the_agents_and_nobody_else_does() -> None:
    policies = {
        each["metadata"]["name"]: each["spec"]["ingress"]
        for each in of_kind(rendered(EVERYTHING), "NetworkPolicy")
    }
    trainers = [{"podSelector": {"matchLabels": {"app": "trainer"}}}]
    reached = {
        name: [ports(rule) for rule in rules if rule.get("from") == trainers]
        for name, rules in policies.items()
    }
    assert reached["weightrollout-operator"] == [["discovery"]]
    assert reached["weightrollout-engines"] == [[names.DEFAULT_TRAINER_PORT]]
    open_to_all = [rule for rule in policies["weightrollout-engines"] if "from" not in rule]
    assert not [rule for rule in open_to_all if names.DEFAULT_TRAINER_PORT in ports(rule)]


def test_second_release_in_one_namespace_meets_the_first_ones_names() -> None:
    """Helm refuses what another release owns; two would share one Lease."""
    own = {"Deployment", "ServiceAccount", "Role", "RoleBinding"}

    found = {each["metadata"]["name"] for each in rendered(MINIMAL) if each["kind"] in own}

    assert found == {"weightrollout-operator"}


def test_releases_in_two_namespaces_share_no_name_but_the_schemas() -> None:
    def cluster_wide(namespace: str) -> set[tuple[str, str]]:
        objects = rendered(EVERYTHING, "--set=crds.install=false", namespace=namespace)
        return {
            (each["kind"], each["metadata"]["name"])
            for each in objects
            if "namespace" not in each["metadata"]
        }

    assert cluster_wide("a")
    assert not cluster_wide("a") & cluster_wide("b")


def test_no_right_to_a_named_object_of_its_own_reaches_into_another_namespace() -> None:
    """Such as its Lease: one of that name in a namespace of somebody else is not the operator's."""
    (role,) = of_kind(rendered(EVERYWHERE), "Role")
    (*_, of_all) = of_kind(rendered(EVERYWHERE), "ClusterRole")

    named = [rule["resources"] for rule in of_all["rules"] if "resourceNames" in rule]
    assert named == [["customresourcedefinitions"]]
    own = {each for rule in role["rules"] for each in rule["resources"]}
    assert not own & {each for rule in of_all["rules"] for each in rule["resources"]}


def test_scope_is_one_namespace_unless_somebody_says_cluster() -> None:
    """An upgrade with the values of a release that knew no scope must not widen anything."""
    for more in ((), ("--set=scope=null",), ("--set=scope=namespace",)):
        objects = rendered(MINIMAL, *more)
        assert "--scope=cluster" not in container(objects)["args"], more
        assert template(MINIMAL, *more).out == template(MINIMAL).out
    assert "--scope=cluster" in container(rendered(EVERYWHERE))["args"]


def test_two_releases_for_all_namespaces_meet_each_others_names() -> None:
    """Helm refuses what another release owns."""
    found = [
        {
            (each["kind"], each["metadata"]["name"])
            for each in rendered(EVERYWHERE, "--set=crds.install=false", namespace=namespace)
            if each["kind"] == "ClusterRole"
        }
        for namespace in ("a", "b")
    ]

    assert found[0] == found[1] == {("ClusterRole", "weightrollout-operator")}


def test_operator_of_all_namespaces_is_let_through_to_the_agents_of_each() -> None:
    objects = rendered(EVERYWHERE)
    policies = of_kind(objects, "NetworkPolicy")
    operator = one(
        [each for each in policies if each["metadata"]["namespace"] == NAMESPACE], "NetworkPolicy"
    )

    assert all(peer["namespaceSelector"] == {} for peer in operator["spec"]["egress"][-1]["to"])
    engines = [each for each in policies if each["metadata"]["name"] == "weightrollout-engines"]
    assert [each["metadata"]["namespace"] for each in engines] == ["team-a", "team-b"]
    for each in engines:
        (peer,) = each["spec"]["ingress"][1]["from"]
        labels = peer["namespaceSelector"]["matchLabels"]
        assert labels == {"kubernetes.io/metadata.name": NAMESPACE}


def test_release_of_the_operator_is_the_charts() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert chart["appVersion"] == chart["version"] == __version__


def test_old_cluster_without_admission_policies_is_refused_by_name() -> None:
    arguments = ("--kube-version=1.29.0", f"--values={EVERYTHING}")
    said = helm("template", "wr", str(CHART), *arguments)

    assert not said.ok
    assert "sources.enabled needs Kubernetes 1.30" in said.error

    said = helm("template", "wr", str(CHART), arguments[0], f"--values={SETS['signatures']}")
    assert "signatures.required needs Kubernetes 1.30" in said.error


def test_page_on_installing_has_the_rights_and_their_reasons() -> None:
    assert rights_table() in (ROOT / "docs" / "install.md").read_text(), rights_table()


def rights_table() -> str:
    lines = ["| Where | What | Verb | What for |", "| --- | --- | --- | --- |"]
    places = {
        "namespaced": "where it works",
        "evicting": "where it works, with `rbac.evictPods`",
        "own": "its own namespace",
        "clusterWide": "cluster",
    }
    for scope, where in places.items():
        for rule in rbac.rights(scope):
            (resource,) = rule["resources"]
            what = f"`{resource}`" + "".join(f" `{each}`" for each in rule.get("resourceNames", ()))
            for verb, why in rule["verbs"].items():
                lines.append(f"| {where} | {what} | {verb} | {why} |")
    return "\n".join(lines) + "\n"


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = one(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def ports(rule: dict[str, Any]) -> list[int | str]:
    return [each["port"] for each in rule["ports"]]
