"""The rights that the operator has in every test: those that the chart gives it, and nothing else."""

from pathlib import Path
from typing import Any, Final

import yaml

Json = dict[str, Any]

RIGHTS_FILE: Final = (
    Path(__file__).resolve().parents[2] / "charts" / "weightrollout" / "files" / "rights.yaml"
)


def rights(scope: str) -> list[Json]:
    """`namespaced`, `evicting`, `own` or `clusterWide`, as the chart has them: `verbs` are a mapping from each verb to its reason."""
    found: list[Json] = yaml.safe_load(RIGHTS_FILE.read_text(encoding="utf-8"))[scope]
    return found


def _rules(scope: str) -> tuple[Json, ...]:
    return tuple({**rule, "verbs": sorted(rule["verbs"])} for rule in rights(scope))


WHERE_IT_WORKS: Final = _rules("namespaced")
EVICTING: Final = _rules("evicting")  # where it works, with rbac.evictPods
OWN: Final = _rules("own")
CLUSTER_WIDE: Final = _rules("clusterWide")
#: Of a Role in the operator's namespace, and of a ClusterRole beside it, by the chart's value `scope`.
OF_ONE_NAMESPACE: Final = ((*WHERE_IT_WORKS, *OWN), CLUSTER_WIDE)
OF_ALL: Final = (OWN, (*WHERE_IT_WORKS, *CLUSTER_WIDE))
