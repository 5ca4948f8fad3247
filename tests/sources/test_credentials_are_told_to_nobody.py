"""Whatever a server answers, no word of a credential is in what we say: not in a message, a traceback, or a log of any level.

The servers here send back what they were sent, credentials and all, with each status.
"""

import base64
import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from localcluster.certificates import Authority
from objectstore.front import Answer, Front, Request, front
from objectstore.tls import server_side, trusted
from sources.reading import QUICK
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import never, opened

#: In base64, as Azure's keys are, and without '=', which is written in more than one way.
SECRET = "c2VjcmV0LXNlY3JldHNl"
OTHER = "b3RoZXItb3RoZXItb3Ro"
LOGIN = base64.b64encode(f"me:{SECRET}".encode()).decode()

#: By kind: the URI, and the environment of the reader; URL is the server's.
KINDS = {
    "s3": (
        "s3://b/m/",
        {
            "AWS_ENDPOINT_URL": "URL",
            "AWS_ACCESS_KEY_ID": OTHER,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": SECRET,
        },
    ),
    "az key": ("az://b/m/", {"AZURE_STORAGE_ACCOUNT_KEY": SECRET}),
    "az sas": ("az://b/m/", {"AZURE_STORAGE_SAS_TOKEN": f"sv=2023-11-03&sig={SECRET}"}),
    "az token": ("az://b/m/", {"AZURE_STORAGE_TOKEN": SECRET}),
    "gs token": ("gs://b/m/", {"GOOGLE_BASE_URL": "URL", "GOOGLE_BEARER_TOKEN": SECRET}),
    "gs key": ("gs://b/m/", {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps({"private_key": SECRET})}),
    "https": ("HOST/m/", {"NETRC": "FILE"}),
    "hf": ("hf://org/chat/", {"HF_ENDPOINT": "URL", "HF_TOKEN": SECRET}),
    "hf file": ("hf://org/chat/", {"HF_ENDPOINT": "URL", "HF_TOKEN_PATH": "FILE"}),
}
ANSWERS = (200, 206, 302, 400, 401, 403, 404, 429, 500)


def parrot(status: int, request: Request) -> Answer:
    """Every header that came, and the URL with its query."""
    body = json.dumps([request.path, dict(request.headers)]).encode()
    told = {"X-Said": request.path, "Location": f"http://elsewhere.example/?{SECRET}"}
    return Answer(status, told, body)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "a")
    with front(partial(parrot, 500), server_side(authority, tmp_path)) as found:
        monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{found.url}/a")
        yield found


@pytest.fixture(params=KINDS)
def uri(
    request: pytest.FixtureRequest,
    server: Front,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    uri, environ = KINDS[request.param]
    file = tmp_path / "file"
    file.write_text(
        f"machine localhost login me password {SECRET}\n" if "NETRC" in environ else SECRET
    )
    file.chmod(0o600)
    for name, value in environ.items():
        monkeypatch.setenv(name, {"URL": server.url, "FILE": str(file)}.get(value, value))
    return uri.replace("HOST", server.url)


def test_no_word_of_a_credential_is_said(
    server: Front, uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = []
    for status in ANSWERS:
        server.answerer = partial(parrot, status)
        with pytest.raises(WeightsError) as caught:
            _look(uri)
        said += [caught.value.message, *traceback.format_exception(caught.value)]
    text = "".join([*said, caplog.text])
    assert not any(secret in text for secret in (SECRET, OTHER, LOGIN))


def _look(uri: str) -> None:
    """Always fails."""
    with closing(opened(uri, never, QUICK)) as source:
        raise WeightsError(Reason.SOURCE_UNREADABLE, f"found {source.stamps()}")
