"""The same view on a good terminal, a poor one, and in a pipe."""

import io
import json
from datetime import UTC, datetime

import pytest
from rich.console import Console
from rich.text import Text

from sights import V7, V8, pod, rollout
from weightrollout.cli.output import Output
from weightrollout.cli.render import ASCII, LINES
from weightrollout.cli.screen import Screen, glyphs_for
from weightrollout.cli.view import View, view_of


class Noon:
    def monotonic(self) -> float:
        return 0.0

    def wall(self) -> datetime:
        return datetime(2026, 11, 29, 12, tzinfo=UTC)


def view(phase: str) -> View:
    return view_of(rollout(phase=phase, target=V8, stable=V7), [pod("chat-0", "v7")])


def drawn(output: Output, phases: list[str], *, watch: bool) -> str:
    """What a pipe gets."""
    console = Console(file=io.StringIO(), width=20, highlight=False)
    with Screen(output, watch=watch, console=console, clock=Noon()) as screen:
        for phase in phases:
            screen.show(view(phase))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_pipe_gets_whole_lines_without_colour() -> None:
    text = drawn(Output.TEXT, ["Progressing"], watch=False)
    assert text.splitlines()[0] == "ROLLOUT chat   Progressing   v7 -> v8   0/1 updated"
    assert "\x1b" not in text
    assert text.isascii()


def test_a_watch_in_a_pipe_prints_a_block_per_change_and_nothing_twice() -> None:
    text = drawn(Output.TEXT, ["Progressing", "Progressing", "Complete"], watch=True)
    assert [block.split()[2] for block in text.split("\n\n")] == ["Progressing", "Complete"]


def test_a_watch_in_a_pipe_prints_no_block_twice_for_what_no_block_shows() -> None:
    console = Console(file=io.StringIO(), width=20, highlight=False)
    seen = [
        view_of(rollout(phase="Progressing", pods={"swapping": swapping}), [])
        for swapping in (0, 1, 2)
    ]
    with Screen(Output.TEXT, watch=True, console=console, clock=Noon()) as screen:
        for each in seen:
            screen.show(each)
    assert isinstance(console.file, io.StringIO)
    assert len(set(seen)) == 3
    assert console.file.getvalue().count("ROLLOUT") == 1


def test_a_watch_in_json_prints_one_document_per_line() -> None:
    text = drawn(Output.JSON, ["Progressing", "Complete"], watch=True)
    assert [json.loads(line)["phase"] for line in text.splitlines()] == ["Progressing", "Complete"]


def test_a_terminal_is_redrawn_in_place() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, _environ={"TERM": "xterm"})
    with Screen(Output.TEXT, watch=True, console=console, clock=Noon()) as screen:
        screen.show(view("Progressing"))
        screen.show(view("Complete"))
    assert "\x1b[1A" in file.getvalue()  # the cursor goes up: the old screen is overwritten


def test_a_watch_in_a_low_terminal_shows_what_moves() -> None:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=80, height=12, _environ={"TERM": "xterm"}
    )
    pods = [
        pod(f"chat-{each}", "v8" if each < 18 else "v7", ready=each != 18) for each in range(20)
    ]
    seen = view_of(rollout(phase="Progressing", target=V8, stable=V7), pods)
    with Screen(Output.TEXT, watch=True, console=console, clock=Noon()) as screen:
        screen.show(seen)
        drawn = Text.from_ansi(file.getvalue()).plain
    assert "chat-18   Out" in drawn
    assert "18 pods" in drawn


class Utf8(io.StringIO):
    encoding = "utf-8"


class Latin(io.StringIO):
    encoding = "latin-1"


@pytest.mark.parametrize(
    ("file", "terminal", "environment", "lines"),
    [
        pytest.param(Utf8(), True, {"TERM": "xterm"}, True, id="a good terminal"),
        pytest.param(Utf8(), True, {"TERM": "dumb"}, False, id="a dumb terminal"),
        pytest.param(Utf8(), True, {"TERM": "xterm", "NO_COLOR": "1"}, False, id="no colour"),
        pytest.param(Latin(), True, {"TERM": "xterm"}, False, id="no UTF-8"),
        pytest.param(Utf8(), False, {"TERM": "xterm"}, False, id="a pipe"),
    ],
)
def test_lines_are_drawn_only_where_they_can_be_shown(
    file: io.StringIO, terminal: bool, environment: dict[str, str], lines: bool
) -> None:
    console = Console(file=file, force_terminal=terminal, _environ=environment)
    assert glyphs_for(console) is (LINES if lines else ASCII)
