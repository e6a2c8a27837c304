"""A value of a file with its location, so that errors name file and key."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from fourhop.community.network import Note
from fourhop.errors import FourhopError
from fourhop.text import count

T = TypeVar("T")

_SHOWN = 40
"""Maximum number of characters of a value in a message."""


@dataclass(frozen=True)
class Place:
    """A value and its path in a file, such as `nodes[3].location`."""

    file: str
    path: str
    value: Any

    def refuse(self, allowed: str, found: str | None = None) -> NoReturn:
        """Raise an error of the form `FILE: KEY: found X, allowed: Y`."""
        shown = found or shown_value(self.value)
        where = f"{self.file}: {self.path}" if self.path else self.file
        raise FourhopError(f"{where}: found {shown}, allowed: {allowed}")

    def get(self, key: str) -> Place | None:
        """The value of a key; `None` if it is missing or null."""
        if not isinstance(self.value, dict):
            self.refuse("a table of keys")
        found = self.value.get(key)
        return None if found is None else Place(self.file, f"{self.path}.{key}" if self.path else key, found)

    def need(self, key: str, allowed: str) -> Place:
        """The value of a required key."""
        found = self.get(key)
        if found is None:
            Place(self.file, f"{self.path}.{key}" if self.path else key, None).refuse(allowed, "nothing")
        return found

    def items(self, allowed: str) -> Iterator[Place]:
        """Yield each element of a list."""
        if not isinstance(self.value, list):
            self.refuse(allowed)
        for i, value in enumerate(self.value):
            yield Place(self.file, f"{self.path}[{i}]", value)

    def entries(self, allowed: str) -> Iterator[tuple[str, Place]]:
        """Yield each entry of a table."""
        if not isinstance(self.value, dict):
            self.refuse(allowed)
        for key, value in self.value.items():
            yield str(key), Place(self.file, f"{self.path}.{key}" if self.path else str(key), value)

    def text(self) -> str:
        """A string; numbers are accepted, too."""
        if isinstance(self.value, bool) or not isinstance(self.value, str | int | float) or not str(self.value).strip():
            self.refuse("a string")
        return str(self.value).strip()

    def number(self, low: float, high: float, unit: str = "") -> float:
        """A number within bounds, possibly written as text."""
        span = f"a number from {low:g} to {high:g}{f' {unit}' if unit else ''}"
        if isinstance(self.value, bool):
            self.refuse(span)
        try:
            found = float(self.value)
        except (TypeError, ValueError):
            self.refuse(span)
        if not (math.isfinite(found) and low <= found <= high):
            self.refuse(span)
        return found

    def whole(self, low: int, high: int) -> int:
        """A whole number within bounds."""
        found = self.number(low, high)
        if found != int(found):
            self.refuse(f"a whole number from {low} to {high}")
        return int(found)

    def wholes(self, low: int, high: int) -> tuple[int, ...]:
        """Whole numbers within bounds, joined by `+` if there are several."""
        parts = str(self.value).split("+")
        return tuple(Place(self.file, self.path, part.strip()).whole(low, high) for part in parts)

    def flag(self) -> bool:
        """True or false, as in JSON or as people write it in tables."""
        if isinstance(self.value, bool):
            return self.value
        word = str(self.value).strip().lower()
        if word not in _FLAGS:
            self.refuse("true or false")
        return _FLAGS[word]


@dataclass
class Faults:
    """Values ignored while reading a file, by description in the plural, with the names concerned."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def tried(self, what: str, name: str, read: Callable[[], T]) -> T | None:
        """The result of `read`, or `None` with a note if the value cannot be used."""
        try:
            return read()
        except FourhopError:
            self.note(what, name)
            return None

    def note(self, what: str, name: str) -> None:
        """Add a fault."""
        self.found.setdefault(what, []).append(name)

    def notes(self) -> list[Note]:
        """A note for each kind of fault, with the number and the names."""
        return [
            Note("left out", count(len(names), _one(what), what), tuple(names)) for what, names in self.found.items()
        ]


def _one(what: str) -> str:
    """The description in the singular: `name that is not text` for `names that are not text`."""
    first, mark, rest = what.replace(" that are ", " that is ").partition(" ")
    return (first[:-3] + "y" if first.endswith("ies") else first.removesuffix("s")) + mark + rest


_FLAGS = {"true": True, "yes": True, "1": True, "x": True, "false": False, "no": False, "0": False, "": False}


def shown_value(value: object) -> str:
    """A value as shown in a message."""
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
