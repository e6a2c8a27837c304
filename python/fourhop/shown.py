"""Data frames that print completely: every column has a heading with its unit, every mean its interval.

Only the output changes: columns keep their names and values their units. A table wider than the terminal is transposed,
so nothing is ever cut off.
"""

from __future__ import annotations

import html
import itertools
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from fourhop.errors import FourhopError

WIDTH = 120
"""Characters per line if there is no terminal."""

# Suffixes of column names, their text in the heading, and the scale factor.
_UNITS = {"_bps": (" kbit/s", 1e-3), "_s": (" s", 1.0)}
# Prefix of times shown in milliseconds.
_MILLISECONDS = "rtt_"
# Maximum number of rows printed.
_ROWS = 100
_NOTE = "±: half-width of the 95 % interval. The frame itself has the columns that .columns names, in bit/s and s."


class Shown(pl.DataFrame):
    """A data frame that prints, and displays in a notebook, as a readable table.

    >>> print(Shown({"flow": ["a"], "goodput_bps_mean": [1.25e6], "goodput_bps_half_width": [2e3]}))
    flow  goodput kbit/s
    a       1250.0 ± 2.0
    ±: half-width of the 95 % interval. The frame itself has the columns that .columns names, in bit/s and s.
    """

    def __str__(self) -> str:
        """The table as text, fitted to the terminal."""
        columns, rows, numbers = _texts(self)
        return "\n".join([*table(columns, rows, numbers), *_below(self, columns)])

    __repr__ = __str__

    def _repr_html_(self, **_: Any) -> str:
        """The table for a notebook."""
        columns, rows, _numbers = _texts(self)
        below = "".join(f"<p><small>{html.escape(line)}</small></p>" for line in _below(self, columns))
        return page(columns, rows) + below


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool] = ()) -> list[str]:
    """A table as lines, transposed if wider than the terminal; `numbers` says which columns are right-aligned."""
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    lines = _aligned([columns, *rows], numbers)
    return lines if max(map(len, lines)) <= width else _sideways(columns, rows, width)


def page(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def described(what: str, summary: pl.DataFrame, note: str | None) -> str:
    """A summary for a notebook: a title line, the table, and caveats."""
    below = "" if note is None else f"<p><small>{html.escape(note)}</small></p>"
    return f"<p>{html.escape(what)}</p>{summary._repr_html_()}{below}"


def to_csv(frame: pl.DataFrame, path: str | Path | None) -> str | None:
    """A frame as CSV (RFC 4180, with a header line): written to `path`, or returned as text without one.

    Columns of lists are omitted.

    Raises `FourhopError` if the file cannot be written.
    """
    plain = frame.select(name for name, kind in frame.schema.items() if not isinstance(kind, pl.List))
    if path is None:
        return plain.write_csv()
    try:
        plain.write_csv(path)
    except OSError as error:
        raise FourhopError(f"{path}: cannot be written: {error.strerror or error}") from error
    return None


def _texts(frame: pl.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    """Headings, rows, and which columns are numeric; a mean and its half-width share a column."""
    columns: dict[str, list[str]] = {}
    numbers = []
    for name in frame.columns:
        stem = name.removesuffix("_mean")
        half = f"{stem}_half_width"
        if name.endswith("_half_width") and f"{name.removesuffix('_half_width')}_mean" in frame.columns:
            continue
        end = next((end for end in _UNITS if stem.endswith(end)), "")
        unit, scale = (" ms", 1e3) if end == "_s" and stem.startswith(_MILLISECONDS) else _UNITS.get(end, ("", 1.0))
        heading = f"{stem.removesuffix(end).replace('_', ' ')}{unit}"
        widths = frame[half].head(_ROWS).to_list() if half in frame.columns else [None] * min(frame.height, _ROWS)
        values = frame[name].head(_ROWS).to_list()
        if frame.schema[name].is_float():
            known = [abs(scale * each) for each in values if each is not None and math.isfinite(each)]
            # Means of counts get one decimal; shares, indices and short times need more.
            digits = 3 if max(known, default=0.0) < 10.0 and (unit or half in frame.columns) else 1
            columns[heading] = [
                _number(value, width, scale, digits) for value, width in zip(values, widths, strict=True)
            ]
        else:
            columns[heading] = ["-" if value is None else str(value) for value in values]
        numbers.append(frame.schema[name].is_numeric())
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    return list(columns), rows, numbers


def _number(value: float | None, half_width: float | None, scale: float, digits: int) -> str:
    if value is None or math.isnan(value):
        return "-"
    width = "" if half_width is None else f" ± {scale * half_width:.{digits}f}"
    return f"{scale * value:.{digits}f}{width}"


def _aligned(rows: Sequence[Sequence[str]], numbers: Sequence[bool] = ()) -> list[str]:
    """Rows as aligned lines; columns of numbers are right-aligned."""
    columns = [
        [cell.rjust(width) if right else cell.ljust(width) for cell in column]
        for column, right in itertools.zip_longest(zip(*rows, strict=True), numbers)
        for width in [max(map(len, column))]
    ]
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _sideways(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The table transposed: one line per column, in blocks of as many rows as fit, at least one."""
    lines: list[str] = []
    left = list(rows)
    while left:
        count = len(left)
        while count > 1 and max(map(len, _aligned(list(zip(columns, *left[:count], strict=True))))) > width:
            count -= 1
        lines += ([""] if lines else []) + _aligned(list(zip(columns, *left[:count], strict=True)))
        del left[:count]
    return lines


def _below(frame: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Remarks below the table."""
    more = [f"and {frame.height - _ROWS} more rows"] if frame.height > _ROWS else []
    return [*more, *([_NOTE] if len(columns) < len(frame.columns) else [])]
