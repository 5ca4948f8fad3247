"""The library for object stores reaches its store and who gives it an identity, by the pod's settings, and nobody else."""

import json
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import obstore
import pytest

from weightrollout.weights.sources.objects import open_objects
from weightrollout.weights.sources.reach import client_options, s3_settings
from weightrollout.weights.sources.retry import PATIENCE


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


#: Regions by the partitions of botocore, and where their hosts end.
REGIONS = {
    "eu-central-1": "amazonaws.com",
    "us-gov-west-1": "amazonaws.com",
    "il-central-1": "amazonaws.com",
    "cn-northwest-1": "amazonaws.com.cn",
    "eusc-de-east-1": "amazonaws.eu",
    "us-iso-east-1": "c2s.ic.gov",
    "us-isob-east-1": "sc2s.sgov.gov",
    "us-isof-south-1": "csp.hci.ic.gov",
    "eu-isoe-west-1": "cloud.adc-e.uk",
}


@pytest.fixture(params=REGIONS.items(), ids=list(REGIONS))
def amazon(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """S3 of a region, whose name is in the environment."""
    region, ending = request.param
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    return f"s3.{region}.{ending}"


def _asked_at() -> str:
    objects = open_objects("s3://chat/m/", PATIENCE, lambda: False)
    found = str(obstore.sign(objects._store, "GET", "x", timedelta(seconds=60)))
    objects.close()
    return urlsplit(found).netloc


def test_bucket_is_asked_for_where_amazon_has_its_region(amazon: str) -> None:
    region = amazon.split(".")[1]
    assert _asked_at() == amazon
    assert {amazon, amazon.replace("s3.", "sts.", 1)} <= _reached("s3", AWS_REGION=region)


def test_bucket_in_the_name_of_its_host_is_asked_for_there(
    amazon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")
    assert _asked_at() == f"chat.{amazon}"


def test_role_of_a_service_account_is_asked_for_where_the_region_is() -> None:
    china = s3_settings("chat", {"AWS_REGION": "cn-north-1"})
    assert china["endpoint_url_sts"] == "https://sts.cn-north-1.amazonaws.com.cn"


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("AWS_ENDPOINT_URL", "endpoint"),
        ("AWS_ENDPOINT_URL_S3", "endpoint"),
        ("AWS_ENDPOINT_URL_STS", "endpoint_url_sts"),
    ],
)
def test_place_that_the_environment_names_goes_before_that_of_the_region(
    name: str, setting: str
) -> None:
    found = s3_settings("chat", {"AWS_REGION": "cn-north-1", name: "https://vpc.example"})
    assert setting not in found
    assert found  # the other one


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_proxy_of_the_environment_stays_in_use(name: str) -> None:
    assert client_options("s3", {name: "http://proxy:3128"}) == {}
