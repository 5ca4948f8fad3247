"""spec.mode, as pause and resume set it."""

from dataclasses import dataclass

from rich.text import Text

from weightrollout.api.reasons import HoldGate
from weightrollout.api.spec import Mode
from weightrollout.cli.exits import Exit
from weightrollout.cli.output import Output, tell
from weightrollout.cli.view import view_of
from weightrollout.kube.client import Client, Json
from weightrollout.kube.person import change, keeper_of


@dataclass(frozen=True, slots=True)
class ModeSet:
    name: str
    mode: str
    before: str
    notes: tuple[str, ...]


async def set_mode(client: Client, name: str, mode: Mode, output: Output) -> Exit:
    before = ""
    seen: Json = {}

    def decide(read: Json) -> Json:
        nonlocal before, seen
        seen = read
        before = read["spec"].get("mode", str(Mode.RUN))
        return {} if before == mode else {"spec": {"mode": str(mode)}}

    await change(client, name, decide)
    said = ModeSet(name, str(mode), before, tuple(_notes(seen, mode)))
    tell(said, output, told(said))
    return Exit.COMPLETE


def _notes(read: Json, mode: Mode) -> list[str]:
    notes = []
    keeper = keeper_of(read, "spec", "mode")
    if keeper is not None:
        notes.append(f"{keeper} keeps spec.mode and may write it back: change it at its source")
    hold = view_of(read, ()).hold
    name = read["metadata"]["name"]
    if mode is Mode.RUN and hold is not None and hold.gate == HoldGate.STEP:
        notes.append(f"it waits at a step of its own: kubectl weightrollout promote {name}")
    return notes


def told(said: ModeSet) -> Text:
    same = said.before == said.mode
    what = (
        f"spec.mode is {said.mode} already" if same else f"spec.mode {said.before} -> {said.mode}"
    )
    row = Text.assemble((said.name, "bold"), f": {what}")
    for note in said.notes:
        row.append(f"\nnote: {note}", "yellow")
    return row
