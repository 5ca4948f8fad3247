"""The life of a release on a real API server: installed, refused beside itself, upgraded, uninstalled.

No node runs its pods here: what is seen is what Helm creates, changes, refuses and leaves.
"""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from fleet.manifests import weight_rollout
from helm.chart import CHART, SETS
from helm.release import Release
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.schema import schema_hash

CRD: Final = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{names.PLURAL}.{names.GROUP}"
OLD_HASH: Final = "0123456789abcdef"
GONE_S: Final = 30.0


@pytest.fixture
async def release(cluster: Cluster, api: Api, namespace: str) -> AsyncIterator[Release]:
    """Installed; uninstalled in the end, since what is cluster-wide outlives a namespace."""
    found = Release(cluster, api, namespace)
    said = found.install()
    assert said.ok, said.error
    yield found
    await found.end()


async def test_notes_say_the_next_two_commands_and_the_second_is_accepted(
    api: Api, release: Release
) -> None:
    notes = release.helm("get", "notes", "wr").out

    commands = [line.split() for line in notes.splitlines() if line.startswith("  kubectl")]
    assert [each[:3] for each in commands] == [["kubectl", "-n", release.namespace]] * 2
    manifest = yaml.safe_load(notes.partition("<<'EOF'\n")[2].partition("EOF")[0])
    manifest["metadata"]["namespace"] = release.namespace
    assert (await api.apply(manifest))["kind"] == names.KIND


async def test_second_release_beside_the_first_is_refused(release: Release) -> None:
    said = release.helm("install", "other", str(CHART), f"--values={SETS['roles-only']}")

    assert not said.ok
    assert "cannot be imported into the current release" in said.error


async def test_upgrade_keeps_what_was_chosen(release: Release) -> None:
    said = release.helm(
        "upgrade", "wr", str(CHART), "--reset-then-reuse-values", "--set=replicas=3"
    )

    assert said.ok, said.error
    spec = (await release.deployment())["spec"]
    assert spec["replicas"] == 3
    assert "weightrollout-operator:0.1.0" in spec["template"]["spec"]["containers"][0]["image"]


async def test_upgrade_brings_the_schema_of_the_new_release(
    api: Api, release: Release, tmp_path: Path
) -> None:
    """Helm's own folder for such definitions would leave the old one for ever."""
    older = Path(shutil.copytree(CHART, tmp_path / "weightrollout"))
    schema = older / "files" / "crd.yaml"
    schema.write_text(schema.read_text().replace(schema_hash(), OLD_HASH))
    assert release.helm("upgrade", "wr", str(older), "--reset-then-reuse-values").ok
    assert await installed_hash(api) == OLD_HASH

    said = release.helm("upgrade", "wr", str(CHART), "--reset-then-reuse-values")

    assert said.ok, said.error
    assert await installed_hash(api) == schema_hash()


async def installed_hash(api: Api) -> str:
    found: str = (await api.get(CRD))["metadata"]["annotations"][names.ANNOTATION_SCHEMA]
    return found


async def test_uninstall_leaves_the_kind_and_every_rollout(api: Api, release: Release) -> None:
    rollout = weight_rollout("chat", {"version": "v1", "uri": "file:///models/chat/"})
    rollout["metadata"]["namespace"] = release.namespace
    await api.apply(rollout)

    said = release.helm("uninstall", "wr")

    assert said.ok, said.error
    await eventually(release.is_gone, GONE_S, "the operator is gone")
    assert (await api.get(CRD))["metadata"]["name"].endswith(names.GROUP)
    assert (await api.get(await api.path_of(rollout)))["spec"]["weights"]["version"] == "v1"


async def test_installed_again_by_the_same_name_it_takes_the_kind_over(release: Release) -> None:
    assert release.helm("uninstall", "wr").ok
    values = f"--values={SETS['minimal']}"

    said = release.helm("install", "wr", str(CHART), values)

    assert said.ok, said.error
