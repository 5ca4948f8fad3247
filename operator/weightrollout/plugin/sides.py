"""The models of one engine that can be given other weights: its target, and a draft where it has one."""

import logging
import os
from dataclasses import dataclass
from typing import Any, Final

from torch import nn

from weightrollout.handover.records import DRAFT, TARGET, LoadPlan
from weightrollout.plugin import layers, recording, registration, report
from weightrollout.plugin.subject import Subject, SubjectError

#: Take this path whatever the plan says: for comparisons.
FORCED_PATH: Final = "WEIGHTROLLOUT_PATH"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Side:
    """A model, and how one rank of it is filled."""

    subject: Subject
    path: str
    plan: LoadPlan


def understand(vllm_config: Any, model: nn.Module, rank: int) -> dict[str, Side]:
    """By session. Raises SubjectError for the target.

    A draft that is not understood is left out and stays as it is: that costs speed, not correctness.
    """
    target_config = vllm_config.model_config
    sides = {TARGET: _side(vllm_config, model, target_config, rank, whole=True)}
    speculative, drafts = vllm_config.speculative_config, recording.others(model)
    if speculative is None or speculative.draft_model_config is None or len(drafts) != 1:
        return sides
    config = speculative.draft_model_config
    shared = config.model == target_config.model
    try:
        sides[DRAFT] = _side(vllm_config, drafts[0], config, rank, whole=not shared)
    except SubjectError as error:
        log.warning("weightrollout: the draft stays as it is: %s", error)
    return sides


def _side(vllm_config: Any, model: nn.Module, model_config: Any, rank: int, *, whole: bool) -> Side:
    subject = Subject.of(model, model_config, recording.record_of(model), whole=whole)
    path = subject.path(
        os.environ.get(FORCED_PATH, ""),
        report.free_bytes(vllm_config),
        by_reference=_by_reference(vllm_config),
        known=_tried(),
    )
    return Side(subject, path, subject.plan(rank, path))


def _tried() -> layers.Tested | None:
    minor = registration.minor()
    return layers.tested(minor) if minor in registration.TESTED else None


def _by_reference(vllm_config: Any) -> bool:
    """Compiled code and captured graphs remember addresses; eager Python looks them up."""
    return bool(vllm_config.model_config.enforce_eager)
