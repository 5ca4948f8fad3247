"""docs/howto/signing.md, steps 1 to 3, on a fleet: keys, a signature that was forgotten, and the rollout of signed weights."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

import checkpoints
from fleet.manifests import FleetSpec
from fleet.world import World
from localcluster.access import Cluster
from pages import DOCS, Reader, block, fences

pytestmark = pytest.mark.usefixtures("fleet")

PAGE = "howto/signing.md"
PLACE = "/models/chat/step-1200"
SOON_S = 60.0


def manifest(weights: Path, public: Path) -> dict[str, Any]:
    """The page's, with our place and key."""
    texts = (each.text for each in fences((DOCS / PAGE).read_text()) if each.language == "yaml")
    [said] = [yaml.safe_load(each) for each in texts if each.startswith("spec:")]
    said["spec"]["weights"]["uri"] = f"{weights.as_uri()}/"
    said["spec"]["weights"]["signature"]["key"] = public.read_text()
    kind = {"apiVersion": "weightrollout.dev/v1alpha1", "kind": "WeightRollout"}
    return {**kind, "metadata": {"name": "chat"}, **said}


async def test_a_forgotten_signature_is_named_and_what_is_signed_then_is_served(
    world: World, cluster: Cluster, fleet: FleetSpec, tmp_path: Path
) -> None:
    reader = Reader.in_folder(tmp_path)
    checkpoints.write_checkpoint(reader.weights, seed=1200, arithmetic=True)
    await asyncio.to_thread(reader.types, block(PAGE, "openssl"))
    await world.apply(manifest(reader.weights, tmp_path / "release.pub"))
    status = await world.until_phase(fleet.name, "RolledBack", SOON_S)
    assert "SignatureMissing" in f"{status['message']} {status['failures']}"

    sign = block(PAGE, f"sign {PLACE} --key release.key\n")
    await asyncio.to_thread(reader.types, sign.replace(PLACE, str(reader.weights)))
    retry = "kubectl weightrollout retry chat"
    assert f"`{retry}`" in (DOCS / PAGE).read_text()
    kubeconfig = str(cluster.kubeconfig_in(world.namespace, tmp_path))
    await asyncio.to_thread(reader.types, retry, KUBECONFIG=kubeconfig)
    status = await world.until_phase(fleet.name, "Complete", SOON_S)
    assert (status["stable"]["version"], status["updated"]) == ("1200", "2/2")
