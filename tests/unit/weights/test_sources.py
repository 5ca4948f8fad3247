"""A URI names one absolute folder, or is refused with what to write instead."""

from pathlib import Path

import pytest

from weightrollout.api.swap import FailureClass
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import folder


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///models/chat/step-1200/", "/models/chat/step-1200"),
        ("FILE:///models", "/models"),
        ("file:///a%20b/%C3%A4/50%25", "/a b/ä/50%"),
        ("file:///a%3Fb%23c", "/a?b#c"),
        ("file:/models", "/models"),
    ],
)
def test_file_uri_names_a_folder(uri: str, path: str) -> None:
    assert folder(uri) == Path(path)


def test_every_path_survives_the_way_through_a_uri(tmp_path: Path) -> None:
    path = tmp_path / "odd ä?#%20\n;"
    assert folder(path.as_uri()) == path


@pytest.mark.parametrize(
    ("uri", "hint"),
    [
        ("ftp://models/chat/", "only file://, .* are supported, not ftp"),
        ("/models/chat", r"only file://, .* are supported, not \?"),
        ("", "only file://, .* are supported"),
        ("file://models/chat", "names the host 'models'"),
        ("file://localhost/models", "names the host"),
        ("file:models", "absolute path"),
        ("file://", "absolute path"),
        ("file:///models?x=1", "%3F"),
        ("file:///models#x", "%23"),
        ("file:///a%00b", "absolute path"),
        ("file://[", "is not a URI"),
    ],
)
def test_other_uri_is_refused_with_what_to_write(uri: str, hint: str) -> None:
    with pytest.raises(WeightsError, match=hint) as caught:
        folder(uri)
    assert caught.value.reason is Reason.SOURCE_UNSUPPORTED
    assert caught.value.failure_class is FailureClass.ENVIRONMENT
