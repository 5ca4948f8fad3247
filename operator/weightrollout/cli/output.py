"""-o of every command: text for people; json and yaml of the same view for programs.

Pure but for `tell`. Keys of documents are as in the WeightRollout's own status.
"""

import dataclasses
import json
from enum import StrEnum
from typing import Annotated, Any

import typer
import yaml
from pydantic.alias_generators import to_camel
from rich.console import Console
from rich.text import Text


class Output(StrEnum):
    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="text for people, json or yaml for programs.")
]


def document(view: Any, output: Output, *, indent: int | None = 2) -> str:
    """A dataclass, or a sequence of them, as JSON or YAML. A YAML stream needs no more than the marks."""
    said = _camel(_plain(view))
    if output is Output.YAML:
        text: str = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=2**30)
        return f"---\n{text}" if indent is None else text
    return json.dumps(said, indent=indent) + "\n"


def tell(view: Any, output: Output, text: Text, console: Console | None = None) -> None:
    """`text` is what people see of the view. Lines that are too long are left to the terminal."""
    console = console or Console(highlight=False)
    if output is Output.TEXT:
        console.print(text, soft_wrap=True)
    else:
        console.print(Text(document(view, output)), soft_wrap=True, end="")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, StrEnum) else value


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(key): _camel(each) for key, each in value.items()}
    return [_camel(each) for each in value] if isinstance(value, list) else value
