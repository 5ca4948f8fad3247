"""YAML with the line of each place in it. A place is its keys and positions from the top."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

Place = tuple[str | int, ...]
_MERGE: Final = "tag:yaml.org,2002:merge"


class NotYaml(Exception):
    """`line` from 1; 0 where nobody can say."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    body: Any
    lines: dict[Place, int]  # of each key and item, from 1
    twice: tuple[tuple[int, str], ...]  # keys that are there twice: the line, and which
    first: int  # line it begins on

    def line(self, place: Place) -> int:
        """Of the place, or of the nearest one around it that is there."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, self.first)


class _Loader(yaml.SafeLoader):
    """As kubectl reads YAML: a date is a string, and so is 12:30."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(text: str) -> list[Document]:
    """The documents, without empty ones. Raises NotYaml."""
    loader = _Loader(text)
    found = []
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is None:
                break
            lines: dict[Place, int] = {}
            twice: list[tuple[int, str]] = []
            for place, line in _walk(node, (), twice):
                lines[place] = line
            body = loader.construct_document(node)
            if body is not None:
                found.append(Document(body, lines, tuple(twice), node.start_mark.line + 1))
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        raise NotYaml(mark.line + 1 if mark else 0, f"is no YAML: {wrong.problem}") from wrong
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        raise NotYaml(0, f"is no YAML: {wrong}") from wrong
    finally:
        loader.dispose()
    return found


def _walk(
    node: yaml.Node, place: Place, twice: list[tuple[int, str]]
) -> Iterator[tuple[Place, int]]:
    if isinstance(node, yaml.MappingNode):
        seen = set[str]()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in seen and key.tag != _MERGE:
                twice.append((line, key.value))
            seen.add(key.value)
            yield (*place, key.value), line
            yield from _walk(value, (*place, key.value), twice)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield (*place, number), item.start_mark.line + 1
            yield from _walk(item, (*place, number), twice)
