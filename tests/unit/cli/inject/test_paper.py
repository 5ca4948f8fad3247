"""docs/inject.md says what the code does."""

import re
from pathlib import Path

import pytest

from injecting import Json
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Reason
from weightrollout.cli.inject.workloads import inject_all

PAPER = (Path(__file__).parents[4] / "docs" / "inject.md").read_text()
#: What the paper says it was injected with.
HOW = Options(
    "weightrollout-agent", checkpoint_bytes=16 << 30, folder="/models/chat/1200", gate=True
)


def example(name: str) -> Json:
    found = re.search(rf"<!-- {name} -->\n```yaml\n(.*?)```", PAPER, re.DOTALL)
    assert found is not None
    [only] = documents.read(found.group(1))
    return dict(only)


def test_the_deployment_by_hand_is_what_inject_makes_of_it() -> None:
    [made] = inject_all([example("before")], HOW).objects
    del made["spec"]["template"]["metadata"]["annotations"]
    assert example("after") == made


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_its_line(reason: Reason) -> None:
    assert re.search(rf"^\|[^|]*`{reason}`", PAPER, re.MULTILINE)
