"""docs/cli.md, made of the commands' own help.

python -m weightrollout.cli.reference --write | --check
"""

import re
import sys
from pathlib import Path
from typing import Final

from typer.testing import CliRunner

from weightrollout import generated
from weightrollout.cli.main import app

HEADER: Final = """\
<!-- GENERATED from the commands' help by 'make generate'; never edited by hand. -->
# kubectl weightrollout

One program, `kubectl-weightrollout`: on PATH it is `kubectl weightrollout`. It reads and writes with your own
rights, by `--kubeconfig`, `--context` and `--namespace` as kubectl does.

- **Look**: `status`, `list`, `explain` (why does it not move), `history`, `plan` (what would happen).
- **Steer**: `promote`, `abort`, `retry`, `undo`, `pause`, `resume`.
- **Prepare**: `lint`, `digest`, `sign`, `inject`. These ask no cluster.

`promote`, `abort` and `retry` write one annotation (`weightrollout.dev/action`) on top of what they read, and wait for the
operator's answer in `status.lastAction`. They name the revision, and promote the step, that was seen: what comes too late is
answered `Stale` and does nothing. The last writer wins. `undo`, `pause` and `resume` edit the spec, and say so where something
else keeps that field.

`plan` runs the operator's own planner on a copy of the fleet in this program's memory. It knows what the API server shows: what
agents hold besides, and how long things take, it cannot know, and lists what it assumed.

`-o json` and `-o yaml` print the view that the text is made of. Colours and lines are left out where `NO_COLOR` is set, in a dumb
terminal and in a pipe, which gets every word uncut. A terminal gets one line for pods of a big fleet that are alike; `--all-pods`
names them. Exit codes mean the same everywhere:

| Code | Meaning |
| --- | --- |
| 0 | complete, or done |
| 1 | stalled, refused by the operator, or something wrong was found |
| 2 | wrong usage, not found, no access |
| 3 | under way, or asked and not answered yet |
| 130 | interrupted |

To look it needs `get`, `list` and `watch` of weightrollouts and pods, and for `history`, `undo`, `plan` and `explain` `list` of
controllerrevisions (and `get` of configmaps for the last two): Kubernetes' role `view` with the chart's part of it. To steer it
needs `patch` of weightrollouts: the role `edit`; where the chart was installed with `verbs.enabled` also the right that
[canary.md](canary.md#who-may-do-what) names.

## Completion

`kubectl-weightrollout --install-completion` for the program's own name. For `kubectl weightrollout <TAB>` kubectl (from 1.26) asks
`kubectl_complete-weightrollout`, which is installed beside it; names of WeightRollouts are offered, too.

"""


def as_markdown() -> str:
    parts = [HEADER]
    for command in app.registered_commands:
        name = command.name or ""
        parts.append(f"## {name}\n\n```text\n{_help(name)}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def _help(name: str) -> str:
    """At one width, whatever terminal this runs in."""
    environment = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    asked = CliRunner().invoke(
        app,
        [name, "--help"],
        prog_name="kubectl weightrollout",
        env=environment,
        terminal_width=100,
    )
    return re.sub(r"[ \t]+$", "", asked.stdout.strip(), flags=re.MULTILINE)


def made() -> dict[Path, str]:
    return {generated.DOCS / "cli.md": as_markdown()}


if __name__ == "__main__":
    raise SystemExit(generated.main(made, sys.argv[1:]))
