"""Columns of a trace as numbers that the page can use directly. Names become codes; -1 stands only for null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from fourhop import _core
from fourhop.columns import names
from fourhop.errors import FourhopError

if TYPE_CHECKING:
    from fourhop.view.tables import Tables

KINDS = names("frames", "kind")
CONTENTS = names("frames", "content")
FATES = names("receptions", "fate")
STATES = names("mac", "state")
PACKET_EVENTS = names("packets", "event")
REASONS = names("packets", "reason")
TCP_EVENTS = names("tcp", "event")
"""All names that the simulator writes; the code of a name is its index."""


class Nodes:
    """Indices of nodes in the page's list; nodes on wires have large numbers."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.places = {node: place for place, node in enumerate(numbers)}
        self._same = all(node == place for node, place in self.places.items())

    def column(self, column: str, name: str = "") -> pl.Expr:
        """Index of a node; -1 means none, or all."""
        value = pl.col(column)
        if not self._same:
            value = value.replace_strict(self.places, default=-1, return_dtype=pl.Int32)
        return value.cast(pl.Int32).fill_null(-1).alias(name or column)


def code(column: str, known: Sequence[str], name: str = "") -> pl.Expr:
    """A column of names as indices in a list; an unknown name is an error when the column is read."""
    codes: Mapping[str, int] = {each: place for place, each in enumerate(known)}
    value = pl.col(column).cast(pl.String).replace_strict(codes, return_dtype=pl.Int8)
    return value.fill_null(-1).alias(name or column)


def read(tables: Tables, table: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """The rows of a table.

    Raises `FourhopError` if it contains a name that this version does not know.
    """
    try:
        return rows.collect()
    except pl.exceptions.InvalidOperationError as error:
        what = str(error).splitlines()[0]
        raise FourhopError(
            f"{tables.folder}: {table}: found a name that fourhop {_core.version()} does not write ({what}), "
            "allowed: traces of this version; write the trace again"
        ) from error


def number(column: str, name: str = "", kind: Any = pl.Int32) -> pl.Expr:
    """A column of numbers."""
    return pl.col(column).cast(kind).fill_null(-1).alias(name or column)


def since(column: str, begin_ns: int, name: str) -> pl.Expr:
    """Times since a start, limited to 32 bits: longer intervals are drawn to the end of their span anyway."""
    return (pl.col(column) - begin_ns).clip(-(2**31), 2**31 - 1).cast(pl.Int32).alias(name)


def time() -> pl.Expr:
    """Times of the run; a double represents 104 days of nanoseconds exactly."""
    return pl.col("time_ns").cast(pl.Float64).alias("time")


def among(column: str, *wanted: str) -> pl.Expr:
    """Whether a column has one of the names."""
    return pl.col(column).cast(pl.String).is_in(list(wanted))
