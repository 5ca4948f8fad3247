"""A remote URI is taken apart in one way, and what may be a credential in it is refused and not repeated."""

import pytest

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import folder, never, opened
from weightrollout.weights.sources.uri import Place, place, shown


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("s3://bucket/a/b/", Place("bucket", "a/b")),
        ("s3://bucket", Place("bucket", "")),
        ("s3://bucket/", Place("bucket", "")),
        ("https://host:8443/a%20b/%C3%A4/", Place("host:8443", "a b/ä")),
        ("hf://org/name@main/sub/", Place("org", "name@main/sub")),
    ],
)
def test_uri_names_a_host_and_a_path(uri: str, found: Place) -> None:
    assert place(uri) == found


@pytest.mark.parametrize(
    "uri",
    [
        "s3://key:pw@bucket/a/",
        "s3://bucket/a/?X-Signature=pw",
        "s3://bucket/a/#pw",
        "s3:///a/",
        "s3://bucket/a/../b/",
        "s3://bucket/a//b/",
        "s3://bucket/./a/",
        "s3://bucket/a%0Ab/",
        "s3://bucket/%FF/",
        "s3://bucket/%2e%2e/b",
        "s3://[bucket/",
    ],
)
def test_other_uri_is_refused_without_its_secrets(uri: str) -> None:
    with pytest.raises(WeightsError) as caught:
        opened(uri, never)
    assert caught.value.reason is Reason.SOURCE_UNSUPPORTED
    assert "pw" not in caught.value.message


def test_what_is_shown_holds_no_credential() -> None:
    assert shown("https://me:pw@host/a/?token=pw#pw") == "https://host/a/"


def test_remote_uri_names_no_folder_of_this_machine() -> None:
    assert folder("s3://bucket/a/") is None
