"""A chart of any sweep, without a study. The varied keys determine its axes, unless options do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

from fourhop import quantity, style
from fourhop.errors import FourhopError
from fourhop.study.cells import Cells
from fourhop.study.chart import Chart, Line, as_number, line
from fourhop.study.measures import Measured, named

Kind = Literal["lines", "bars", "ecdf"]

# Units of quantities on the x axis; `chart` converts quantities to them.
_UNITS = {"a time": "s", "a rate": "Mbit/s", "a length": "m", "a size": "kB", "a share": ""}


def chart(
    cells: Cells,
    y: str = "goodput",
    *,
    x: str | None = None,
    by: str | None = None,
    kind: Kind | None = None,
    flow: str | None = None,
) -> Chart:
    """A chart of the cells of a sweep; `plots.sweep` describes the arguments.

    Raises `FourhopError` for unknown names, or if the cells vary in more keys than the chart shows.
    """
    if kind is not None and kind not in get_args(Kind):
        raise FourhopError(f"kind: found {kind!r}, allowed: {', '.join(get_args(Kind))}")
    if kind == "ecdf" and x is not None:
        raise FourhopError(f"x: found {x!r}, but the x axis of an ECDF is the measured value; leave x out")
    x, by = (None if key is None else cells.key(key) for key in (x, by))
    open_ = [key for key in cells.keys if len(cells.values(key)) > 1]
    if x is None and kind != "ecdf":
        rest = [key for key in open_ if key != by]
        numbers = [key for key in rest if _numbers(cells.values(key))]
        x = next(iter(numbers or rest), None)
    if by is None:
        rest = [key for key in open_ if key != x]
        by = rest[0] if rest else None
    hidden = [key for key in open_ if key not in (x, by)]
    if hidden:
        shown = " and ".join(filter(None, (x, by))) or "no varied key"
        missing = " ".join(f"--where {key}=VALUE" for key in hidden)
        raise FourhopError(f"one figure shows {shown}; fix the other{'s' if len(hidden) > 1 else ''}: {missing}")
    measured = named(y, cells)
    if by is None:
        # Even a single curve has a label, and the colour of its transport.
        fixed = [key for key in cells.keys if key != x]
        groups = {", ".join(_label(key, cells.values(key)[0]) for key in fixed): cells}
    else:
        groups = {_label(by, value): group for value, group in cells.by(by).items()}
    if kind == "ecdf":
        return _ecdf(groups, measured, flow)
    return _means(groups, measured, x, flow, kind)


def _means(
    groups: Mapping[str, Cells], measured: Measured, x: str | None, flow: str | None, kind: Kind | None
) -> Chart:
    of = {
        label: {"": measured.of(group, flow)}
        if x is None
        else {value: measured.of(cell, flow) for value, cell in group.by(x).items()}
        for label, group in groups.items()
    }
    title = measured.title if flow is None else replace(measured, label=f"{measured.label} of {flow}").title
    places = [] if x is None else list(dict.fromkeys(place for points in of.values() for place in points))
    if kind != "bars" and places and _numbers(places):
        return Chart("lines", tuple(line(label, points) for label, points in of.items()), _axis(str(x), places), title)
    if kind == "lines":
        raise FourhopError(f"kind: found lines over {x or 'nothing'}, whose values are not numbers; use bars")
    bars = tuple(
        replace(line(label, points), x=[_name(x or "", place) for place in points]) for label, points in of.items()
    )
    return Chart("bars", bars, "" if x is None else _short(x), title)


def _numbers(values: Sequence[Any]) -> bool:
    """Whether all of them can be placed on a numeric axis."""
    return all(
        as_number(value) is not None if isinstance(value, str) else type(value) in (int, float) for value in values
    )


def _ecdf(groups: Mapping[str, Cells], measured: Measured, flow: str | None) -> Chart:
    """The share of values at or below each value, over all runs and flows.

    Without intervals, as the flows of one run are not independent of each other.
    """
    values = {
        label: [each for run in group.runs for each in measured.each(run, flow)] for label, group in groups.items()
    }
    known = {label: sorted(each for each in found if not math.isnan(each)) for label, found in values.items()}
    last = max((found[-1] for found in known.values() if found), default=0.0)
    lines = []
    for label, found in known.items():
        of = "" if len(found) == len(values[label]) else f" of {len(values[label])}"
        n = f"n = {len(found)}{of}"
        x = [found[0], *found, last] if found else []
        y: list[float | None] = [0.0, *((place + 1) / len(found) for place in range(len(found))), 1.0] if found else []
        lines.append(Line(f"{label} ({n})" if label else n, x, y, [None] * len(x), [None] * len(x)))
    return Chart("series", tuple(lines), measured.title, "share of values at or below", y_max=1.0, steps=True)


def _label(key: str, value: Any) -> str:
    """The label of a curve for a value of a key."""
    return _name(key, value) if isinstance(value, str) else f"{_short(key)} {_name(key, value)}"


def _name(key: str, value: Any) -> str:
    transport = key == "transport" or key.endswith(".transport")
    return style.TRANSPORTS.get(value, value) if transport else str(value)


def _axis(key: str, places: Sequence[Any]) -> str:
    """The name of a varied key and the unit of its values."""
    first = places[0]
    if not isinstance(first, str):
        return _short(key)
    found = quantity.parse(first)
    unit = _UNITS.get(found.kind, found.unit)
    return f"{_short(key)} ({unit})" if unit else _short(key)


def _short(key: str) -> str:
    return key.rsplit(".", 1)[-1].replace("_", " ")
