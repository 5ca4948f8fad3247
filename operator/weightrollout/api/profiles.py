"""What `spec.profile` chooses, for the fields whose default no schema stores.

A stored default could not be told from the user's own word: another profile would change nothing.
"""

from collections.abc import Mapping
from typing import Final

from pydantic.alias_generators import to_camel

from weightrollout.api.spec import Supersede, TakeOut

#: Section of the spec -> field -> what Training has where the object says nothing. Serving has the
#: type's own default. A fleet that a trainer feeds: nobody waits for an answer, and all pods move at once.
TRAINING: Final[Mapping[str, Mapping[str, int | str]]] = {
    "staging": {"max_concurrent": "100%"},
    "swap": {"take_out": TakeOut.NONE, "drain_seconds": 0},
    "strategy": {"max_unavailable": "100%", "supersede": Supersede.AFTER_COMPLETE},
}

#: The same by path in the object.
TRAINING_BY_PATH: Final[Mapping[str, int | str]] = {
    f"spec.{section}.{to_camel(field)}": value
    for section, fields in TRAINING.items()
    for field, value in fields.items()
}
