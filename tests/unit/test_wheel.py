"""The wheel installs anywhere, and brings the C helper for machines that it was compiled for."""

import os
import platform
import shutil
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = "weightrollout/plugin/transfer"
HERE = f"{CORE}/streaming-{platform.machine()}.so"
needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None and os.environ.get("WEIGHTROLLOUT_REQUIRE_ALL_TIERS") != "1",
    reason="no C compiler: the wheel is built without its helper",
)
#: e_machine of the ELF header.
ELF = {"x86_64": 62, "aarch64": 183}


def wheel(folder: Path, *, path: str | None = None) -> zipfile.ZipFile:
    """Built as pip does it; `path`: where compilers are looked for."""
    build: list[str | Path] = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "wheel",
        "--directory",
        folder,
    ]
    environment = None if path is None else {"PATH": path}
    subprocess.run(
        build, cwd=ROOT, env=environment, check=True, timeout=120, stdout=subprocess.DEVNULL
    )
    [built] = folder.glob("*.whl")
    assert built.name.endswith("-py3-none-any.whl")
    return zipfile.ZipFile(built)


def helpers(archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if name.endswith(".so")]


@pytest.mark.slow
@needs_compiler
def test_the_wheel_brings_the_helper_and_asks_for_no_package(tmp_path: Path) -> None:
    """The plugin goes into an engine's image: what it required there could move vLLM's packages."""
    with wheel(tmp_path) as archive:
        assert HERE in helpers(archive)
        assert f"{CORE}/streaming.c" in archive.namelist()
        assert "weightrollout/plugin/layers-0.32.json" in archive.namelist()
        [metadata] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        required = [
            line
            for line in archive.read(metadata).decode().splitlines()
            if line.startswith("Requires-Dist") and "extra ==" not in line
        ]
        assert required == []


@pytest.mark.slow
def test_helpers_are_of_the_machine_in_their_name_and_need_no_library(tmp_path: Path) -> None:
    """Not even libc by name: musl's has another one."""
    with wheel(tmp_path) as archive:
        for name in helpers(archive):
            content = archive.read(name)
            machine = name.removeprefix(f"{CORE}/streaming-").removesuffix(".so")
            assert struct.unpack_from("<H", content, 18) == (ELF[machine],)
            assert b"libc.so" not in content
            assert b"libgcc" not in content


@pytest.mark.slow
def test_without_a_compiler_there_is_a_wheel_without_a_helper(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    with wheel(tmp_path, path=str(tmp_path / "nothing")) as archive:
        assert helpers(archive) == []
        assert f"{CORE}/streaming.py" in archive.namelist()


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("aarch64-linux-gnu-gcc") is None, reason="no cross compiler for aarch64"
)
def test_with_a_cross_compiler_the_wheel_is_for_arm_too(tmp_path: Path) -> None:
    with wheel(tmp_path) as archive:
        assert f"{CORE}/streaming-aarch64.so" in helpers(archive)
