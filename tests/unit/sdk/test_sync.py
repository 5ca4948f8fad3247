"""Without a loop: what cannot be opened says so, and leaves no thread behind."""

import threading
from pathlib import Path

import pytest

from weightrollout.sdk import ClusterFailed, sync


def test_kubeconfig_that_is_not_there_is_named_and_no_thread_stays(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    with (
        pytest.raises(ClusterFailed, match="no usable kubeconfig"),
        sync.connect("chat", run="exp", kubeconfig=missing),
    ):
        pass
    assert not [each for each in threading.enumerate() if each.name == "weightrollout-sdk"]


def test_run_that_is_no_name_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, users: [{name: a, user: {}}],"
        " contexts: [{name: a, context: {cluster: a, user: a}}],"
        " clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]}"
    )
    with (
        pytest.raises(ValueError, match="run must be"),
        sync.connect("chat", run="a.b", kubeconfig=kubeconfig),
    ):
        pass
