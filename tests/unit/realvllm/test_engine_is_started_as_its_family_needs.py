"""Command line, environment and plugin folder of an engine, before anything runs."""

from __future__ import annotations

import json
from importlib.metadata import distributions
from pathlib import Path

import pytest

from realvllm.families import FAMILIES, Family, Speculation
from realvllm.launch import Frontend, Launch, Ports, arguments, environment
from realvllm.plugins import GROUP, OURS, STOCK, write_folder

PORTS = Ports(http=1, grpc=2)
MODEL = Path("/models/a")


def test_only_the_rust_frontend_is_asked_for_grpc() -> None:
    assert "--grpc-port" in arguments(Launch(MODEL), PORTS)
    assert "--grpc-port" not in arguments(Launch(MODEL, frontend=Frontend.PYTHON), PORTS)


def test_engine_without_backend_has_no_weight_transfer() -> None:
    assert "--weight-transfer-config" not in arguments(Launch(MODEL, backend=""), PORTS)


def test_environment_of_the_tests_does_not_reach_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/tests")
    monkeypatch.setenv("VLLM_RUST_FRONTEND_PATH", "/elsewhere")
    found = environment(Launch(MODEL), Path("/plugins"), Path("/cache"))

    assert found["PYTHONPATH"] == "/plugins"
    assert "VLLM_RUST_FRONTEND_PATH" not in found


def test_volumes_and_family_variables_reach_the_engine() -> None:
    launch = Launch(
        MODEL, handover=Path("/h"), staging=Path("/s"), environment=FAMILIES["tp2"].environment
    )
    found = environment(launch, Path("/plugins"), Path("/cache"))

    assert found["WEIGHTROLLOUT_HANDOVER"] == "/h"
    assert found["WEIGHTROLLOUT_STAGING"] == "/s"
    assert found["VLLM_CPU_OMP_THREADS_BIND"] == "0|1"


def test_plugin_is_found_as_an_installed_one_is(tmp_path: Path) -> None:
    write_folder(tmp_path, [STOCK, OURS])
    write_folder(tmp_path, [STOCK, OURS])

    found = {
        entry.name: entry.value
        for one in distributions(path=[str(tmp_path)])
        for entry in one.entry_points
        if entry.group == GROUP
    }
    assert found == {
        "stockreload": "stockreload:register",
        "weightrollout": "weightrollout.plugin:register",
    }
    assert (tmp_path / "weightrollout" / "handover" / "records.py").exists()


def test_draft_of_its_own_is_named_in_the_flags() -> None:
    flags = FAMILIES["eagle3"].engine_flags(Path("/draft"))

    assert json.loads(flags[-1]) == {
        "method": "eagle3",
        "num_speculative_tokens": 2,
        "model": "/draft",
    }


def test_draft_inside_the_target_needs_no_folder() -> None:
    assert json.loads(FAMILIES["mtp"].engine_flags()[-1]) == {
        "method": "mtp",
        "num_speculative_tokens": 1,
    }


def test_forgotten_draft_is_an_error() -> None:
    family = Family("x", "qwen3", "Qwen3ForCausalLM", speculation=Speculation("eagle3", 2, "y"))

    with pytest.raises(ValueError, match="needs the folder of a draft"):
        family.engine_flags()


def test_family_needs_each_recipe_once() -> None:
    assert FAMILIES["draft_model"].recipes() == ("qwen3",)
    assert FAMILIES["eagle3"].recipes() == ("llama_deep", "eagle3_llama")
