"""One bench never loses another's figures."""

import pytest

from bench.page import with_section

PAGE = "# Benchmarks\n\nHow.\n\n## Staging\n\nold\n\n### Detail\n\nmore\n\n## Swap\n\nkept\n"


def test_a_section_is_replaced_where_it_is() -> None:
    wanted = "# Benchmarks\n\nHow.\n\n## Staging\n\nnew\n\n## Swap\n\nkept\n"
    assert with_section(PAGE, "Staging", "new\n") == wanted


def test_a_new_section_comes_last() -> None:
    assert with_section(PAGE, "Core", "\nfirst\n") == PAGE + "\n## Core\n\nfirst\n"


@pytest.mark.parametrize("title", ["Staging", "Swap", "Core"])
def test_writing_the_same_again_changes_nothing(title: str) -> None:
    once = with_section(PAGE, title, "text")
    assert with_section(once, title, "text") == once
