"""A plain fleet that went through `kubectl weightrollout inject`: its agents ask who calls."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from fleet import plain
from fleet.world import World
from weightrollout.cli.inject import documents
from weightrollout.cli.main import app

Json = dict[str, Any]

READY_S: Final = 180.0


def inject(workload: Json, *arguments: str) -> Json:
    """Through the command, and so through YAML."""
    run = ["inject", "-f", "-", "--agent-image", "weightrollout-agent", *arguments]
    done = CliRunner().invoke(app, run, input=documents.write([workload]))
    assert done.exit_code == 0, done.stderr
    [found] = documents.read(done.stdout)
    return dict(found)


async def injected_fleet(
    world: World,
    model: Path,
    selector: Mapping[str, str],
    *arguments: str,
    name: str = "chat",
    gated: bool = True,
) -> Json:
    """The workload of two pods that are Ready; `arguments` are further ones of the command."""
    before = plain.stateful_set(name, model, 2, selector)
    uri = model.as_uri() + "/"
    gate = ("--gate",) if gated else ()
    known = "--acknowledge-exposed-control-port"  # its engines listen on the pods' addresses
    after = inject(before, *gate, "--staging", "memory", "--uri", uri, known, *arguments)
    await world.apply(after)
    await world.until_ready(name, 2, READY_S)
    return after
