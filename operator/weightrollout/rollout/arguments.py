"""What a query may ask about: $(NAME) becomes a version, or a regular expression for names of pods.

    $(name) $(namespace)         of the WeightRollout
    $(version)                   what the canary proves; as a label's value: version="$(version)"
    $(previousVersion)           what it would go back to; "default" is what engines start with
    $(pods) $(previousPods)      pods that serve them: pod=~"$(pods)"

Nothing that is put in can end a string or a matcher: versions and names have letters, digits and
"-_." only, and a "." of a pod's name, which would match anything, is written "[.]".
"""

import re
from dataclasses import dataclass
from typing import Final

from weightrollout.api.analysis import ARGUMENT_PATTERN

#: Matches no pod: an empty pattern would match what has no pod at all.
NO_PODS: Final = "-"


@dataclass(frozen=True, slots=True)
class Arguments:
    name: str
    namespace: str
    revision: str
    version: str
    previous_version: str
    pods: tuple[str, ...]
    previous_pods: tuple[str, ...]


def fill_in(query: str, arguments: Arguments) -> str:
    """The query that is sent. An argument that nobody knows stays as it is; the type refuses it."""
    known = {
        "$(name)": arguments.name,
        "$(namespace)": arguments.namespace,
        "$(version)": arguments.version,
        "$(previousVersion)": arguments.previous_version,
        "$(pods)": _any_of(arguments.pods),
        "$(previousPods)": _any_of(arguments.previous_pods),
    }
    return re.sub(ARGUMENT_PATTERN, lambda found: known.get(found[0], found[0]), query)


def _any_of(pods: tuple[str, ...]) -> str:
    return "|".join(name.replace(".", "[.]") for name in sorted(pods)) or NO_PODS
