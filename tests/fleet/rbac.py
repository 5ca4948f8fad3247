"""The rights that the operator has in every test: what it needs and nothing else."""

from typing import Any, Final

from weightrollout.api import names

Json = dict[str, Any]

NAMESPACED: Final[tuple[Json, ...]] = (
    {
        "apiGroups": [names.GROUP],
        "resources": [names.PLURAL],
        "verbs": ["get", "list", "watch"],
    },
    {"apiGroups": [names.GROUP], "resources": [f"{names.PLURAL}/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    {
        "apiGroups": ["apps"],
        "resources": ["controllerrevisions"],
        "verbs": ["get", "list", "watch", "create", "patch", "delete"],
    },
    {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "verbs": ["get", "list", "watch", "create", "patch", "delete"],
    },
    {
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "create", "update"],
    },
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
)

CLUSTER_WIDE: Final[tuple[Json, ...]] = (
    {
        "apiGroups": ["apiextensions.k8s.io"],
        "resources": ["customresourcedefinitions"],
        "resourceNames": [f"{names.PLURAL}.{names.GROUP}"],
        "verbs": ["get"],
    },
)
