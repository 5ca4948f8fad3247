"""What an engine was started with is found, however it was named, or it is not claimed to be known."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")
pytest.importorskip("huggingface_hub", reason="only an engine's environment has it")

from huggingface_hub import constants

from weightrollout.plugin.report import model_folder
from weightrollout.weights.digest import metadata_hashes

COMMIT = "a" * 40
#: As `sha256sum` prints it of "{}".
SUM = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def config(model: str, revision: str | None = None) -> Any:
    return SimpleNamespace(model=model, revision=revision)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A snapshot as the hub's client leaves it: links to blobs outside the folder."""
    repository = tmp_path / "models--acme--tiny"
    snapshot = repository / "snapshots" / COMMIT
    for folder in (repository / "blobs", repository / "refs", snapshot):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    (repository / "blobs" / "1").write_text("{}")
    (snapshot / "config.json").symlink_to("../../blobs/1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return snapshot


def test_folder_is_itself(tmp_path: Path) -> None:
    assert model_folder(config(str(tmp_path))) == tmp_path


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_name_on_the_hub_is_the_snapshot_that_the_engine_loaded(
    cache: Path, revision: str | None
) -> None:
    found = model_folder(config("acme/tiny", revision))
    assert found == cache
    assert metadata_hashes(found) == {"config.json": SUM}


@pytest.mark.parametrize("name", ["acme/other", "acme/tiny/../x"])
def test_name_that_is_not_in_the_cache_is_not_known(cache: Path, name: str) -> None:
    assert model_folder(config(name)) is None


def test_revision_that_is_not_in_the_cache_is_not_known(cache: Path) -> None:
    assert model_folder(config("acme/tiny", "v2")) is None
