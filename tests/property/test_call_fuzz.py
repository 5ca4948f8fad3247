"""No call makes an agent fail: each is answered or refused by name, and nothing strange is written."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from corpus import rpc, seeds
from random_calls import call_lists

pytestmark = pytest.mark.slow


@settings(max_examples=15, deadline=None)
@given(call_lists())
def test_every_call_is_answered_or_refused_by_name(calls: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert rpc.judge(json.dumps([seeds.HELLO, *calls]).encode(), Path(folder))
