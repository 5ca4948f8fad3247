"""The digest is what anyone can compute with coreutils, over exactly the files that count."""

import os
import subprocess
from pathlib import Path

import pytest

import checkpoints
from weightrollout.weights import digest

ODD_NAMES = (
    "Z.safetensors",
    "a b.safetensors",
    'tokenizer\'s "odd".json',
    "tokenizer-ä.json",
    "chat_template $HOME;*.jinja",
    "-rf.tiktoken",
)


def _coreutils(folder: Path, names: list[str]) -> str:
    """As the design says it, in the names' order of LC_ALL=C."""
    command = (
        'LC_ALL=C; export LC_ALL; printf "%s\\0" "$@" | sort -z | xargs -0 sha256sum -- | sha256sum'
    )
    done = subprocess.run(
        ["sh", "-c", command, "sh", *names], cwd=folder, capture_output=True, check=True, timeout=30
    )
    return "sha256:" + done.stdout.decode().split()[0]


def test_digest_is_what_coreutils_compute(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1, files=3)
    names = [path.name for path in folder.iterdir()]
    assert digest.digest_of(folder, threads=2) == _coreutils(folder, names)


def test_odd_file_names_do_not_change_the_order_or_the_text(tmp_path: Path) -> None:
    for name in ODD_NAMES:
        (tmp_path / name).write_text(name)
    assert digest.digest_of(tmp_path, threads=2) == _coreutils(tmp_path, list(ODD_NAMES))


def test_name_that_is_not_utf8_is_hashed_as_the_bytes_that_it_is(tmp_path: Path) -> None:
    name = b"tokenizer-\xff.json".decode(errors="surrogateescape")
    (tmp_path / name).write_text("x")
    assert digest.digest_of(tmp_path, threads=1) == _coreutils(tmp_path, [name])


@pytest.mark.parametrize("name", ["a\\b.safetensors", "a\nb.safetensors", "a\rb.safetensors"])
def test_name_that_sha256sum_escapes_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(digest.FolderError, match="must not hold"):
        digest.digest_of(tmp_path, threads=1)


def test_files_that_an_engine_does_not_read_are_ignored(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    before = digest.digest_of(folder, threads=1)
    (folder / "README.md").write_text("hello")
    (folder / "optimizer.bin").write_text("x")
    (folder / ".hidden.safetensors").write_text("x")
    (folder / "tokenizer_backup").mkdir()
    (folder / "tokenizer_backup" / "tokenizer.json").write_text("x")
    assert digest.digest_of(folder, threads=1) == before


@pytest.mark.parametrize(
    "name",
    [
        "model.safetensors",
        "model.safetensors.index.json",
        "config.json",
        "generation_config.json",
        "tokenizer.model",
        "special_tokens_map.json",
        "vocab.json",
        "merges.txt",
        "qwen.tiktoken",
        "chat_template.jinja",
        "preprocessor_config.json",
        "golden.json",
    ],
)
def test_every_file_that_an_engine_reads_counts(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    assert digest.matching_files(tmp_path) == [name]


def test_renaming_a_file_changes_the_digest() -> None:
    assert digest.digest_from_sums({"a": "0" * 64}) != digest.digest_from_sums({"b": "0" * 64})


def test_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").symlink_to("../secret")
    with pytest.raises(digest.FolderError, match=r"config\.json: link leaves the folder"):
        digest.matching_files(folder)


def test_what_an_engine_reads_is_looked_at_through_links_wherever_they_lead(tmp_path: Path) -> None:
    """A folder of the Hugging Face cache is links to blobs."""
    folder, blob = tmp_path / "snapshot", tmp_path / "blob"
    folder.mkdir()
    blob.write_text("{}")
    (folder / "config.json").symlink_to(blob)
    (folder / "tokenizer.json").symlink_to(tmp_path / "nowhere")
    assert digest.metadata_hashes(folder) == {"config.json": digest.sha256_of(blob)}


def test_link_inside_the_folder_is_followed_as_a_mounted_config_map_needs(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data" / "config.json").write_text("{}")
    (tmp_path / "config.json").symlink_to("..data/config.json")
    assert digest.matching_files(tmp_path) == ["config.json"]


@pytest.mark.parametrize("target", ["nowhere", "config.json"], ids=["dangling", "loop"])
def test_link_that_leads_nowhere_is_refused_by_name(tmp_path: Path, target: str) -> None:
    (tmp_path / "config.json").symlink_to(target)
    with pytest.raises(digest.FolderError, match=r"config\.json: link leads nowhere"):
        digest.matching_files(tmp_path)


def test_fifo_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.safetensors")
    with pytest.raises(digest.FolderError, match="neither a file nor a folder"):
        digest.digest_of(tmp_path, threads=1)


def test_progress_ends_at_the_size_of_all_files(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    seen: list[int] = []
    digest.digest_of(folder, threads=2, progress=seen.append)
    assert seen[-1] == sum(path.stat().st_size for path in folder.iterdir())
