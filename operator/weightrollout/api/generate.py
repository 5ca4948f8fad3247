"""Write what is made from the types: the CRD and the API reference. For a checkout, not for the wheel.

python -m weightrollout.api.generate           print the CRD
python -m weightrollout.api.generate --write   write crds/, the chart's copy, and docs/api.md
python -m weightrollout.api.generate --check   fail when they differ from the types
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weightrollout.api.reference import as_markdown
from weightrollout.api.schema import as_yaml

ROOT: Final = Path(__file__).resolve().parents[3]
CRD_FILE: Final = ROOT / "crds" / "weightrollouts.weightrollout.dev.yaml"
#: Helm renders files of the chart only; a template adds labels and the policy to keep it.
CHART_FILE: Final = ROOT / "charts" / "weightrollout" / "files" / "crd.yaml"
REFERENCE_FILE: Final = ROOT / "docs" / "api.md"


def generated() -> dict[Path, str]:
    return {CRD_FILE: as_yaml(), CHART_FILE: as_yaml(), REFERENCE_FILE: as_markdown()}


def drifted() -> list[Path]:
    """Files that are not what the types say, relative to the checkout."""
    return [
        path.relative_to(ROOT)
        for path, text in generated().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case []:
            sys.stdout.write(as_yaml())
        case ["--write"]:
            for path, text in generated().items():
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
        case ["--check"]:
            for path in (differing := drifted()):
                sys.stderr.write(f"{path} differs from the types: run 'make generate'\n")
            return 1 if differing else 0
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
