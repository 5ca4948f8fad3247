"""The program `kubectl_complete-weightrollout`, which kubectl asks for what may follow on its command line.

It is given the words so far, the last one unfinished, and prints what cobra's `__complete` prints: a value a
line, and `:` with a directive at the end. The values are those of the shell completion of the program itself.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Final

from weightrollout.cli.main import COMPLETE, PROGRAM, app

NO_FILES: Final = ":4"
FILES: Final = ":0"  # let the shell offer its own


def completions(words: Sequence[str]) -> list[str]:
    """Lines to print. An unfinished word that is not there is the empty one."""
    line = [PROGRAM, *(words or [""])]
    asked = {
        COMPLETE: "complete_bash",
        "COMP_WORDS": shlex.join(line),
        "COMP_CWORD": str(len(line) - 1),
    }
    os.environ.update(asked)
    said = StringIO()
    try:
        with redirect_stdout(said):
            app(prog_name=PROGRAM, complete_var=COMPLETE)
    except SystemExit:
        pass  # how it always ends
    finally:
        for name in asked:
            del os.environ[name]
    values = said.getvalue().split()
    return [*values, NO_FILES if values else FILES]


def main() -> None:
    print("\n".join(completions(sys.argv[1:])))


if __name__ == "__main__":
    main()
