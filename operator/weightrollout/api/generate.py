"""What is made from the types: the CRD, the chart's copy of it, and docs/api.md.

python -m weightrollout.api.generate --write | --check
"""

import sys
from pathlib import Path
from typing import Final

from weightrollout import generated
from weightrollout.api.reference import as_markdown
from weightrollout.api.schema import as_yaml

CRD_FILE: Final = generated.ROOT / "crds" / "weightrollouts.weightrollout.dev.yaml"
#: Helm renders files of the chart only; a template adds labels and the policy to keep it.
CHART_FILE: Final = generated.ROOT / "charts" / "weightrollout" / "files" / "crd.yaml"


def made() -> dict[Path, str]:
    return {
        CRD_FILE: as_yaml(),
        CHART_FILE: as_yaml(),
        generated.DOCS / "api.md": as_markdown(),
    }


if __name__ == "__main__":
    raise SystemExit(generated.main(made, sys.argv[1:]))
