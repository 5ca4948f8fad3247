"""Every reason that the product's code can give, found in its source: words in CamelCase, wherever they stand.

A word that is the name of something else stands in NO_REASON: somebody has looked at it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parents[1] / "operator" / "weightrollout"

#: Where reasons are made. The command line passes them on; its own remarks are sentences that say what to do.
ROOMS: Final = (
    *("api", "rollout", "controller", "kube", "engine"),
    *("weights", "swap", "agent", "plugin", "handover"),
)
_TWO_WORDS: Final = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_ONE_WORD: Final = re.compile(r"[A-Z][a-z]+")
#: Their string arguments are reasons, also of one word.
_TAKES_REASON: Final = re.compile(r"Announce|\w*(Error|Failure|Refusal|Refused)")

NO_REASON: Final = frozenset(
    {
        # kinds, and a cause of Kubernetes' own
        *("ConfigMap", "ControllerRevision", "CustomResourceDefinition", "TokenRequest"),
        *("NamespaceTerminating", "WeightRollout"),
        # calls of engine and agent
        *("GetServerInfo", "GetModelInfo", "GetWeightVersion", "PauseGeneration", "IsPaused"),
        *("ResumeGeneration", "InitWeightTransferEngine", "StartWeightUpdate", "UpdateWeights"),
        *("StartDraftWeightUpdate", "FinishWeightUpdate", "UpdateWeightVersion", "RestartEngine"),
        *("WakeUp", "IsSleeping"),
        *(
            "FailedPrecondition",
            "InvalidArgument",
            "OutOfRange",
        ),  # gRPC's codes, in the engine's own words
        "NotFound",  # the engine's transfer has forgotten the transaction, and is asked anew
        # classes and settings
        *("AgentAsyncStub", "BearerToken", "PodWriter", "RolloutsOf", "StageCount"),
        *("PairRefused", "TargetMoved", "TransferError", "WeightRolloutEngine"),
        *("EdDSA", "MoEConfig"),
        "AutoPause",
        # words of PodDisruptionBudgets, their selectors and their conditions
        *("DisruptionAllowed", "DisruptionBudget", "DoesNotExist", "NotIn", "SyncFailed"),
        # errors of libraries, by which a source's own reason is found
        *("BadScheme", "InvalidCertificate", "NotPartial", "WriteableBuffer"),
        "ToyBudget",
        "NotSettled",  # of the toy world that `plan` runs, which is never shown
    }
)


def reasons() -> dict[str, set[str]]:
    """Reason -> the files that can give it."""
    found: dict[str, set[str]] = {}
    for room in ROOMS:
        for path in sorted((SOURCE / room).rglob("*.py")):
            for word in _words(ast.parse(path.read_text())):
                if word not in NO_REASON:
                    found.setdefault(word, set()).add(str(path.relative_to(SOURCE)))
    return found


def literals() -> set[str]:
    """Every text that stands in the code."""
    return {
        node.value
        for room in ROOMS
        for path in (SOURCE / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _words(tree: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and _is_enum(node):
            if node.name.endswith("Reason"):
                yield from _matching(ast.walk(node), _ONE_WORD)
                yield from _matching(ast.walk(node), _TWO_WORDS)
            continue
        yield from _matching([node], _TWO_WORDS)
        if isinstance(node, ast.Call) and _TAKES_REASON.fullmatch(_called(node)):
            yield from _matching(node.args, _ONE_WORD)
        yield from _words(node)


def _matching(
    nodes: Iterator[ast.AST] | list[ast.AST] | list[ast.expr], form: re.Pattern[str]
) -> Iterator[str]:
    for node in nodes:
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and form.fullmatch(node.value)
        ):
            yield node.value


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_enum(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and base.id == "StrEnum" for base in node.bases)
