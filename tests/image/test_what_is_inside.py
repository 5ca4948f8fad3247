"""What an image holds: what it needs, and nothing that helps an attacker or belongs to the machine that built it."""

import json
import platform
import re
import stat
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from images import lock, pip_settings, places
from images.base import mirror
from images.running import Unpacked

KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{60}")
ELF = b"\x7fELF"
#: Of a header of compiled code: checked against nothing, so that no time is in it.
BY_HASH_UNCHECKED = (1).to_bytes(4, "little")
FOR_TESTS = {"simulator", "conftest.py", "pytest", "hypothesis", "checkpoints.py", "localcluster"}


def installed(image: Unpacked) -> dict[str, str]:
    """Python's packages and their versions."""
    found = distributions(path=[str(image.packages())])
    return {canonicalize_name(each.name): each.version for each in found}


def test_it_holds_the_pinned_packages_and_ours_and_no_others(image: Unpacked) -> None:
    pinned: dict[str, str] = {}
    for line in lock.path(image.target).read_text().splitlines():
        if "==" in line:
            entry = Requirement(line.rstrip(" \\"))
            if entry.marker is None or entry.marker.evaluate():
                pinned[canonicalize_name(entry.name)] = str(entry.specifier).removeprefix("==")
    assert installed(image) == {**pinned, "weightrollout": places.version()}


def test_no_torch_is_inside(image: Unpacked) -> None:
    names = [each.name for each in image.packages().iterdir()]
    assert not [name for name in names if name.startswith(("torch", "nvidia", "vllm", "triton"))]


def test_no_installer_and_no_leftover_of_the_build_is_inside(image: Unpacked) -> None:
    assert not list(image.root.glob("app/**/pip"))
    for name in ("installer", "src", "wheel", "build"):
        assert not (image.root / name).exists(), name
    for name in ("root/.cache", "var/cache/apt", "var/lib/apt/lists", "run/secrets", "tmp"):
        folder = image.root / name
        assert not folder.exists() or not list(folder.iterdir()), name


def test_no_test_code_is_in_a_product(unpacked: Callable[[str], Unpacked]) -> None:
    for target in ("operator", "agent", "cli"):
        names = {each.name for each in unpacked(target).packages().iterdir()}
        assert not names & FOR_TESTS, target


def test_no_file_is_setuid_or_setgid(image: Unpacked) -> None:
    held = [each for each in image.files() if not each.is_symlink()]
    assert held
    assert not [each for each in held if each.lstat().st_mode & (stat.S_ISUID | stat.S_ISGID)]


def test_its_user_owns_nothing_and_can_write_nothing_of_ours(image: Unpacked) -> None:
    for each in image.root.joinpath("app").rglob("*"):
        kept = each.lstat()
        assert kept.st_uid == 0, each
        assert stat.S_ISLNK(kept.st_mode) or not kept.st_mode & stat.S_IWOTH, each


def test_no_private_key_is_inside(image: Unpacked) -> None:
    """Libraries that test themselves with a key that everybody knows are let through (GnuTLS)."""
    held = ((each, content(each)) for each in image.files())
    assert not [each for each, found in held if KEY.search(found) and found[:4] != ELF]


def test_it_does_not_tell_where_it_was_built(image: Unpacked) -> None:
    told = [str(places.ROOT), str(places.cache())]
    told += [value for name, value in pip_settings.settings().items() if "index-url" in name]
    apt = [each for each in image.files() if each.is_relative_to(image.root / "etc" / "apt")]
    for each in image.files():
        found = content(each)
        assert not [word for word in told if word.encode() in found], each
    assert not [each for each in apt if mirror().encode() in content(each)]
    for name in ("resolv.conf", "hostname", "machine-id"):
        file = image.root / "etc" / name
        assert not file.exists() or not file.read_text().strip(), name


def test_its_files_carry_no_time_of_the_build(image: Unpacked) -> None:
    ours = [each for each in image.archive.entries() if each.name.startswith("app/")]
    assert ours
    assert {int(each.mtime) for each in ours} == {int(places.epoch())}


def test_compiled_code_is_there_and_holds_no_time(image: Unpacked) -> None:
    compiled = list(image.root.glob("app/**/*.pyc"))
    ours = image.packages() / "weightrollout"
    assert [each for each in compiled if each.is_relative_to(ours)]
    assert not [each for each in compiled if content(each)[4:8] != BY_HASH_UNCHECKED]


def test_the_agent_carries_the_plugin_with_its_helper_in_c(
    unpacked: Callable[[str], Unpacked],
) -> None:
    core = unpacked("agent").packages() / "weightrollout" / "plugin" / "transfer"
    assert (core / f"streaming-{platform.machine()}.so").exists()


def test_it_says_what_it_is(image: Unpacked) -> None:
    started = image.archive.started()
    labels = {
        name.removeprefix("org.opencontainers.image."): value
        for name, value in started["Labels"].items()
    }
    assert labels["title"] == image.built.name
    assert labels["version"] == places.version()
    assert labels["licenses"] == "Apache-2.0"
    assert labels["description"]
    assert labels["base.name"]
    assert "revision" in labels
    assert image.archive.name() == image.built.reference


def test_it_starts_as_nobody_and_without_a_shell(image: Unpacked) -> None:
    started = image.archive.started()
    assert started["User"] == "65532:65532"
    assert started["Entrypoint"][0] not in ("sh", "/bin/sh")
    assert not started.get("Cmd")


def test_its_bill_of_materials_names_all_packages(image: Unpacked) -> None:
    bill = json.loads(image.built.sbom.read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["name"] == image.built.name
    named = {each["purl"].partition("?")[0] for each in bill["components"] if "purl" in each}
    python = {f"pkg:pypi/{name}@{version}" for name, version in installed(image).items()}
    assert python <= named
    status = image.root / "var" / "lib" / "dpkg" / "status"
    debian = re.findall(r"^Package: (.+)$", status.read_text(), re.MULTILINE)
    assert {f"pkg:deb/debian/{name}" for name in debian} <= {
        each.partition("@")[0] for each in named
    }


def content(file: Path) -> bytes:
    """Nothing where it is a link."""
    return b"" if file.is_symlink() or not file.is_file() else file.read_bytes()
