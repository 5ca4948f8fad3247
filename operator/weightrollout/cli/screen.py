"""Where views go: a terminal is redrawn in place, anything else gets one block per change."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from weightrollout.cli.output import Output, document
from weightrollout.cli.render import ASCII, LINES, Glyphs, Paper, tree
from weightrollout.cli.view import View
from weightrollout.clock import Clock

AGES_PER_SECOND: Final = 1.0  # a hold's age grows while nothing else changes
AGELESS: Final = datetime.min.replace(tzinfo=UTC)  # at which every age is nothing


class Screen:
    """Use as a context manager. `watch`: more than one view will come."""

    def __init__(
        self,
        output: Output,
        *,
        watch: bool,
        console: Console,
        clock: Clock,
        all_pods: bool = False,
    ) -> None:
        self._output = output
        self._watch = watch
        self._console = console
        self._clock = clock
        self._all_pods = all_pods
        self._shown: View | None = None
        self._live: Live | None = None
        if watch and output is Output.TEXT and console.is_terminal:
            self._live = Live(
                console=console, get_renderable=self._tree, refresh_per_second=AGES_PER_SECOND
            )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, view: View) -> None:
        """Draws nothing when nothing changed, and writes no block of text that was just written."""
        before = self._shown
        if view == before:
            return
        self._shown = view
        if self._live is not None:
            self._live.refresh()
        elif self._output is not Output.TEXT:
            # One line each in a watch, or one document of a stream, so that a reader can take them apart.
            said = document(view, self._output, indent=None if self._watch else 2)
            self._print(Text(said.rstrip("\n")))
        elif before is None:
            self._print(self._tree())
        elif self._ageless(view) != self._ageless(before):
            self._print(Text("\n").append_text(self._tree()))

    def _tree(self) -> Text:
        if self._shown is None:
            return Text()
        now = self._clock.wall()
        paper = paper_for(self._console, self._all_pods)
        drawn = tree(self._shown, now, paper)
        if self._live is None or len(drawn.plain.splitlines()) < self._console.height:
            return drawn
        # What moves must be in sight: the end would be cut off.
        return tree(self._shown, now, replace(paper, few=1))

    def _ageless(self, view: View) -> str:
        return tree(view, AGELESS, paper_for(self._console, self._all_pods)).plain

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def paper_for(console: Console, all_pods: bool = False) -> Paper:
    """As wide as the terminal is now."""
    return Paper(glyphs_for(console), console.width if console.is_terminal else None, all_pods)


def glyphs_for(console: Console) -> Glyphs:
    """Plain ASCII where lines could become rubbish: no terminal, no colour wanted, no UTF-8."""
    plain = not console.is_terminal or console.no_color or console.is_dumb_terminal
    return ASCII if plain or console.encoding != "utf-8" else LINES
