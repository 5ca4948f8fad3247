"""Answers of small servers: a folder over HTTPS, a hub, a Google bucket and an Azure container."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from objectstore.front import Answer, Answerer, Request

COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"


def sha256sum(folder: Path) -> None:
    """Write SHA256SUMS, as the howto says."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(folder.iterdir())
        if file.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


def give(data: bytes, request: Request, etag: str | None = None) -> Answer:
    """One file, whole or a range of it, if it is still the one that If-Match names."""
    etag = etag or f'"{hashlib.md5(data).hexdigest()}"'  # as S3 has it
    headers = {"ETag": etag, "Last-Modified": formatdate(0, usegmt=True), "Accept-Ranges": "bytes"}
    if (wanted := request.headers.get("if-match")) and wanted != etag:
        return Answer(412, headers)
    asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("range", ""))
    if asked is None:
        return Answer(200, headers, data)
    begin, end = int(asked[1]), min(int(asked[2]) + 1, len(data))
    if begin >= len(data):
        return Answer(416, {**headers, "Content-Range": f"bytes */{len(data)}"})
    return Answer(
        206, {**headers, "Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"}, data[begin:end]
    )


def _path(request: Request) -> str:
    return unquote(urlsplit(request.path).path)


def static(folder: Path, at: str = "/models/chat/") -> Answerer:
    """What nginx makes of a folder."""

    def answer(request: Request) -> Answer:
        path = _path(request)
        file = folder / path.removeprefix(at)
        if not path.startswith(at) or not file.is_file():
            return Answer(404)
        return give(file.read_bytes(), request)

    return answer


def hub(folder: Path, cdn: Callable[[], str]) -> Answerer:
    """The calls that a reader of the hub makes. Large files lie at another host, `cdn`, behind a link with a signature."""
    api, files = "/api/models/org/chat", f"/org/chat/resolve/{COMMIT}/"

    def answer(request: Request) -> Answer:
        path = _path(request)
        if path == f"{api}/revision/main":
            return Answer(200, body=json.dumps({"sha": COMMIT}).encode())
        if path == f"{api}/tree/{COMMIT}":
            return Answer(
                200, body=json.dumps([_entry(file) for file in sorted(folder.iterdir())]).encode()
            )
        file = folder / path.removeprefix(files)
        if not path.startswith(files) or not file.is_file():
            return Answer(404)
        if file.suffix == ".safetensors":
            return Answer(302, {"Location": f"{cdn()}/blobs/{file.name}?X-Signature=SIGNED-LINK"})
        return give(file.read_bytes(), request)

    return answer


def _entry(file: Path) -> dict[str, object]:
    data = file.read_bytes()
    entry: dict[str, object] = {
        "type": "file",
        "path": file.name,
        "size": len(data),
        "oid": "0" * 40,
    }
    if file.suffix == ".safetensors":
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data)}
    return entry


def google(folder: Path, bucket: str, prefix: str) -> Answerer:
    """The XML API of Google Cloud Storage, as far as a list and ranges go."""

    def answer(request: Request) -> Answer:
        path = _path(request)
        query = parse_qs(urlsplit(request.path).query)
        if path.rstrip("/") == f"/{bucket}":
            given = query.get("prefix", [""])[0]
            items = "".join(
                f"<Contents><Key>{escape(prefix + file.name)}</Key><Size>{file.stat().st_size}</Size>"
                f"<LastModified>2026-11-30T09:00:00.000Z</LastModified>"
                f'<ETag>"{hashlib.md5(file.read_bytes()).hexdigest()}"</ETag></Contents>'
                for file in sorted(folder.iterdir())
                if (prefix + file.name).startswith(given)
            )
            return Answer(
                200,
                {"Content-Type": "application/xml"},
                f'<?xml version="1.0"?><ListBucketResult>{items}</ListBucketResult>'.encode(),
            )
        return _object(folder, path, f"/{bucket}/{prefix}", request)

    return answer


def google_environment(url: str, account: Path) -> dict[str, str]:
    """In which gs:// is read from `url`, without a login; writes `account`, a key of nobody."""
    said = {"gcs_base_url": url, "disable_oauth": True}
    keys = dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
    account.write_text(json.dumps({**said, **keys}))
    return {"GOOGLE_SERVICE_ACCOUNT": str(account), "GOOGLE_ALLOW_HTTP": "true"}


def any_of(*answerers: Answerer) -> Answerer:
    """The first one that knows the path."""

    def answer(request: Request) -> Answer:
        answers = (each(request) for each in answerers)
        return next((found for found in answers if found.status != 404), Answer(404))

    return answer


def azure(folder: Path, account: str, container: str, prefix: str) -> Answerer:
    """Azure Blob Storage in the form that its emulator has: the account is the path's first part."""

    def answer(request: Request) -> Answer:
        path = _path(request)
        if path.rstrip("/") == f"/{account}/{container}":
            items = "".join(
                f"<Blob><Name>{escape(prefix + file.name)}</Name><Properties>"
                f"<Content-Length>{file.stat().st_size}</Content-Length>"
                f"<Last-Modified>{formatdate(0, usegmt=True)}</Last-Modified>"
                f"<Etag>{hashlib.md5(file.read_bytes()).hexdigest()}</Etag>"
                f"<Content-Type>application/octet-stream</Content-Type></Properties></Blob>"
                for file in sorted(folder.iterdir())
            )
            return Answer(
                200,
                {"Content-Type": "application/xml"},
                '<?xml version="1.0"?><EnumerationResults>'
                f"<Blobs>{items}</Blobs><NextMarker /></EnumerationResults>".encode(),
            )
        return _object(folder, path, f"/{account}/{container}/{prefix}", request)

    return answer


def _object(folder: Path, path: str, begin: str, request: Request) -> Answer:
    file = folder / path.removeprefix(begin)
    if not path.startswith(begin) or not file.is_file():
        return Answer(404)
    return give(file.read_bytes(), request)
