"""What people get wrong in a checkpoint or a spec: a reason in status, and nothing is lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import checkpoints
from fleet.engine import state_of
from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import World
from simulator import tokens

Json = dict[str, Any]
pytestmark = pytest.mark.usefixtures("fleet")

TENSOR = "model.layers.1.mlp.up_proj.weight"
ADDED = "model.layers.9.surprise.weight"


def _nothing(_: Path) -> None: ...


def _vanish(folder: Path) -> None:
    shutil.rmtree(folder)


def _empty(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def _reshape(folder: Path) -> None:
    checkpoints.reshape_tensor(folder, TENSOR, (32, 64))  # transposed: as many bytes


def _other_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"version": "2.0"}\n')


def _set(folder: Path, name: str, **fields: Any) -> None:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


#: name -> (what is done to a good checkpoint, given digest, reason, what the message must name)
REJECTED: dict[str, tuple[Callable[[Path], object], str | None, str, str]] = {
    "truncated-file": (checkpoints.truncate, None, "CheckpointMalformed", ".safetensors"),
    "digest-mismatch": (_nothing, "sha256:" + "0" * 64, "DigestMismatch", "sha256:0000"),
    "wrong-shape": (_reshape, None, "ShapeMismatch", TENSOR),
    "missing-tensor": (
        lambda folder: checkpoints.drop_tensor(folder, TENSOR),
        None,
        "TensorMissing",
        TENSOR,
    ),
    "extra-tensor": (
        lambda folder: checkpoints.add_tensor(folder, ADDED),
        None,
        "TensorUnexpected",
        ADDED,
    ),
    "changed-tokenizer": (_other_tokenizer, None, "RestartRequired", "tokenizer.json"),
    "changed-end-of-text": (
        lambda folder: _set(folder, "config.json", eos_token_id=255),
        None,
        "RestartRequired",
        "eos_token_id is 255 here, 256 in the engine",
    ),
    "changed-sampling": (
        lambda folder: _set(folder, "generation_config.json", top_k=7),
        None,
        "MetadataDiffers",
        "top_k is 7 here, absent in the engine",
    ),
    "broken-golden": (
        lambda folder: (folder / "golden.json").write_text('{"schema": 1, "prompts": []}'),
        None,
        "GoldenMalformed",
        "prompts: must be a list of 1 to 16",
    ),
}
HELD: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "missing-path": (_vanish, "SourceNotFound", "missing-path"),
    "empty-directory": (_empty, "SourceEmpty", "empty-directory"),
}


async def _pauses(world: World) -> int:
    """How often any engine of the fleet was asked to pause."""
    count = 0
    for pod in await world.pods("chat"):
        state = await state_of(pod)
        count += int(state["calls"].get("PauseGeneration", 0))
    return count


async def _apply(world: World, version: str, folder: Path, digest: str | None = None) -> None:
    weights = {"version": version, "uri": folder.as_uri() + "/"}
    if digest:
        weights["digest"] = digest
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))


@pytest.mark.parametrize("case", REJECTED)
async def test_bad_weights_are_rejected_by_name_and_no_engine_pauses(
    case: str, world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    spoil, digest, reason, named = REJECTED[case]
    folder = checkpoints.write_checkpoint(tmp_path / case, seed=77)
    spoil(folder)
    before = await _pauses(world)

    await _apply(world, case, folder, digest)
    status = await world.until_phase("chat", "RolledBack", 30)

    stalled = next(each for each in status["conditions"] if each["type"] == "Stalled")
    said = f"{stalled['reason']} {stalled['message']} {status['message']} {status['failures']}"
    assert reason in said
    assert named in said
    assert await _pauses(world) == before
    assert status["pods"]["available"] == 2


async def test_not_a_number_is_found_before_the_pause(
    world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "nan", seed=78, nan_in=TENSOR)
    before = await _pauses(world)

    await _apply(world, "not-a-number", folder)
    status = await world.until_phase("chat", "RolledBack", 30)

    assert "NotFinite" in str(status["conditions"]) + str(status["failures"])
    assert TENSOR in str(status)
    assert await _pauses(world) == before


@pytest.mark.parametrize("case", HELD)
async def test_a_source_that_is_not_there_is_waited_for_and_never_rolled_back(
    case: str, world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    spoil, reason, named = HELD[case]
    folder = checkpoints.write_checkpoint(tmp_path / case, seed=79)
    spoil(folder)

    await _apply(world, case, folder)
    status = await world.until(
        "chat", lambda seen: seen.get("hold", {}).get("reason") == reason, 30, f"hold {reason}"
    )
    assert named in status["hold"]["message"]
    assert status["phase"] != "RolledBack"

    shutil.rmtree(folder, ignore_errors=True)
    checkpoints.write_checkpoint(folder, seed=79)  # it arrives after all
    await world.until_phase("chat", "Complete", 60)


async def test_a_version_keeps_its_first_digest_for_ever(
    world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    first = checkpoints.write_checkpoint(tmp_path / "first", seed=80)
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=81)
    await _apply(world, "reused", first)
    await world.until_phase("chat", "Complete", 60)

    await _apply(world, "reused", other)
    status = await world.until_phase("chat", "Failed", 30)

    stalled = next(each for each in status["conditions"] if each["type"] == "Stalled")
    assert stalled["reason"] == "VersionReused"
    assert "reused" in stalled["message"]
    assert status["pods"]["available"] == 2


async def test_other_sampling_is_swapped_in_everywhere_once_it_is_ignored(
    world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "sampling", seed=84)
    _set(folder, "generation_config.json", top_k=7)
    await _apply(world, "sampling", folder)
    await world.until_phase("chat", "RolledBack", 30)

    weights = {"version": "sampling", "uri": folder.as_uri() + "/", "metadata": "Ignore"}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
    status = await world.until_phase("chat", "Complete", 60)
    assert status["updated"] == "2/2"


async def test_weights_that_answer_other_than_their_golden_says_touch_one_pod_and_are_undone(
    world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    good = checkpoints.write_checkpoint(tmp_path / "good", seed=85)
    bad = checkpoints.write_checkpoint(tmp_path / "bad", seed=86)
    for folder in (good, bad):
        prompts = [tokens.golden(checkpoints.fingerprint(good), "tell me a story", 4)]
        (folder / "golden.json").write_text(json.dumps({"schema": 1, "prompts": prompts}))
    await _apply(world, "good-golden", good)
    await world.until_phase("chat", "Complete", 60)

    await _apply(world, "bad-golden", bad)
    status = await world.until(
        "chat",
        lambda seen: seen["phase"] == "RolledBack" and seen["pods"]["available"] == 2,
        60,
        "the fleet is back on good-golden",
    )
    assert len({each["pod"] for each in status["failures"]}) == 1
    assert "golden.json prompt 0 'tell me a story': token 0: expected id" in str(status["failures"])


async def test_weights_that_answer_wrong_touch_one_pod_and_are_undone(
    world: World, fleet: FleetSpec, tmp_path: Path
) -> None:
    good = checkpoints.write_checkpoint(tmp_path / "good", seed=82)
    wrong = checkpoints.write_checkpoint(tmp_path / "wrong", seed=83, arithmetic=False)
    await _apply(world, "good", good)
    await world.until_phase("chat", "Complete", 60)

    await world.apply(
        weight_rollout(
            "chat",
            {"version": "wrong", "uri": wrong.as_uri() + "/"},
            swap={"settleSeconds": 0},
            verify={"prompts": [{"prompt": "2+2=", "maxTokens": 1, "expect": {"contains": "4"}}]},
        )
    )
    status = await world.until(
        "chat",
        lambda seen: seen["phase"] == "RolledBack" and seen["pods"]["available"] == 2,
        60,
        "the fleet is back on good",
    )
    assert len({each["pod"] for each in status["failures"]}) == 1
    assert status["versions"] == [
        {"version": "good", "digest": status["stable"]["digest"], "pods": 2}
    ]
