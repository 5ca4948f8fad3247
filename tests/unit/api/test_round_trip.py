"""Types and their wire form say the same."""

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from random_objects import specs, statuses
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus


@given(specs())
def test_no_spec_changes_on_its_way_through_the_types(wire: dict[str, Any]) -> None:
    spec = WeightRolloutSpec.model_validate(wire)
    again = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert again == wire


@given(statuses())
def test_no_status_changes_on_its_way_through_the_types(wire: dict[str, Any]) -> None:
    status = WeightRolloutStatus.model_validate(wire)
    whole = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert WeightRolloutStatus.model_validate(whole) == status
    assert status.model_dump(mode="json", by_alias=True, exclude_unset=True) == wire


@pytest.mark.parametrize("wrong", ["0x10", "101%", "-1%", "1.5%", "", "25", -1, 1.5, True, None])
def test_a_count_that_is_neither_number_nor_percentage_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        WeightRolloutSpec.model_validate({"strategy": {"maxUnavailable": wrong}})
