"""The list by which the plugin refuses layers says what was run, and nothing else."""

import json
from pathlib import Path

import pytest

from realvllm import proven
from realvllm.families import FAMILIES
from realvllm.plugins import PRODUCT
from weightrollout.plugin import registration

LISTS = sorted((PRODUCT / "plugin").glob("layers-*.json"))


def test_each_tried_minor_has_its_list_and_no_other_has_one() -> None:
    assert {path.stem for path in LISTS} == {f"layers-{minor}" for minor in registration.TESTED}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_list_names_every_family_and_is_as_the_run_writes_it(path: Path) -> None:
    table = json.loads(path.read_text())
    families = {name for by in table.values() for names in by.values() for name in names}
    assert families == set(FAMILIES)
    assert path.read_text() == proven.dumps(table)
