"""No test reaches a cluster that nobody pointed it at."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcluster import provider
from localcluster.kubeconfig import Access, read_kubeconfig, write_kubeconfig
from localcluster.provider import POINTER, find_cluster, kind_is_available, pointed_cluster
from localcluster.router import Backend, backend_of


def kubeconfig(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_kubeconfig(path, Access("https://127.0.0.1:1", token="t", namespace="n"))


async def test_pointed_cluster_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(POINTER, str(kubeconfig(tmp_path / "k")))

    async with find_cluster() as found:
        assert found.kubeconfig == tmp_path / "k"


async def test_pointer_to_nothing_is_an_error_and_no_fall_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(POINTER, str(tmp_path / "missing"))

    with pytest.raises(FileNotFoundError, match="missing"):
        async with find_cluster():
            pass


def test_own_kubeconfig_of_the_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(PermissionError, match="your own"):
        pointed_cluster(kubeconfig(tmp_path / ".kube" / "config"))


def test_kind_without_a_docker_engine_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, script in (("kind", "exit 0"), ("docker", "exit 1")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert not kind_is_available()


def test_nothing_is_built_where_a_cluster_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(POINTER, str(kubeconfig(tmp_path / "k")))

    assert not provider.needs_build()


def test_kubeconfig_that_starts_a_program_is_refused(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "k")
    path.write_text(path.read_text().replace("token: t", "exec: {command: login}"))

    with pytest.raises(ValueError, match="helper program"):
        read_kubeconfig(path)


def test_kubeconfig_comes_back_as_it_was_written_and_is_private(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "k")

    assert read_kubeconfig(path) == Access("https://127.0.0.1:1", token="t", namespace="n")
    assert path.stat().st_mode & 0o077 == 0


def test_pod_that_is_not_ready_or_is_ending_takes_no_traffic() -> None:
    up = {"type": "Ready", "status": "True"}
    spec = {"containers": [{"ports": [{"name": "http", "containerPort": 8000}]}]}
    status = {"conditions": [up], "podIP": "127.64.0.1"}
    ready = {"metadata": {"name": "p"}, "spec": spec, "status": status}

    assert backend_of(ready, "http") == Backend("p", "127.64.0.1", 8000)
    assert backend_of(ready, "none") is None
    assert backend_of({**ready, "status": {**status, "conditions": []}}, 1) is None
    assert backend_of({**ready, "status": {"conditions": [up]}}, 1) is None
    ending = {"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert backend_of({**ready, "metadata": ending}, 1) is None
