"""Which step is newer, and that no version of somebody else's is taken for one of ours."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weightrollout.api.spec import VERSION_PATTERN
from weightrollout.sdk.versions import LONGEST, at_least, step_of, version_of

RUNS = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,45}[A-Za-z0-9])?", fullmatch=True)
STEPS = st.integers(0, 10**15 - 1)


@given(RUNS, STEPS)
def test_every_version_is_read_back_and_fits_into_a_label(run: str, step: int) -> None:
    version = version_of(run, step)
    assert step_of(run, version) == step
    assert len(version) <= LONGEST
    assert re.fullmatch(VERSION_PATTERN, version)


@given(RUNS, RUNS, STEPS)
def test_another_runs_version_is_none_of_ours(run: str, other: str, step: int) -> None:
    if run != other:
        assert step_of(run, version_of(other, step)) is None


@pytest.mark.parametrize("version", ["", "exp", "exp.", "exp.01", "exp.-1", "exp.1.2", "default"])
def test_what_no_trainer_wrote_is_no_step(version: str) -> None:
    assert step_of("exp", version) is None
    assert not at_least("exp", version, 0)


@pytest.mark.parametrize("run", ["", ".", "a.b", "-a", "a" * 48, "a/b"])
def test_run_that_is_no_name_is_refused(run: str) -> None:
    with pytest.raises(ValueError, match="run must be"):
        version_of(run, 1)


@pytest.mark.parametrize("step", [-1, 10**15, True, "1", 1.0])
def test_step_that_is_no_number_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match="step must be"):
        version_of("exp", step)
