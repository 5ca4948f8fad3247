"""Commands: fetch the binary into the cache and print where it is."""

import argparse
import sys

from frontend.binary import frontend_binary
from wheelmember import FetchFailed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m frontend", description=__doc__)
    parser.add_argument("command", choices=["build"])
    parser.parse_args()
    try:
        print(frontend_binary())
    except FetchFailed as failed:
        print(f"frontend: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
