"""Images install what the tests ran with, by hash, and nothing else."""

import re
import sys
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from images import lock, tools
from images.places import ROOT

EVERY = [*lock.FILES, "tools"]


def text(name: str) -> str:
    return tools.PINNED.read_text() if name == "tools" else lock.path(name).read_text()


def entries(name: str) -> list[str]:
    """Each package with its hashes, as one line."""
    joined = text(name).replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def pinned(name: str) -> dict[NormalizedName, Requirement]:
    """Of this machine's Python, by name."""
    found = [Requirement(entry.partition(" --hash=")[0]) for entry in entries(name)]
    here = [each for each in found if each.marker is None or each.marker.evaluate()]
    return {canonicalize_name(each.name): each for each in here}


@pytest.mark.parametrize("name", lock.FILES)
def test_a_change_of_what_is_asked_for_is_followed_by_make_lock(name: str) -> None:
    assert text(name).splitlines()[0] == lock.header(name), "run 'make lock'"


@pytest.mark.parametrize("name", EVERY)
def test_every_package_has_one_version_and_hashes(name: str) -> None:
    assert entries(name)
    for entry in entries(name):
        assert re.match(r"\S+==\S+ ", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


@pytest.mark.parametrize("name", [each for each in lock.FILES if each != "build"])
def test_an_image_holds_the_versions_that_were_tested(name: str) -> None:
    tested: dict[NormalizedName, str] = {}
    for each in lock.constraints():
        package, _, version = each.partition("==")
        tested[canonicalize_name(package)] = f"=={version}"
    assert {package: str(each.specifier) for package, each in pinned(name).items()} == {
        package: tested.get(package, "a version that constraints.txt names")
        for package in pinned(name)
    }


@pytest.mark.parametrize("name", [each for each in lock.FILES if each != "build"])
def test_what_a_pinned_package_needs_is_pinned_too(name: str) -> None:
    """As the packages of this environment say, which are of the same versions: images are installed without dependencies."""
    names = pinned(name).keys()
    asked = [Requirement(each) for each in lock.wanted(name)]
    assert {canonicalize_name(each.name) for each in asked} <= names
    for package in names:
        needed = [Requirement(each) for each in requires(package) or ()]
        plain = [e for e in needed if e.marker is None or e.marker.evaluate({"extra": ""})]
        assert {canonicalize_name(each.name) for each in plain} <= names, package


@pytest.mark.parametrize("name", EVERY)
def test_no_index_is_written_down(name: str) -> None:
    assert "://" not in text(name)


def test_the_agents_image_has_no_torch() -> None:
    assert not [package for package in pinned("agent") if package.startswith(("torch", "nvidia"))]


def test_the_pins_are_for_the_oldest_python_that_the_wheel_takes() -> None:
    assert sys.version_info >= tuple(int(each) for each in lock.PYTHON.split("."))
    assert f'requires-python = ">={lock.PYTHON}"' in (ROOT / "pyproject.toml").read_text()
