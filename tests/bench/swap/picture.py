"""docs/benchmarks/swap.json as an SVG: a bar per mode and payload, on a logarithmic scale. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.swap.modes import MODES, PACKED
from bench.swap.targets import floor, middle, pauses

Json = Mapping[str, Any]
WIDTH: Final = 860
LEFT: Final = 300
RIGHT: Final = 90
ROW: Final = 24
HEAD: Final = 34
#: Ends of the scale, in ms.
LEAST: Final = 1.0
MOST: Final = 100_000.0
COLOURS: Final = {
    "ours": "#2f6f9f",
    "own": "#b5651d",
    "memcpy": "#8a8a8a",
    "restart": "#7a3b3b",
}


def picture(figures: Json) -> str:
    """Readable on light and dark pages: it brings its own background."""
    lines: list[str] = []
    at = 16
    for model in figures.get("models", {}).values():
        if bars := list(_bars(model)):
            lines.append(_text(16, at + 16, str(model["title"]), weight="bold"))
            at += HEAD
            for title, millis, colour in bars:
                lines += _bar(at, title, millis, COLOURS[colour])
                at += ROW
            at += 10
    lines = [*_scale(at), *lines]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {at + 30}"'
        ' font-family="sans-serif" font-size="13">'
        f'<rect width="{WIDTH}" height="{at + 30}" fill="#ffffff"/>'
    )
    return "\n".join([head, *lines, "</svg>"]) + "\n"


def _bars(model: Json) -> Iterator[tuple[str, float, str]]:
    if model.get("floor"):
        yield f"memcpy, {model['threads']} threads", floor(model), "memcpy"
    for mode in MODES:
        if taken := pauses(model, mode.name):
            name = mode.title.replace("`", "")
            kind = "packed weights" if mode.engine == PACKED else "plain weights"
            yield f"{name}, {kind}", middle(taken), "own" if mode.path == "own" else "ours"
    for kind, seconds in model.get("restart", {}).items():
        yield f"restart, {kind} weights", 1000 * seconds, "restart"


def _bar(at: int, title: str, millis: float, colour: str) -> Iterator[str]:
    length = max(2.0, _x(millis) - LEFT)
    yield _text(LEFT - 8, at + 12, title, anchor="end")
    yield f'<rect x="{LEFT}" y="{at}" width="{length:.1f}" height="{ROW - 8}" fill="{colour}"/>'
    yield _text(LEFT + length + 6, at + 12, _told(millis))


def _told(millis: float) -> str:
    return (
        f"{millis / 1000:.1f} s"
        if millis >= 10_000
        else f"{millis:.{0 if millis >= 100 else 1}f} ms"
    )


def _scale(bottom: int) -> Iterator[str]:
    value = LEAST
    while value <= MOST:
        x = _x(value)
        yield f'<line x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{bottom}" stroke="#dddddd"/>'
        yield _text(x, bottom + 18, _label(value), anchor="middle")
        value *= 10


def _label(millis: float) -> str:
    return f"{millis / 1000:.0f} s" if millis >= 1000 else f"{millis:.0f} ms"


def _x(millis: float) -> float:
    share = math.log(max(millis, LEAST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + min(1.0, share) * (WIDTH - LEFT - RIGHT)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
        f' fill="#222222">{text}</text>'
    )
