"""Which hosts the library for object stores may reach: the store's own, and those that give an identity. Pure.

Also where Amazon's are in a region that the library looks for in the wrong place.

obstore follows redirects, and cannot be told not to. To another host its HTTP client (reqwest 0.13) sends no Authorization,
but x-amz-security-token, and as Referer the URL that it came from: with a SAS of Azure that is the credential. So every
other host is asked for by a proxy that nobody can be, and such a request ends before a byte of it was sent.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

#: Nothing can listen on port 0.
NOWHERE: Final = "127.0.0.1:0"

_PROXIES: Final = ("https_proxy", "http_proxy", "all_proxy")
_METADATA: Final = "169.254.169.254"

#: Variables that say where the store is, by object_store 0.14; where none is set, it is where the cloud has it.
_STORE: Final = {
    "s3": ("aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint"),
    "gs": ("google_base_url",),
    "az": ("azure_storage_endpoint", "azure_endpoint", "azurite_blob_storage_url"),
}
#: What a region's name begins with -> where Amazon's hosts end there, if not in amazonaws.com, which object_store 0.14 takes for
#: all. From botocore 1.43, partitions.json.
_PARTITIONS: Final = {
    "cn-": "amazonaws.com.cn",
    "eusc-": "amazonaws.eu",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "us-isof-": "csp.hci.ic.gov",
    "eu-isoe-": "cloud.adc-e.uk",
}
_AMAZON: Final = "amazonaws.com"
_YES: Final = frozenset({"1", "true", "on", "yes", "y"})  # as object_store reads it

#: Variables that say where an identity is given.
_IDENTITY: Final = {
    "s3": (
        "aws_endpoint_url_sts",
        "aws_container_credentials_full_uri",
        "aws_metadata_endpoint",
    ),
    "gs": ("gce_metadata_host", "gce_metadata_root", "gce_metadata_ip"),
    "az": (
        "azure_storage_authority_host",
        "azure_authority_host",
        "azure_msi_endpoint",
        "azure_identity_endpoint",
        "azure_fabric_token_service_url",
        "identity_endpoint",
    ),
}


def client_options(scheme: str, environ: Mapping[str, str]) -> dict[str, str]:
    """For obstore. {}: the environment names a proxy, so that one has to say what may be reached."""
    given = _given(environ)
    if any(name in given for name in _PROXIES):
        return {}
    return {"proxy_url": f"http://{NOWHERE}", "proxy_excludes": ",".join(hosts(scheme, given))}


def s3_settings(bucket: str, environ: Mapping[str, str]) -> dict[str, str]:
    """For obstore, where S3 and STS of the region are; {}: it knows. What the environment says goes before."""
    given = _given(environ)
    region, ending = _region(given)
    if ending == _AMAZON:
        return {}
    found = {}
    if not _named(given, _STORE["s3"]):
        # Where it puts the bucket into the host's name it wants that said.
        before = given.get("aws_virtual_hosted_style_request", "").lower() in _YES
        found["endpoint"] = f"https://{f'{bucket}.' if before else ''}s3.{region}.{ending}"
    if "aws_endpoint_url_sts" not in given:
        found["endpoint_url_sts"] = f"https://sts.{region}.{ending}"
    return found


def hosts(scheme: str, given: Mapping[str, str]) -> list[str]:
    """Of `given`, the environment with names in lower case. A name stands for those below it, too."""
    where = _named(given, _STORE[scheme])
    match scheme:
        case "s3":
            region, ending = _region(given)
            where = where or [f"s3.{region}.{ending}"]
            identity = [f"sts.{region}.{ending}", "169.254.170.2"]
        case "gs":
            where = where or _base_url_of_the_key(given) or ["storage.googleapis.com"]
            identity = ["oauth2.googleapis.com", "metadata.google.internal"]
        case _:
            account = given.get("azure_storage_account_name", "none")
            clouds = [f"{account}.blob.core.windows.net", f"{account}.blob.fabric.microsoft.com"]
            where = where or (["127.0.0.1"] if "azure_storage_use_emulator" in given else clouds)
            identity = ["login.microsoftonline.com"]
    return [*where, *identity, _METADATA, *_named(given, _IDENTITY[scheme])]


def _given(environ: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in environ.items() if value}


def _region(given: Mapping[str, str]) -> tuple[str, str]:
    """Amazon's, and where its hosts end."""
    region = given.get("aws_region") or given.get("aws_default_region") or "us-east-1"
    endings = (each for begin, each in _PARTITIONS.items() if region.startswith(begin))
    return region, next(endings, _AMAZON)


def _named(given: Mapping[str, str], names: Iterable[str]) -> list[str]:
    return [host for name in names if (host := _host(given.get(name, "")))]


def _host(url: str) -> str:
    """Without port; "" where there is none. Also of a bare host:port."""
    try:
        return urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return ""  # the library will refuse it


def _base_url_of_the_key(given: Mapping[str, str]) -> list[str]:
    """A key of Google may say where its store is."""
    path = given.get("google_service_account") or given.get("google_service_account_path")
    try:
        text = Path(path).read_text() if path else given.get("google_service_account_key", "{}")
        found = json.loads(text).get("gcs_base_url")
    except (OSError, ValueError, AttributeError):
        return []  # the library will refuse it
    host = _host(found) if isinstance(found, str) else ""
    return [host] if host else []
