"""The CustomResourceDefinition, made from the types of this room.

`python -m weightrollout.api.generate --write` puts it into crds/; `--check` compares (see `generate`).
"""

import hashlib
import json
from typing import Any, Final

from weightrollout.api.names import ANNOTATION_SCHEMA, GROUP, KIND, PLURAL, VERSION
from weightrollout.api.rules import RULES
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.api.structural import structural

HEADER: Final = (
    "# GENERATED from operator/weightrollout/api by 'make generate'; never edited by hand.\n"
)

#: What an object says before the operator does. Tools that follow kstatus take one without any status for
#: complete, and would hold "just applied" for "rolled out"; generations begin at 1.
UNSEEN: Final = {"default": {"observedGeneration": 0}}

_DESCRIPTION: Final = (
    "The version of the weights that a fleet of vLLM pods should serve. Pods join by the label"
    f" {GROUP}/name in their template."
)


def custom_resource_definition() -> dict[str, Any]:
    """As it is applied to a cluster, with `schema_hash()` as an annotation."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{PLURAL}.{GROUP}",
            "annotations": {ANNOTATION_SCHEMA: schema_hash()},
        },
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["wr"],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(),
                    "schema": {"openAPIV3Schema": object_schema()},
                }
            ],
        },
    }


def object_schema() -> dict[str, Any]:
    """Structural schema of one WeightRollout."""
    return {
        "description": _DESCRIPTION,
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(WeightRolloutSpec, "spec", defaults=True),
            "status": structural(WeightRolloutStatus, "status", defaults=False) | UNSEEN,
        },
        "x-kubernetes-validations": [rule.as_schema() for rule in RULES[""]],
    }


def schema_hash() -> str:
    """16 hex digits that change with what an API server accepts, fills in or keeps.

    The operator compares it with the annotation in the cluster: an older CRD would prune fields of
    our status without a word, and we would write it again for ever. Descriptions do not count.
    """
    text = json.dumps(_without_descriptions(object_schema()), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_descriptions(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_descriptions(each) for each in node]
    if isinstance(node, dict):
        return {
            key: _without_descriptions(value)
            for key, value in node.items()
            if not (key == "description" and isinstance(value, str))
        }
    return node


def _columns() -> list[dict[str, Any]]:
    """`kubectl get wr`, and after AGE what `-o wide` adds: the longest text last."""
    wide = {"priority": 1}
    return [
        _column("Version", "string", ".spec.weights.version", "What is desired."),
        _column("Phase", "string", ".status.phase", "Where the rollout is."),
        _column("Updated", "string", ".status.updated", "Pods that serve the target, of all."),
        _column("Hold", "string", ".status.hold.reason", "Why it does not move now."),
        _column(
            "Pause",
            "integer",
            ".status.pauseMillis.p99",
            "99th percentile of this revision's measured pauses, in milliseconds.",
        ),
        _column("Age", "date", ".metadata.creationTimestamp", "Time since it was created."),
        _column("Stable", "string", ".status.stable.version", "Where undo leads.") | wide,
        _column("Step", "integer", ".status.step.index", "Canary steps that are passed.") | wide,
        _column("Failed", "integer", ".status.pods.failed", "Pods that failed for good.") | wide,
        _column("Driver", "string", ".spec.driver", "Who starts swaps.") | wide,
        _column("Message", "string", ".status.message", "One line for people.") | wide,
    ]


def _column(name: str, kind: str, path: str, description: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "jsonPath": path, "description": description}


def as_yaml() -> str:
    """The content of the file in crds/."""
    import yaml  # only here: the wheel does not depend on it

    text: str = yaml.safe_dump(
        custom_resource_definition(), sort_keys=False, width=100, allow_unicode=True
    )
    return HEADER + text
