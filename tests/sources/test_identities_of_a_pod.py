"""A pod's identity is fetched where its cloud gives it and shown to the store; no other pod's settings are needed.

The services are played, by the forms that their clouds document: EKS Pod Identity, STS, the metadata servers of AWS and
Google, and Microsoft's token service.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import azure, google
from objectstore.front import Answer, Answerer, Front, Request, front
from objectstore.tls import server_side, trusted
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store

ACCESS = "access-that-was-given"
TOKEN = "token-of-the-service-account"


def _later() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_identity(request: Request) -> Answer:
    if request.path != "/v1/credentials" or request.headers.get("authorization") != TOKEN:
        return Answer(403)
    keys = {"AccessKeyId": ACCESS, "SecretAccessKey": "s", "Token": "t", "Expiration": _later()}
    return Answer(200, {}, json.dumps(keys).encode())


def sts(request: Request) -> Answer:
    said = f"{request.path}&{request.body.decode()}"
    if "Action=AssumeRoleWithWebIdentity" not in said or f"WebIdentityToken={TOKEN}" not in said:
        return Answer(403)
    keys = f"<AccessKeyId>{ACCESS}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
    result = f"<Credentials>{keys}<Expiration>{_later()}</Expiration></Credentials>"
    name = "AssumeRoleWithWebIdentity"
    return Answer(
        200, {}, f"<{name}Response><{name}Result>{result}</{name}Result></{name}Response>".encode()
    )


def metadata_of_aws(request: Request) -> Answer:
    role = "/latest/meta-data/iam/security-credentials/"
    if (request.method, request.path) == ("PUT", "/latest/api/token"):
        return Answer(200, {}, TOKEN.encode())
    if request.headers.get("x-aws-ec2-metadata-token") != TOKEN:
        return Answer(401)
    if request.path == role:
        return Answer(200, {}, b"node-role")
    keys = {"AccessKeyId": ACCESS, "SecretAccessKey": "s", "Token": "t", "Expiration": _later()}
    return Answer(200, {}, json.dumps({"Code": "Success", **keys}).encode())


def metadata_of_google(request: Request) -> Answer:
    path = "/computeMetadata/v1/instance/service-accounts/default/token"
    if not request.path.startswith(path) or request.headers.get("metadata-flavor") != "Google":
        return Answer(403)
    token = {"access_token": ACCESS, "expires_in": 3600, "token_type": "Bearer"}
    return Answer(200, {}, json.dumps(token).encode())


def microsoft(request: Request) -> Answer:
    if request.path != "/tenant/oauth2/v2.0/token" or TOKEN not in request.body.decode():
        return Answer(403)
    return Answer(200, {}, json.dumps({"access_token": ACCESS, "expires_in": 3600}).encode())


@dataclass(frozen=True)
class Kind:
    scheme: str
    answers: Answerer
    environment: Mapping[str, str] = field(default_factory=dict)
    tls: bool = False


AWS = {"AWS_REGION": "eu-central-1"}
AZURE = {"AZURE_CLIENT_ID": "client", "AZURE_TENANT_ID": "tenant"}
#: URL, HOST: of the service. FILE: holds the token.
KINDS = {
    "Pod Identity": Kind(
        "s3",
        pod_identity,
        {
            **AWS,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "URL/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "FILE",
        },
    ),
    "IAM role of a ServiceAccount": Kind(
        "s3",
        sts,
        {
            **AWS,
            "AWS_ENDPOINT_URL_STS": "URL",
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/reader",
            "AWS_WEB_IDENTITY_TOKEN_FILE": "FILE",
        },
        tls=True,
    ),
    "node of AWS": Kind("s3", metadata_of_aws, {**AWS, "AWS_METADATA_ENDPOINT": "URL"}),
    "GKE": Kind("gs", metadata_of_google, {"GCE_METADATA_HOST": "HOST", "GCE_METADATA_IP": "HOST"}),
    "Azure Workload Identity": Kind(
        "az",
        microsoft,
        {**AZURE, "AZURE_AUTHORITY_HOST": "URL", "AZURE_FEDERATED_TOKEN_FILE": "FILE"},
        tls=True,
    ),
}


@dataclass(frozen=True)
class Pod:
    uri: str
    folder: Path
    store: Front
    identity: Front


@pytest.fixture(params=KINDS)
def pod(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pod]:
    kind = KINDS[request.param]
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    token = tmp_path / "token"
    token.write_text(TOKEN)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    monkeypatch.setenv("HOME", str(tmp_path))  # no keys of whoever runs this
    tls = server_side(authority, tmp_path) if kind.tls else None
    answers = azure(folder, "a", "b", "m/") if kind.scheme == "az" else google(folder, "b", "m/")
    with front(answers) as store, front(kind.answers, tls) as identity:
        settings = {
            "AWS_ENDPOINT_URL": store.url,
            "AWS_ALLOW_HTTP": "true",
            "GOOGLE_BASE_URL": store.url,
            "GOOGLE_ALLOW_HTTP": "true",
            "AZURE_STORAGE_ACCOUNT_NAME": "a",
            "AZURE_STORAGE_ENDPOINT": f"{store.url}/a",
            "AZURE_ALLOW_HTTP": "true",
        }
        host = identity.url.partition("//")[2]
        for name, value in {**settings, **kind.environment}.items():
            value = value.replace("URL", identity.url).replace("HOST", host)
            monkeypatch.setenv(name, value.replace("FILE", str(token)))
        yield Pod(f"{kind.scheme}://b/m/", folder, store, identity)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


def test_what_the_pod_is_given_opens_the_store(store: Store, pod: Pod) -> None:
    assert stage_uri(pod.folder, pod.uri, store).digest
    assert all(ACCESS in each.headers.get("authorization", "") for each in pod.store.heard)


def test_pod_that_is_given_nothing_is_denied(store: Store, pod: Pod) -> None:
    pod.identity.answerer = lambda _: Answer(403, {}, b"SECRET-OF-THE-SERVER")
    error = refusal(pod.folder, pod.uri, store)
    assert error.reason is Reason.SOURCE_DENIED
    assert "found no credentials" in error.message
    assert TOKEN not in error.message
    assert pod.store.heard == []
