"""The part of CEL that the rules of api.rules are written in.

So that a rule has one home and lint says what the API server says. What is not known here raises Unknown: a
test evaluates every rule there is, and the cluster tier compares the answers with a real API server's.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.api.quantity import bytes_of

Scope = Mapping[str, Any]
Node = Callable[[Scope], Any]

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d+)|(?P<text>'(?:[^'\\]|\\.)*')|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]]))"
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "string": (str,),
    "bool": (bool,),
    "double": (float,),
}
#: By how tightly they bind; || and && are evaluated on their own, because they need not see both sides.
_BINARY: Final[tuple[tuple[str, ...], ...]] = (
    ("==", "!=", "<", "<=", ">", ">=", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)


class Unknown(Exception):
    """A part of CEL that is not understood here."""


class Failed(Exception):
    """The expression has no value, such as a pattern that does not compile; a rule then refuses."""


def evaluate(expression: str, this: Any, **names: Any) -> Any:
    """Its value where `self` is `this`. Raises Unknown, Failed."""
    parser = _Parser(expression)
    node = parser.ternary()
    parser.end()
    return node({"self": this, **names})


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


class _Parser:
    def __init__(self, expression: str) -> None:
        self._tokens: list[_Token] = []
        self._at = 0
        place = 0
        while expression[place:].strip():
            found = _TOKEN.match(expression, place)
            if found is None or found.lastgroup is None:
                raise Unknown(f"{expression[place : place + 20]!r}")
            self._tokens.append(_Token(found.lastgroup, found[found.lastgroup]))
            place = found.end()

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise Unknown(f"{self._tokens[self._at].text!r} where the expression should end")

    def ternary(self) -> Node:
        test = self._either()
        if not self._take("?"):
            return test
        yes = self.ternary()
        self._need(":")
        no = self.ternary()
        return lambda scope: yes(scope) if test(scope) else no(scope)

    def _either(self) -> Node:
        parts = [self._both()]
        while self._take("||"):
            parts.append(self._both())
        return (
            parts[0] if len(parts) == 1 else lambda scope: any(bool(each(scope)) for each in parts)
        )

    def _both(self) -> Node:
        parts = [self._binary(0)]
        while self._take("&&"):
            parts.append(self._binary(0))
        return (
            parts[0] if len(parts) == 1 else lambda scope: all(bool(each(scope)) for each in parts)
        )

    def _binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while (sign := self._peek()) in _BINARY[level]:
            self._at += 1
            left = _operation(sign, left, self._binary(level + 1))
        return left

    def _unary(self) -> Node:
        if self._take("!"):
            inner = self._unary()
            return lambda scope: not inner(scope)
        if self._take("-"):
            amount = self._unary()
            return lambda scope: -amount(scope)
        return self._postfix()

    def _postfix(self) -> Node:
        node = self._primary()
        while self._take("."):
            name = self._name()
            node = self._method(node, name) if self._take("(") else _field(node, name)
        return node

    def _method(self, of: Node, name: str) -> Node:
        if name in ("filter", "map", "all", "exists"):
            each = self._name()
            self._need(",")
            body = self.ternary()
            self._need(")")
            return _macro(name, of, each, body)
        arguments = self._list(")")
        return lambda scope: _call(name, of(scope), [each(scope) for each in arguments])

    def _primary(self) -> Node:
        if self._take("("):
            inner = self.ternary()
            self._need(")")
            return inner
        if self._take("["):
            items = self._list("]")
            return lambda scope: [each(scope) for each in items]
        token = self._next()
        match token.kind:
            case "number":
                number = int(token.text)
                return lambda scope: number
            case "text":
                text = re.sub(
                    r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token.text[1:-1]
                )
                return lambda scope: text
            case "name":
                return self._named(token.text)
        raise Unknown(f"{token.text!r}")

    def _named(self, name: str) -> Node:
        if self._take("("):
            arguments = self._list(")")
            if name == "has":
                return _has(arguments)
            return lambda scope: _function(name, [each(scope) for each in arguments])
        if name in ("true", "false"):
            return lambda scope: name == "true"
        if name in _TYPES:
            return lambda scope: name
        return lambda scope: _variable(scope, name)

    def _list(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self._need(",")
            found.append(self.ternary())
        return found

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _next(self) -> _Token:
        if self._at == len(self._tokens):
            raise Unknown("an expression that ends too soon")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, sign: str) -> bool:
        taken = self._peek() == sign
        self._at += taken
        return taken

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise Unknown(f"{self._peek()!r} where {sign!r} should be")

    def _name(self) -> str:
        token = self._next()
        if token.kind != "name":
            raise Unknown(f"{token.text!r} where a name should be")
        return token.text


def _variable(scope: Scope, name: str) -> Any:
    if name not in scope:
        raise Unknown(f"the name {name!r}")
    return scope[name]


def _field(of: Node, name: str) -> Node:
    def value(scope: Scope) -> Any:
        whole = of(scope)
        if not isinstance(whole, Mapping) or name not in whole:
            raise Failed(f"no such field: {name}")
        return whole[name]

    return value


def _has(arguments: list[Node]) -> Node:
    (field,) = arguments

    def there(scope: Scope) -> bool:
        try:
            field(scope)
        except Failed:
            return False
        return True

    return there


def _macro(name: str, of: Node, each: str, body: Node) -> Node:
    def run(scope: Scope) -> Any:
        values = [(item, body({**scope, each: item})) for item in of(scope)]
        match name:
            case "filter":
                return [item for item, kept in values if kept]
            case "map":
                return [value for _, value in values]
            case "all":
                return all(value for _, value in values)
        return any(value for _, value in values)

    return run


def _operation(sign: str, left: Node, right: Node) -> Node:
    def run(scope: Scope) -> Any:
        one, other = left(scope), right(scope)
        match sign:
            case "==":
                return one == other
            case "!=":
                return one != other
            case "<":
                return one < other
            case "<=":
                return one <= other
            case ">":
                return one > other
            case ">=":
                return one >= other
            case "in":
                return one in other
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
            case "/":
                return one // other
        return one % other

    return run


def _function(name: str, arguments: list[Any]) -> Any:
    (value,) = arguments
    match name:
        case "type":
            return next((kind for kind, types in _TYPES.items() if type(value) in types), "?")
        case "int":
            try:
                return int(value)
            except ValueError as wrong:
                raise Failed(f"{value!r} is no number") from wrong
        case "string":
            return str(value)
        case "size":
            return len(value)
        case "quantity":  # of bytes: our rules know no other
            try:
                return bytes_of(value)
            except ValueError as wrong:
                raise Failed(f"{value!r} is no quantity") from wrong
    raise Unknown(f"the function {name}")


def _call(name: str, value: Any, arguments: list[Any]) -> Any:
    match name, arguments:
        case "size", []:
            return len(value)
        case "matches", [pattern]:
            return bool(_found(value, pattern))
        case "findAll", [pattern]:
            return _found(value, pattern)
        case "startsWith", [text]:
            return value.startswith(text)
        case "endsWith", [text]:
            return value.endswith(text)
        case "contains", [text]:
            return text in value
        case "replace", [old, new]:
            return value.replace(old, new)
        case "compareTo", [other]:
            return (value > other) - (value < other)
        case "isSorted", []:
            return list(value) == sorted(value)
    raise Unknown(f"the method {name} with {len(arguments)} arguments")


def _found(text: str, pattern: str) -> list[str]:
    """RE2 has no `\\Z`, and its `$` is the end of the text, where Python's is also before a last newline."""
    from weightrollout.api.pattern import compilable

    try:
        compilable(pattern)
        end = re.sub(r"(?<!\\)\$$", r"\\Z", pattern)
        return [found[0] for found in re.finditer(end, text)]
    except (ValueError, re.error) as wrong:
        raise Failed(str(wrong)) from wrong
