"""YAML text and objects, as kubectl understands YAML. Keys keep their order; comments are lost."""

import re
from collections.abc import Hashable, Sequence
from typing import Any, Final

import yaml

from weightrollout.cli.inject.report import Reason, Refused

#: kubectl reads dates and 12:30 as strings, and 1e3 as a number; PyYAML by itself does not.
_NUMBER: Final = re.compile(r"[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?")
_INT: Final = re.compile(r"[-+]?(0|[1-9][0-9_]*|0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+)")
#: What some reader of YAML takes for something else than a string.
_DOUBTFUL: Final = re.compile(
    r"[-+]?\.?\d[-+.:_0-9a-fxotz\s]*|[-+]?\.(inf|nan)|[~<=]|y|n|yes|no|on|off|true|false|null",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"^\s*#|\s#\s", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Dates and sexagesimal numbers are strings; a key that is there twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set[str]()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag != "tag:yaml.org,2002:merge" and key.value in seen:
                line = key.start_mark.line + 1
                raise Refused(Reason.MALFORMED, f"line {line}: key {key.value} is there twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_KEPT: Final = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:merge")
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag in _KEPT]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_DIGITS: Final = list("-+.0123456789")
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(f"{_INT.pattern}$"), _DIGITS)
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(f"{_NUMBER.pattern}$"), _DIGITS)


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif _DOUBTFUL.fullmatch(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _string)


def read(text: str) -> list[Any]:
    """The documents, without empty ones. Raises Refused."""
    try:
        return [each for each in yaml.load_all(text, _Loader) if each is not None]
    except (yaml.YAMLError, ValueError) as error:
        raise Refused(Reason.MALFORMED, f"is no YAML: {error}") from error


def write(objects: Sequence[Any]) -> str:
    return yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**30)


def has_comments(text: str) -> bool:
    """Or something that looks like one."""
    return _COMMENT.search(text) is not None
