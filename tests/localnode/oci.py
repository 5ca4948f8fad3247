"""Write an image as an OCI archive, from files: a layer, a configuration, an index. No tool and no daemon is asked."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
USER: Final = "65532:65532"


@dataclass(frozen=True)
class Image:
    """`files`: a path in the image (no leading slash) and the file that goes there, or a folder with all its files."""

    name: str  # with its tag, such as "localhost/toy:1"
    files: Mapping[str, Path]
    entrypoint: Sequence[str]
    labels: Mapping[str, str] = field(default_factory=dict)


def write_archive(image: Image, target: Path) -> Path:
    """`target` is written whole; the same files give the same bytes."""
    layer = _layer(image.files)
    zipped = gzip.compress(layer, compresslevel=1, mtime=0)
    config = {
        "architecture": MACHINES[platform.machine()],
        "os": "linux",
        "config": {
            "Entrypoint": list(image.entrypoint),
            "User": USER,
            "Labels": dict(image.labels),
        },
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
    }
    blobs = [zipped, json.dumps(config).encode()]
    media = "application/vnd.oci.image"
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{media}.manifest.v1+json",
        "config": _described(f"{media}.config.v1+json", blobs[1]),
        "layers": [_described(f"{media}.layer.v1.tar+gzip", zipped)],
    }
    blobs.append(json.dumps(manifest).encode())
    entry = _described(f"{media}.manifest.v1+json", blobs[2])
    # containerd takes the whole name from its own annotation, other tools the tag from OCI's.
    entry["annotations"] = {
        "io.containerd.image.name": image.name,
        "org.opencontainers.image.ref.name": image.name.rpartition(":")[2],
    }
    index = {"schemaVersion": 2, "mediaType": f"{media}.index.v1+json", "manifests": [entry]}
    with tarfile.open(target, "w") as archive:
        _add(archive, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        _add(archive, "index.json", json.dumps(index).encode())
        for blob in blobs:
            _add(archive, f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}", blob)
    return target


def _layer(files: Mapping[str, Path]) -> bytes:
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as layer:
        for name, source in sorted(files.items()):
            if source.is_dir():
                for each in sorted(source.rglob("*")):
                    if each.is_file():
                        _add(layer, f"{name}/{each.relative_to(source)}", each.read_bytes(), 0o644)
            else:
                _add(layer, name, source.read_bytes(), 0o755)
    return found.getvalue()


def _add(archive: tarfile.TarFile, name: str, contents: bytes, mode: int = 0o644) -> None:
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(contents), mode
    archive.addfile(about, io.BytesIO(contents))


def _described(media: str, blob: bytes) -> dict[str, Any]:
    return {"mediaType": media, "digest": _digest(blob), "size": len(blob)}


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"
