"""Commands: build all images and print where they are; pin what goes into them; say what differs between two builds."""

import argparse
import sys

from images import build, lock
from images.archive import Archive
from images.commands import BuildFailed
from images.rebuilt import rebuilt
from images.sbom import packages


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m images", description=__doc__)
    parser.add_argument("command", choices=["build", "lock", "verify"])
    command = parser.parse_args().command
    try:
        if command == "lock":
            lock.write()
            return 0
        if command == "verify":
            return _verify()
        for each in build.built().values():
            print(f"{each.name}\t{each.reference}\t{each.archive}")
        build.publish_sboms()
        _table()
    except BuildFailed as failed:
        print(f"images: {failed}", file=sys.stderr)
        return 1
    return 0


def _table() -> None:
    row = "{:26}{:>12}{:>12}{:>10}{:>10}".format
    print(row("image", "packed, MB", "files, MB", "Python", "Debian"), file=sys.stderr)
    for each in build.built().values():
        sizes = Archive(each.archive).sizes()
        python, debian = packages(each.sbom)
        megabytes = (f"{size / 1e6:.1f}" for size in (sizes.packed, sizes.files))
        print(row(each.name, *megabytes, python, debian), file=sys.stderr)


def _verify() -> int:
    differing = rebuilt()
    for line in differing:
        print(line)
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
