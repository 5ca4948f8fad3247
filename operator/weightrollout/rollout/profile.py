"""The spec as it holds: what the object leaves out is what its profile chooses.

The only place where a profile means anything. Whoever reads a spec for a decision, a forecast or a
warning reads it through this.
"""

from weightrollout.api.profiles import TRAINING
from weightrollout.api.spec import Driver, OnFailure, Profile, Supersede, WeightRolloutSpec


def resolved(spec: WeightRolloutSpec) -> WeightRolloutSpec:
    """What was said stays. Resolved twice it is the same."""
    return _driven(_profiled(spec))


def _driven(spec: WeightRolloutSpec) -> WeightRolloutSpec:
    """A trainer's durable version is no rollout: it has no steps, no queue and no way back."""
    if spec.driver is Driver.OPERATOR:
        return spec
    strategy = spec.strategy.model_copy(update={"steps": (), "supersede": Supersede.IMMEDIATE})
    return spec.model_copy(update={"strategy": strategy, "on_failure": OnFailure.HOLD})


def _profiled(spec: WeightRolloutSpec) -> WeightRolloutSpec:
    if spec.profile is Profile.SERVING:
        return spec  # the types' own defaults are Serving's
    sections = {}
    for section, fields in TRAINING.items():
        said = getattr(spec, section)
        absent = {
            name: value for name, value in fields.items() if name not in said.model_fields_set
        }
        sections[section] = said.model_copy(update=absent)
    return spec.model_copy(update=sections)
