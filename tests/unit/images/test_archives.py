"""Layers are laid over each other as containerd does it, and two builds are compared file by file."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

from images.archive import Archive
from images.rebuilt import differences

Files = dict[str, bytes]


def layer(files: Files, *, time: int = 0) -> bytes:
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(content), time
            tar.addfile(entry, io.BytesIO(content))
    return found.getvalue()


def archive(path: Path, *layers: bytes) -> Archive:
    blobs = {hashlib.sha256(each).hexdigest(): each for each in layers}
    described = [{"digest": f"sha256:{name}", "size": len(each)} for name, each in blobs.items()]
    config = json.dumps({"config": {"User": "1"}, "rootfs": {"diff_ids": []}}).encode()
    named = hashlib.sha256(config).hexdigest()
    manifest = json.dumps({"config": {"digest": f"sha256:{named}"}, "layers": described}).encode()
    top = hashlib.sha256(manifest).hexdigest()
    notes = {"org.opencontainers.image.ref.name": "localhost/one:1"}
    index = {"manifests": [{"digest": f"sha256:{top}", "annotations": notes}]}
    with tarfile.open(path, "w") as outer:
        held = {**blobs, named: config, top: manifest}
        for name, content in [
            *((f"blobs/sha256/{each}", blob) for each, blob in held.items()),
            ("index.json", json.dumps(index).encode()),
        ]:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            outer.addfile(entry, io.BytesIO(content))
    return Archive(path)


def test_a_file_of_a_later_layer_wins_and_a_removed_one_is_gone(tmp_path: Path) -> None:
    below = layer({"etc/kept": b"1", "etc/replaced": b"1", "etc/removed": b"1", "all/one": b"1"})
    above = layer({"etc/replaced": b"2", "etc/.wh.removed": b"", "all/.wh..wh..opq": b""})
    archive(tmp_path / "a.tar", below, above).unpack(tmp_path / "root")
    found = {each.name: each.read_bytes() for each in tmp_path.glob("root/*/*")}
    assert found == {"kept": b"1", "replaced": b"2"}


def test_only_what_is_wanted_is_unpacked(tmp_path: Path) -> None:
    one = archive(tmp_path / "a.tar", layer({"etc/a": b"1", "etc/b": b"1"}))
    one.unpack(tmp_path / "root", lambda name: name.endswith("/a"))
    assert [each.name for each in (tmp_path / "root" / "etc").iterdir()] == ["a"]


def test_an_archive_tells_its_name_and_its_sizes(tmp_path: Path) -> None:
    packed = layer({"a": b"12345"})
    one = archive(tmp_path / "a.tar", packed)
    assert one.name() == "localhost/one:1"
    assert (one.sizes().packed, one.sizes().files) == (len(packed), 5)


def test_a_second_build_that_differs_is_said_by_file(tmp_path: Path) -> None:
    one = archive(tmp_path / "a.tar", layer({"a": b"1", "b": b"1"}))
    same = archive(tmp_path / "b.tar", layer({"a": b"1", "b": b"1"}))
    later = archive(tmp_path / "c.tar", layer({"a": b"1", "b": b"1"}, time=9))
    other = archive(tmp_path / "d.tar", layer({"a": b"2", "b": b"1"}))
    assert differences(one, same) == []
    assert len(differences(one, later)) == 2
    [said] = differences(one, other)
    assert said.startswith("layer 0: a: ")
