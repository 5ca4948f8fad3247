"""Expansion, mount paths, probe ports and references, by the kubelet's rules."""

from __future__ import annotations

from typing import Any

import pytest

from localcluster.container_command import untagged
from localcluster.manifest import (
    ConfigError,
    Lookup,
    MountPaths,
    PodFacts,
    environment,
    expand,
    field,
    mount_folders,
    picked,
    probe_port,
)
from localcluster.references import referred

NOTHING = Lookup(lambda _n, _m: None, lambda _n, _m: None)


def facts(**metadata: Any) -> PodFacts:
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u", **metadata}, "spec": {}}
    return PodFacts(pod, "127.64.0.1", "127.0.0.1", "node")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)/$(A)", "1/1"),
        ("$(MISSING) stays", "$(MISSING) stays"),
        ("$$(A) is escaped", "$(A) is escaped"),
        ("$$$(A)", "$1"),
        ("$A and ${A} are the shell's", "$A and ${A} are the shell's"),
        ("$(A", "$(A"),
    ],
)
def test_only_known_variables_in_round_brackets_are_expanded(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1"}) == expanded


def test_variable_sees_only_those_declared_before_it() -> None:
    env = [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "1"}]
    env.append({"name": "C", "value": "$(A)"})

    assert environment({"env": env}, facts(), NOTHING) == {"B": "$(A)", "A": "1", "C": "1"}


def test_missing_reference_is_an_error_unless_it_is_optional() -> None:
    reference = {"name": "c", "key": "k"}
    must = {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": reference}}]}
    may = {
        "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {**reference, "optional": True}}}]
    }

    assert environment(may, facts(), NOTHING) == {}
    with pytest.raises(ConfigError, match="configMapKeyRef c: no key k"):
        environment(must, facts(), NOTHING)


def test_all_keys_of_a_secret_become_variables_with_their_prefix() -> None:
    secret = {"kind": "Secret", "data": {"k": "dg=="}}
    lookup = Lookup(lambda _n, _m: None, lambda _n, _m: secret)
    container = {"envFrom": [{"prefix": "S_", "secretRef": {"name": "s"}}]}

    assert environment(container, facts(), lookup) == {"S_k": "v"}


def test_absent_label_is_empty_and_unknown_field_is_an_error() -> None:
    assert field("metadata.labels['a/b.c']", facts(labels={"a/b.c": "x"})) == "x"
    assert field("metadata.labels['none']", facts()) == ""
    with pytest.raises(ConfigError, match=r"spec\.nonsense"):
        field("spec.nonsense", facts())


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("/data", "/host/d"),
        ("/data/", "/host/d/"),
        ("/data/x", "/host/d/x"),
        ("--dir=/data/x", "--dir=/host/d/x"),
        ("a:/data:b", "a:/host/d:b"),
        ("file:///data/x", "file:///host/d/x"),
        ("unix:/data/s.sock", "unix:/host/d/s.sock"),
        ("echo hi >/data/x; cat </data/x", "echo hi >/host/d/x; cat </host/d/x"),
        ('{"path": "/data/x"}', '{"path": "/host/d/x"}'),
        ("/data/deep/x", "/host/deep/x"),
        ("/data2", "/data2"),
        ("/data-old", "/data-old"),
        ("/data.bak", "/data.bak"),
        ("/other/data", "/other/data"),
        ("./data", "./data"),
        ("http://data/x", "http://data/x"),
    ],
)
def test_mount_path_is_rewritten_only_where_it_is_a_path(text: str, rewritten: str) -> None:
    paths = MountPaths({"/data": "/host/d", "/data/deep/": "/host/deep"})

    assert paths.rewrite(text) == rewritten


def test_rewritten_path_is_not_rewritten_again() -> None:
    paths = MountPaths({"/a": "/b/1", "/b": "/a/2"})

    assert paths.rewrite("/a/x /b/y") == "/b/1/x /a/2/y"


def test_container_without_mounts_is_left_alone() -> None:
    assert MountPaths({}).rewrite("/data") == "/data"


def test_sub_path_is_refused_by_name() -> None:
    mount = {"name": "v", "mountPath": "/m", "subPath": "x"}

    with pytest.raises(ConfigError, match="subPath"):
        mount_folders({"volumeMounts": [mount]}, {"v": "/host"})


def test_port_name_of_another_container_is_not_found() -> None:
    engine = {"name": "engine", "ports": [{"name": "http", "containerPort": 8000}]}
    agent = {"name": "agent", "ports": [{"name": "wr-http", "containerPort": 9611}]}

    assert probe_port("http", engine) == 8000
    assert probe_port(9611, engine) == 9611
    assert probe_port("9611", engine) == 9611
    with pytest.raises(LookupError, match="wr-http"):
        probe_port("wr-http", engine)
    assert probe_port("wr-http", engine, [agent]) == 9611


def test_missing_key_of_a_volume_is_an_error_unless_it_is_optional() -> None:
    items = [{"key": "a", "path": "x/a"}, {"key": "b", "path": "b"}]

    assert picked({"a": b"1"}, items, optional=True) == {"x/a": b"1"}
    with pytest.raises(ConfigError, match="key b"):
        picked({"a": b"1"}, items, optional=False)


@pytest.mark.parametrize(
    "image", ["host:5000/a/b:v1", "host:5000/a/b@sha256:0f", "host:5000/a/b:v1@sha256:0f"]
)
def test_image_is_known_without_its_tag_and_digest(image: str) -> None:
    assert untagged(image) == "host:5000/a/b"
    assert untagged("a") == "a"


def test_every_kind_of_reference_is_found() -> None:
    spec = {
        "volumes": [
            {"name": "a", "configMap": {"name": "c1"}},
            {"name": "b", "secret": {"secretName": "s1"}},
            {"name": "p", "projected": {"sources": [{"configMap": {"name": "c2"}}]}},
        ],
        "containers": [
            {"env": [{"valueFrom": {"secretKeyRef": {"name": "s2", "key": "k"}}}]},
            {"envFrom": [{"configMapRef": {"name": "c3"}}]},
        ],
    }
    config_maps = {("ConfigMap", name) for name in ("c1", "c2", "c3")}

    assert referred({"spec": spec}) == config_maps | {("Secret", "s1"), ("Secret", "s2")}
