"""The local control plane: rights are real, parts that fail are told, nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.cluster import LocalCluster
from localcluster.waiting import eventually

TESTS = Path(__file__).parent.parent


async def test_service_account_may_do_what_its_rules_say_and_nothing_else(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    path = await cluster.kubeconfig_for_serviceaccount(namespace, "reader", tmp_path, rules)

    async with Api(path) as reader:
        assert (await reader.list(f"/api/v1/namespaces/{namespace}/pods"))[0] == []
        with pytest.raises(ApiError, match="403"):
            await reader.list(f"/api/v1/namespaces/{namespace}/secrets")
        with pytest.raises(ApiError, match="403"):
            await reader.list("/api/v1/namespaces/default/pods")


@pytest.mark.slow
async def test_killed_cluster_leaves_no_process(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "localcluster", "up", "--dir", str(tmp_path)),
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        assert line.decode().strip() == f"export KUBECONFIG={tmp_path / 'admin.kubeconfig'}"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 5  # four parts and the guard
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()

    await eventually(
        lambda: not any(Path(f"/proc/{child}").exists() for child in children), 5, "all have ended"
    )


@pytest.mark.slow
async def test_part_that_ends_by_itself_is_told_with_its_log() -> None:
    async with LocalCluster() as own:
        own.assert_alive()
        os.kill(own.pid("kube-scheduler"), signal.SIGKILL)

        def noticed() -> bool:
            try:
                own.assert_alive()
            except Exception as failed:
                return "kube-scheduler has ended with -9" in str(failed)
            return False

        await eventually(noticed, 5, "the end of the scheduler is noticed")
