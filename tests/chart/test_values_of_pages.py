"""What a page says to write into the chart's values is what the chart takes, and changes what it renders."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from helm.chart import CHART, SETS, template
from pages import commands, fences, name, pages

KEYS = yaml.safe_load((CHART / "values.yaml").read_text()).keys()


def values() -> list[tuple[str, dict[str, Any]]]:
    """Blocks that have nothing but keys of the chart."""
    found: list[tuple[str, dict[str, Any]]] = []
    for page in pages():
        for fence in fences(page.read_text()):
            documents = yaml.safe_load_all(fence.text) if fence.language == "yaml" else ()
            found += [
                (name(page), said)
                for said in documents
                if isinstance(said, dict) and said.keys() <= KEYS
            ]
    return found


VALUES = values()


@pytest.mark.parametrize(("page", "said"), VALUES, ids=[page for page, _ in VALUES])
def test_values_of_a_page_are_taken(page: str, said: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(said))
    rendered = template(SETS["minimal"], f"--values={file}")
    assert rendered.ok, rendered.error
    assert rendered.out != template(SETS["minimal"]).out


def settings() -> list[tuple[str, list[str]]]:
    """Of each `helm install` and `helm upgrade` that sets something."""
    found = []
    for page in pages():
        for words in commands(page.read_text(), "helm"):
            said = [f"--set={said}" for flag, said in pairwise(words) if flag == "--set"]
            found += [(name(page), said)] if said else []
    return found


SETTINGS = settings()


@pytest.mark.parametrize(("page", "said"), SETTINGS, ids=[page for page, _ in SETTINGS])
def test_settings_of_a_page_are_taken(page: str, said: list[str]) -> None:
    filled = [
        each.replace("REGISTRY", "localhost").replace("REPOSITORY", "here/x") for each in said
    ]
    rendered = template(SETS["minimal"], *filled)
    assert rendered.ok, rendered.error
    assert rendered.out != template(SETS["minimal"]).out


def test_pages_tell_values() -> None:
    assert {"docs/rl.md", "docs/howto/signing.md"} <= {page for page, _ in VALUES}
    assert SETTINGS
