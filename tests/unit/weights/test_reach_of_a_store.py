"""The library for object stores reaches its store and who gives it an identity, by the pod's settings, and nobody else."""

import json
from pathlib import Path

import pytest

from weightrollout.weights.sources.reach import client_options


def _reached(scheme: str, **environ: str) -> set[str]:
    return set(client_options(scheme, environ)["proxy_excludes"].split(","))


@pytest.mark.parametrize(
    ("scheme", "environ", "store"),
    [
        ("s3", {}, "s3.us-east-1.amazonaws.com"),
        ("s3", {"AWS_REGION": "eu-central-1"}, "s3.eu-central-1.amazonaws.com"),
        ("s3", {"AWS_DEFAULT_REGION": "eu-west-1"}, "s3.eu-west-1.amazonaws.com"),
        ("s3", {"AWS_ENDPOINT_URL": "https://minio.storage:9000"}, "minio.storage"),
        ("s3", {"AWS_ENDPOINT_URL_S3": "http://[fd00::7]:9000"}, "fd00::7"),
        ("gs", {}, "storage.googleapis.com"),
        ("gs", {"GOOGLE_BASE_URL": "https://gcs.example"}, "gcs.example"),
        ("gs", {"GOOGLE_SERVICE_ACCOUNT_KEY": '{"gcs_base_url": "https://in.key"}'}, "in.key"),
        ("az", {"AZURE_STORAGE_ACCOUNT_NAME": "chat"}, "chat.blob.core.windows.net"),
        ("az", {"AZURE_STORAGE_ENDPOINT": "https://blob.example/chat"}, "blob.example"),
        ("az", {"AZURE_STORAGE_USE_EMULATOR": "true"}, "127.0.0.1"),
    ],
)
def test_store_is_where_the_settings_say(scheme: str, environ: dict[str, str], store: str) -> None:
    assert store in _reached(scheme, **environ)


def test_store_of_the_cloud_is_not_reached_where_another_is_named() -> None:
    named = _reached("s3", AWS_REGION="eu-west-1", AWS_ENDPOINT_URL="https://minio.storage")
    assert "s3.eu-west-1.amazonaws.com" not in named


def test_mounted_key_may_name_the_store(tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    key.write_text(json.dumps({"gcs_base_url": "https://in.file:4443"}))
    assert "in.file" in _reached("gs", GOOGLE_SERVICE_ACCOUNT=str(key))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"gcs_base_url": 3}'])
def test_key_that_names_none_changes_nothing(tmp_path: Path, text: str) -> None:
    key = tmp_path / "key.json"
    key.write_text(text)
    found = _reached("gs", GOOGLE_SERVICE_ACCOUNT=str(key))
    assert "storage.googleapis.com" in found


@pytest.mark.parametrize(
    ("scheme", "environ", "host"),
    [
        ("s3", {"AWS_REGION": "eu-west-1"}, "sts.eu-west-1.amazonaws.com"),
        (
            "s3",
            {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials"},
            "169.254.170.23",
        ),
        (
            "s3",
            {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://[fd00:ec2::23]/v1/credentials"},
            "fd00:ec2::23",
        ),
        ("s3", {}, "169.254.169.254"),
        ("gs", {}, "metadata.google.internal"),
        ("gs", {"GCE_METADATA_HOST": "127.0.0.1:988"}, "127.0.0.1"),
        ("az", {}, "login.microsoftonline.com"),
        (
            "az",
            {"AZURE_AUTHORITY_HOST": "https://login.microsoftonline.us"},
            "login.microsoftonline.us",
        ),
        ("az", {"IDENTITY_ENDPOINT": "http://127.0.0.1:41741/msi"}, "127.0.0.1"),
    ],
)
def test_identity_is_asked_for_where_the_cloud_gives_it(
    scheme: str, environ: dict[str, str], host: str
) -> None:
    assert host in _reached(scheme, **environ)


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_proxy_of_the_environment_stays_in_use(name: str) -> None:
    assert client_options("s3", {name: "http://proxy:3128"}) == {}
