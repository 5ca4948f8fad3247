"""The operator's own entry point with one constant changed: a silent watch is given up after seconds, not minutes."""

import sys
from functools import partial
from typing import Any, Final

import kopf

from weightrollout.controller import handlers, main, process
from weightrollout.kube.store import Store

HUNG_S: Final = 8.0

if __name__ == "__main__":
    settings = handlers.settings

    def impatient() -> kopf.OperatorSettings:
        chosen = settings()
        chosen.watching.inactivity_timeout = HUNG_S
        return chosen

    replaced: Any = process
    replaced.Store = partial(Store, hung_s=HUNG_S)
    handlers.settings = impatient
    sys.exit(main.main())
