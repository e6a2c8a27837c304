"""Columns of results and traces as the simulator declares them: names, types, units, meanings."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourhop import _core

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    field: str
    """The field of a run that it shows."""
    type: str
    optional: bool
    unit: str
    """The unit at the end of the name, or nothing."""
    about: str

    @property
    def meaning(self) -> str:
        """Its meaning, with the unit."""
        text = self.about[:1].lower() + self.about[1:].rstrip(".")
        return f"{text}, {self.unit}" if self.unit else text


@functools.cache
def _declared() -> dict[str, Any]:
    declared: dict[str, Any] = json.loads(_core.tables())
    return declared


@functools.cache
def table(name: str) -> tuple[Column, ...]:
    """The columns of a table of results: `runs`, `flows`, `series`, `queues`."""
    return tuple(Column(**column) for column in _declared()["results"][name])


def schema(name: str) -> dict[str, pl.DataType]:
    """Names and types of the columns of a table of results."""
    import polars as pl

    types: dict[str, pl.DataType] = {
        "text": pl.String(),
        "int": pl.Int64(),
        "count": pl.UInt64(),
        "float": pl.Float64(),
        "floats": pl.List(pl.Float64()),
    }
    return {column.name: types[column.type] for column in table(name)}


@functools.cache
def names(name: str, column: str) -> tuple[str, ...]:
    """The values that a column of names in a trace table can have."""
    columns = next(each["columns"] for each in _declared()["trace"] if each["name"] == name)
    return tuple(next(each["names"] for each in columns if each["name"] == column))


def markdown(name: str) -> str:
    """The columns of a table of results, as a Markdown table."""
    rows = (f"| `{each.name}` | {each.unit} | {each.about.removesuffix('.')} |\n" for each in table(name))
    return "| column | unit | meaning |\n|---|---|---|\n" + "".join(rows)
