"""Other people's servers that play the stores of two clouds: fake-gcs-server for Google's, Azurite for Azure's."""

import base64
import hashlib
import hmac
import json
import os
import secrets
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote, urlencode

from gobinary import BuildFailed
from objectstore.build import azurite_command, google_binary
from objectstore.server import running
from ports import ports_for_good
from tiers import unavailable

#: Of the service whose signatures are made here.
AZURE_VERSION: Final = "2021-08-06"


class Cloud(Protocol):
    """One server."""

    @property
    def address(self) -> str:
        """host:port."""

    def bucket(self) -> str:
        """The URI of a new one, without a slash at its end."""

    def put(self, uri: str, data: bytes) -> None:
        """One object."""

    def environment(self, url: str) -> Mapping[str, str]:
        """What a pod that may read gets. `url`: of the server, or of what stands before it."""


def upload(cloud: Cloud, folder: Path, uri: str) -> None:
    """All files of a folder."""
    for file in sorted(folder.iterdir()):
        cloud.put(f"{uri}/{file.name}", file.read_bytes())


@dataclass(frozen=True)
class Google:
    """It asks for no credentials."""

    address: str

    def bucket(self) -> str:
        name = f"bucket-{secrets.token_hex(4)}"
        body = json.dumps({"name": name}).encode()
        self._post("/storage/v1/b?project=tests", body, "application/json")
        return f"gs://{name}"

    def put(self, uri: str, data: bytes) -> None:
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        query = f"uploadType=media&name={quote(name, safe='')}"
        self._post(f"/upload/storage/v1/b/{bucket}/o?{query}", data, "application/octet-stream")

    def environment(self, url: str) -> Mapping[str, str]:
        return {"GOOGLE_BASE_URL": url, "GOOGLE_ALLOW_HTTP": "true", "GOOGLE_BEARER_TOKEN": "x"}

    def _post(self, path: str, body: bytes, kind: str) -> None:
        request = urllib.request.Request(f"http://{self.address}{path}", body)
        request.add_header("Content-Type", kind)
        urllib.request.urlopen(request).close()


@dataclass(frozen=True)
class Azure:
    address: str
    account: str
    key: str  # base64

    def bucket(self) -> str:
        name = f"container-{secrets.token_hex(4)}"
        self._put(f"/{name}", {"restype": "container"}, b"", {})
        return f"az://{name}"

    def put(self, uri: str, data: bytes) -> None:
        self._put(f"/{uri.removeprefix('az://')}", {}, data, {"x-ms-blob-type": "BlockBlob"})

    def environment(self, url: str) -> Mapping[str, str]:
        return {
            "AZURE_STORAGE_ACCOUNT_NAME": self.account,
            "AZURE_STORAGE_ACCOUNT_KEY": self.key,
            "AZURE_STORAGE_ENDPOINT": f"{url}/{self.account}",
            "AZURE_ALLOW_HTTP": "true",
        }

    def sas(self, uri: str, rights: str, valid: timedelta) -> str:
        """A signature that opens one container: rights r, l."""
        end = (datetime.now(UTC) + valid).strftime("%Y-%m-%dT%H:%M:%SZ")
        resource = f"/blob/{self.account}/{uri.removeprefix('az://').partition('/')[0]}"
        lines = [rights, "", end, resource, "", "", "", AZURE_VERSION, "c", *[""] * 7]
        query = {"sp": rights, "se": end, "sv": AZURE_VERSION, "sr": "c"}
        return urlencode({**query, "sig": self._signed("\n".join(lines))})

    def _put(
        self, path: str, query: Mapping[str, str], data: bytes, more: Mapping[str, str]
    ) -> None:
        own = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": AZURE_VERSION, **more}
        lines = [f"{name}:{own[name]}" for name in sorted(own)]
        resource = [f"/{self.account}/{self.account}{path}", *map(":".join, query.items())]
        kind = "application/octet-stream"
        head = ["PUT", "", "", str(len(data) or ""), "", kind, *[""] * 6]
        signature = self._signed("\n".join([*head, *lines, *resource]))
        url = f"http://{self.address}/{self.account}{path}?{urlencode(query)}"
        request = urllib.request.Request(url, data, {**own, "Content-Type": kind}, method="PUT")
        request.add_header("Authorization", f"SharedKey {self.account}:{signature}")
        urllib.request.urlopen(request).close()

    def _signed(self, text: str) -> str:
        key = base64.b64decode(self.key)
        return base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()


@contextmanager
def google_server(folder: Path) -> Iterator[Google]:
    """Skips the test, or fails it, where it cannot be built here."""
    try:
        binary = google_binary()
    except (BuildFailed, OSError) as why:
        unavailable(f"there is no fake-gcs-server: {why}")
    port = ports_for_good(1)[0]
    found = Google(f"127.0.0.1:{port}")
    argv = [str(binary), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port)]
    argv += ["-backend", "memory", "-public-host", "127.0.0.1"]  # with any port
    with running(argv, {}, found.address, folder):
        yield found


@contextmanager
def azure_server(folder: Path) -> Iterator[Azure]:
    """In the same way."""
    try:
        command = azurite_command()
    except (BuildFailed, OSError) as why:
        unavailable(f"there is no Azurite: {why}")
    port = ports_for_good(1)[0]
    key = base64.b64encode(secrets.token_bytes(33)).decode()
    found = Azure(f"127.0.0.1:{port}", "account", key)
    argv = [*command, "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]
    argv += ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    environment = {"PATH": os.defpath, "AZURITE_ACCOUNTS": f"{found.account}:{key}"}
    with running(argv, environment, found.address, folder):
        yield found
