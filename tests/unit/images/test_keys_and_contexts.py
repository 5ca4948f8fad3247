"""A finished image is found again by what went into it: everything that goes in counts, nothing else."""

import re
from pathlib import Path

import pytest

from images import places
from images.engines import Order
from images.pip_settings import secrets

ROOT = places.ROOT


def copied() -> set[str]:
    """From the checkout, as the Dockerfile says."""
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", places.DOCKERFILE.read_text(), re.MULTILINE)
    return {name for line in lines for name in line.split()}


def test_everything_that_the_dockerfile_copies_counts() -> None:
    assert copied()
    for name in copied():
        assert any(Path(name).is_relative_to(each) for each in places.GOES_IN), name


def test_everything_that_the_dockerfile_copies_is_let_through() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let = {line.removeprefix("!") for line in lines if line.startswith("!")}
    for name in copied():
        assert any(Path(name).is_relative_to(each) for each in let), name


def test_nothing_that_was_compiled_here_counts() -> None:
    assert [each for each in places.sources() if places.LEFT_OUT.search(each.as_posix())] == []
    assert places.LEFT_OUT.search("operator/weightrollout/__pycache__/clock.cpython-311.pyc")


def test_another_source_is_another_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Dockerfile").write_text("FROM one\n")
    monkeypatch.setattr(places, "ROOT", tmp_path)
    monkeypatch.setattr(places, "GOES_IN", ("Dockerfile",))
    before = places.key("base")
    assert places.key("base") == before
    assert places.key("another base") != before
    (tmp_path / "Dockerfile").write_text("FROM two\n")
    assert places.key("base") != before


def test_every_image_is_a_target_of_the_dockerfile() -> None:
    stages = re.findall(r"^FROM \S+ AS (\S+)$", places.DOCKERFILE.read_text(), re.MULTILINE)
    assert set(places.TARGETS) <= set(stages)


def test_the_index_and_the_authorities_of_this_machine_are_secrets_and_no_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_text("none")
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:word@packages.invalid/simple")
    monkeypatch.setenv("PIP_CERT", str(bundle))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    given = secrets(tmp_path)
    said = given["pip"].read_text()
    assert "index-url = https://user:word@packages.invalid/simple" in said
    assert given["authorities"] == bundle
    assert str(tmp_path) not in said
    options = Order("agent", "1", {"VERSION": "1"}, given, tmp_path / "log").options()
    assert not [each for each in options if "packages.invalid" in each]
