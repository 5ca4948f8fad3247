"""Commands: build helm into the cache and print where it is; write the goldens anew."""

import argparse
import sys

from gobinary import BuildFailed
from helm.build import helm_binary
from helm.chart import SETS, golden, golden_text


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m helm", description=__doc__)
    parser.add_argument("command", choices=["build", "goldens"])
    command = parser.parse_args().command
    try:
        print(helm_binary())
    except BuildFailed as failed:
        print(f"helm: {failed}", file=sys.stderr)
        return 1
    if command == "goldens":
        for name in SETS:
            golden(name).parent.mkdir(exist_ok=True)
            golden(name).write_text(golden_text(name))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
