"""Parser for libconfig, the syntax of wmediumd's configurations: groups, lists, arrays and scalars by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fourhop.errors import FourhopError
from fourhop.text import count

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<real>[+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+[eE][+-]?\d+)
    |(?P<whole>[+-]?(?:0[xX][0-9a-fA-F]+|\d+)L{0,2})
    |(?P<name>[A-Za-z*][-A-Za-z0-9_*]*)
    |(?P<mark>[:=;,(){}\[\]])""",
    re.X | re.S,
)
_CLOSING = {"(": ")", "[": "]"}
_DEEPEST = 20


@dataclass(frozen=True)
class Value:
    """A value and its location."""

    file: str
    line: int
    path: str
    it: Any
    """A mapping of names to values, a list of values, or a scalar."""

    def error(self, allowed: str) -> FourhopError:
        """An error about this value."""
        found = repr(self.it)
        if isinstance(self.it, list):
            found = count(len(self.it), "value")
        elif isinstance(self.it, Mapping):
            found = "a group"
        return FourhopError(f"{self.file}:{self.line}: {self.path}: found {found}, allowed: {allowed}")

    def get(self, name: str) -> Value | None:
        """The setting of this name in a group."""
        if not isinstance(self.it, Mapping):
            raise self.error("a group: { ... }")
        return self.it.get(name)

    def need(self, name: str, allowed: str) -> Value:
        """The setting of this name in a group, which must exist."""
        found = self.get(name)
        if found is None:
            path = f"{self.path}.{name}".lstrip(".")
            raise FourhopError(f"{self.file}:{self.line}: {path}: found nothing, allowed: {allowed}")
        return found

    def values(self, allowed: str, count: int | None = None) -> list[Value]:
        """The values of a list or array, `count` of them if given."""
        if not isinstance(self.it, list) or (count is not None and len(self.it) != count):
            raise self.error(allowed)
        return self.it

    def number(self, low: float, high: float) -> float:
        """A number in this range."""
        if isinstance(self.it, bool) or not isinstance(self.it, int | float) or not low <= self.it <= high:
            raise self.error(f"a number from {low:g} to {high:g}")
        return float(self.it)

    def whole(self, low: int, high: int) -> int:
        """A whole number in this range."""
        if isinstance(self.it, bool) or not isinstance(self.it, int) or not low <= self.it <= high:
            raise self.error(f"a whole number from {low} to {high}")
        return self.it

    def text(self, allowed: str) -> str:
        """A string."""
        if not isinstance(self.it, str):
            raise self.error(allowed)
        return self.it


def parse(file: str, text: str) -> Value:
    """The group of all settings in a text. Raises `FourhopError` with file and line."""
    reader = _Reader(file, text)
    settings = reader.settings("", end=None)
    return Value(file, 1, "", settings)


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.tokens: list[tuple[int, str, str]] = []
        at, line = 0, 1
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise FourhopError(f"{file}:{line}: found {text[at]!r}, allowed: settings: name = value;")
            if found.lastgroup != "skip":
                self.tokens.append((line, str(found.lastgroup), found[0]))
            line += found[0].count("\n")
            at = found.end()
        self.tokens.append((line, "end", "the end of the file"))
        self.at = 0
        self.depth = 0

    def next(self) -> tuple[int, str, str]:
        token = self.tokens[self.at]
        self.at += token[1] != "end"
        return token

    def take(self, *marks: str) -> bool:
        """Consume the next token if it is one of these marks. Returns whether it is."""
        _, kind, text = self.tokens[self.at]
        if kind == "mark" and text in marks:
            self.at += 1
            return True
        return False

    def refuse(self, token: tuple[int, str, str], path: str, allowed: str) -> FourhopError:
        line, _, text = token
        where = f"{self.file}:{line}: {path}".rstrip(": ")
        return FourhopError(f"{where}: found {text}, allowed: {allowed}")

    def settings(self, path: str, end: str | None) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while True:
            token = line, kind, text = self.next()
            if (kind == "mark" and text == end) or (kind == "end" and end is None):
                return found
            if kind != "name":
                raise self.refuse(token, path, "a name" if end is None else f"a name, or {end}")
            inner = f"{path}.{text}".lstrip(".")
            if not self.take(":", "="):
                raise self.refuse(self.next(), inner, ": or =")
            if text in found:
                raise self.refuse(token, inner, "each name once")
            found[text] = Value(self.file, line, inner, self.value(inner))
            self.take(";", ",")

    def value(self, path: str) -> Any:
        token = _, kind, text = self.next()
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.refuse(token, path, f"at most {_DEEPEST} groups and lists nested in each other")
        try:
            if kind == "mark" and text == "{":
                return self.settings(path, "}")
            if kind == "mark" and text in _CLOSING:
                return self.listed(path, _CLOSING[text])
        finally:
            self.depth -= 1
        if kind == "string":
            written = text[1:-1]
            while self.tokens[self.at][1] == "string":
                written += self.next()[2][1:-1]
            return re.sub(r"\\(.)", r"\1", written)
        if kind == "real":
            return float(text)
        if kind == "whole":
            return int(text.rstrip("L"), 16 if "x" in text.lower() else 10)
        if kind == "name" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise self.refuse(token, path, "a value: a number, a string, true, false, (...), [...] or {...}")

    def listed(self, path: str, end: str) -> list[Value]:
        found: list[Value] = []
        while not self.take(end):
            line = self.tokens[self.at][0]
            inner = f"{path}[{len(found)}]"
            found.append(Value(self.file, line, inner, self.value(inner)))
            if not self.take(","):
                if not self.take(end):
                    raise self.refuse(self.next(), path, f", or {end}")
                break
        return found
