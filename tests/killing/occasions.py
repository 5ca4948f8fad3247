"""What people and engines do at each occasion: specs, and faults that engines are told to have."""

from typing import Any, Final

from fleet.manifests import MEASURED
from killing.boundaries import Occasion

Json = dict[str, Any]

FLEET: Final = "chat"
PROMPTS: Final = [{"prompt": "2+2=", "maxTokens": 4, "expect": {"contains": "4"}}]
#: Until the engine ends: neither the new weights nor others.
LOADS_NOTHING: Final = {"call": "UpdateWeights", "do": "error"}
FAULTS: Final[dict[Occasion, Json]] = {
    Occasion.UPDATE_FAILS: {"call": "UpdateWeights", "do": "error", "at": 1},
    Occasion.LABEL_FAILS: {"call": "FinishWeightUpdate", "do": "label_fails", "at": 1},
    Occasion.DRAFT_FAILS: {"call": "UpdateWeights/draft", "do": "error", "at": 1},
    Occasion.POISONED: LOADS_NOTHING,
}
#: What a spec has beside the weights and the prompts, whatever the occasion.
POLICIES: Final[dict[Occasion, Json]] = {
    Occasion.MEASURED: {"strategy": MEASURED},
    Occasion.LATE_LABELS: {"swap": {"takeOut": "None"}},
    Occasion.EVICTED: {
        "repair": {"retries": 0, "allowDelete": True},
        "strategy": {"maxFailed": "100%"},
    },
}
ONE_FIRST: Final[Json] = {"steps": [{"updated": 1}, {"pause": {}}]}
#: For all files it would take minutes.
SLOWLY: Final[Json] = {"maxBytesPerSecond": "64Ki"}
DISRUPTIONS: Final[Json] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": FLEET},
    "spec": {"minAvailable": 1, "selector": {}},
}
