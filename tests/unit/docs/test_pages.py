"""Documentation that leads somewhere: links, the list of pages, and manifests that the API server would take."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import pages
from pages import DOCS, FENCE, Fence, fences, name
from weightrollout.cli.main import app

PAGES = pages.pages()
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=map(name, PAGES))
def test_each_link_of_a_page_leads_to_a_page_and_a_heading(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{target} leads nowhere"
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{target}: there is no such heading"


def test_each_page_is_on_the_list() -> None:
    listed = set(LINK.findall((DOCS / "README.md").read_text()))
    folders = {each for each in listed if each.endswith("/")}
    for page in DOCS.rglob("*.md"):
        name = str(page.relative_to(DOCS))
        assert name == "README.md" or name in listed or name.startswith(tuple(folders)), name


def manifests() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for fence in fences(page.read_text()):
            if fence.language == "yaml" and re.search("^kind: WeightRollout", fence.text, re.M):
                yield name(page), fence.text


MANIFESTS = list(manifests())


@pytest.mark.parametrize(("page", "text"), MANIFESTS, ids=[page for page, _ in MANIFESTS])
def test_each_manifest_of_a_page_would_be_taken(page: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.yaml"
    file.write_text(text)
    linted = CliRunner().invoke(app, ["lint", str(file)])
    assert linted.exit_code == 0, linted.output


def parsed(language: str, text: str) -> object:
    """Raises what the language's own parser raises."""
    match language:
        case "json":
            return json.loads(text)
        case "yaml":
            return list(yaml.safe_load_all(text))
        case "toml":
            return tomllib.loads(text)
        case "python":
            return compile(text, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return None


BLOCKS = [(name(page), each) for page in PAGES for each in fences(page.read_text())]


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[page for page, _ in BLOCKS])
def test_each_block_of_a_page_is_of_its_language(page: str, block: Fence) -> None:
    parsed(block.language, block.text)
