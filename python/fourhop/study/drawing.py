"""The appearance of a chart: limits, ticks, colours, lines and markers, determined once for all renderers.

`draw` makes a vector graphic from it, `report.js` an interactive chart. Neither computes anything but pixels, so both
show the same.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

from fourhop import style
from fourhop.study.chart import Chart, Kind, Line

DASHES: tuple[tuple[float, ...], ...] = ((), (4.0, 2.0), (6.0, 2.0, 1.0, 2.0), (1.0, 1.6))
"""Strokes and gaps, in line widths."""

MARKERS = ("circle", "square", "diamond", "triangle", "triangle down")
"""Shapes that can be open, to mark a value without an interval."""

HATCHES = ("", "//", "..", "xx", "\\\\", "--", "++")

_CHARACTERS = 48
"""Number of characters of tick labels that fit side by side along the x axis."""

_MARGIN = 0.05
"""Room beyond the outermost values, as a share of the axis."""


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`."""

    name: str
    unit: str
    """Empty without a unit."""
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    """Positions and labels; long labels already have line breaks."""
    log: bool = False

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Curve:
    """A curve, or the bars of one colour.

    `None` in `y` means no measurement. `None` in `low` and `high` means no interval: there is no whisker, and the point
    or bar is open, so that it is not mistaken for an exactly known value. Series have neither, so both are empty.
    """

    label: str
    colour: str | None
    """`None` is the ink of the page."""
    dash: tuple[float, ...]
    marker: str
    """The shape of its points, if points are shown."""
    hatch: str
    x: tuple[float, ...]
    """For bars, the index of the group, from 0."""
    y: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    cut_low: tuple[int, ...] = ()
    """Indices in `x` of values whose interval extends below the axis, which an arrow shows."""
    cut_high: tuple[int, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """Everything that a renderer needs."""

    kind: Kind
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    steps: bool
    """Whether each value lasts until the next one, rather than changing linearly towards it."""


def describe(chart: Chart, beside: Sequence[Chart] = (), alike: Sequence[Chart] = ()) -> Drawing:
    """Determine how a chart is drawn. Tables are not drawn.

    It shares both scales with the charts of its row (`beside`, which includes itself), which show the same for every
    profile, and the y scale with those in `alike`, which show the same quantity.
    """
    row = [line for each in (beside or (chart,)) for line in each.lines]
    groups = list(dict.fromkeys(str(x) for line in row for x in line.x)) if chart.kind == "bars" else []
    styles = _styles([line.label for line in chart.lines], bars=chart.kind == "bars")
    curves = tuple(
        _curve(index, line, groups, *style, series=chart.kind == "series")
        for index, (line, style) in enumerate(zip(chart.lines, styles, strict=True))
    )
    y = _y_axis(chart, [*row, *(line for each in alike for line in each.lines)])
    curves = tuple(
        replace(
            curve,
            cut_low=tuple(i for i, low in enumerate(curve.low) if low is not None and low < y.low),
            cut_high=tuple(i for i, high in enumerate(curve.high) if high is not None and high > y.high),
        )
        for curve in curves
    )
    return Drawing(chart.kind, _x_axis(chart, row, groups), y, curves, chart.steps)


def _styles(labels: Sequence[str], *, bars: bool) -> list[tuple[str | None, tuple[float, ...]]]:
    """Colour and dash of each curve: those of one transport share its colour, the others get the remaining ones.

    Lines of one colour differ by their dash, bars by their shade. The shortest name is that of the unmodified
    transport, so it gets the solid line and the full colour.
    """
    known = [style.transport_place(label) for label in labels]
    count = len(style.OKABE_ITO)
    left = itertools.cycle([place for place in range(count) if place not in known] or range(count))
    places = [next(left) if place is None else place for place in known]
    made: list[tuple[str | None, tuple[float, ...]]] = []
    names = [len(label.partition(" (")[0]) for label in labels]
    for index, place in enumerate(places):
        before = sum((names[i], i) < (names[index], index) for i, other in enumerate(places) if other == place)
        colour = None if place == count - 1 else style.OKABE_ITO[place]
        dash = DASHES[(index if known[index] is None else before) % len(DASHES)]
        made.append((_pale(style.OKABE_ITO[place], before) if bars and before else colour, dash))
    return made


def _pale(colour: str, steps: int) -> str:
    share = (1.0, 0.7, 0.45, 0.25)[min(steps, 3)]
    return "#" + "".join(f"{round(255 - share * (255 - int(colour[at : at + 2], 16))):02x}" for at in (1, 3, 5))


def _curve(
    index: int, line: Line, groups: Sequence[str], colour: str | None, dash: tuple[float, ...], *, series: bool
) -> Curve:
    whole = [low is not None and high is not None for low, high in zip(line.low, line.high, strict=True)]

    def ends(side: Sequence[float | None]) -> tuple[float | None, ...]:
        return () if series else tuple(_short(end) if known else None for end, known in zip(side, whole, strict=True))

    return Curve(
        line.label,
        colour,
        dash,
        MARKERS[index % len(MARKERS)],
        HATCHES[index % len(HATCHES)],
        tuple(float(groups.index(str(x))) if groups else _short(float(x)) for x in line.x),
        tuple(_short(y) for y in line.y),
        ends(line.low),
        ends(line.high),
    )


def _x_axis(chart: Chart, lines: Sequence[Line], groups: Sequence[str]) -> Axis:
    name, unit = _name_and_unit(chart.x_label)
    if chart.kind == "bars":
        room = max(8, _CHARACTERS // max(1, len(groups)))
        labels = [textwrap.fill(group, room, break_long_words=False) for group in groups]
        reach = [max(map(len, label.split("\n"))) for label in labels]
        if any(sum(pair) / 2.0 + 1.0 > _CHARACTERS / len(groups) for pair in itertools.pairwise(reach)):
            # If neighbours would touch, put every other label one line lower.
            labels = ["\n" * (place % 2) + label for place, label in enumerate(labels)]
        ticks = tuple((float(place), label) for place, label in enumerate(labels) if label.strip())
        return Axis(name, unit, -0.5, max(0, len(groups) - 1) + 0.5, ticks)
    places = sorted({_short(float(x)) for line in lines for x in line.x})
    if not places:
        return Axis(name, unit, 0.0, 1.0, ())
    scale = math.log10 if chart.x_log else float
    first, last = scale(places[0]), scale(places[-1])
    margin = 0.0 if chart.kind == "series" else _MARGIN * ((last - first) or 1.0)
    low, high = first - margin, last + margin
    if chart.x_log:
        low, high = 10.0**low, 10.0**high
    ticks = _at_places(places, [scale(place) for place in places], every=not chart.x_log)
    if not ticks or chart.kind == "series":
        ticks = _ticks(low, high, whole=all(place.is_integer() for place in places))
    return Axis(name, unit, _short(low), _short(high), ticks, chart.x_log)


def _at_places(places: Sequence[float], along: Sequence[float], *, every: bool) -> tuple[tuple[float, str], ...]:
    """A tick at each measured position if the labels fit side by side; otherwise at some, or with `every` at none."""
    ticks: list[tuple[float, str]] = []
    taken = -math.inf
    span = (along[-1] - along[0]) or 1.0
    for place, where in zip(places, along, strict=True):
        label = f"{place:.6g}"
        reach = 0.5 * (len(label) + 1) / _CHARACTERS * span
        if where - reach < taken:
            if every:
                return ()
            continue
        ticks.append((place, label))
        taken = where + reach
    return tuple(ticks)


def _y_axis(chart: Chart, lines: Sequence[Line]) -> Axis:
    means = [y for line in lines for y in line.y if y is not None]
    pairs = [pair for line in lines for pair in zip(line.low, line.high, strict=True)]
    ends = [end for low, high in pairs if low is not None and high is not None for end in (low, high)]
    if chart.y_log and means and min(means) > 0.0:
        # Intervals are cut off at half the smallest and twice the largest mean, as they may reach zero.
        low = max(min([*means, *ends]), 0.5 * min(means)) / (1.0 + 2.0 * _MARGIN)
        high = min(max([*means, *ends]), 2.0 * max(means)) * (1.0 + 2.0 * _MARGIN)
        return Axis(*_name_and_unit(chart.y_label), _short(low), _short(high), _ticks_log(low, high), log=True)
    if chart.kind == "bars":
        means.append(0.0)
    top = max([*means, *ends], default=1.0)
    low = min([*means, *ends], default=0.0) if chart.y_min is None else chart.y_min
    margin = _MARGIN * ((top - low) or 1.0)
    high = top + margin
    # One wide interval must not flatten everything: it is cut off at twice the largest value, or if the axis has no
    # given lower end, at a distance from the values that equals their range.
    largest = max(means, default=0.0)
    if chart.y_min is not None:
        high = 2.0 * largest if high > 2.0 * largest > low else high
    else:
        low -= margin
        if (reach := largest - min(means, default=0.0)) > 0.0:
            low, high = max(low, largest - 2.0 * reach), min(high, largest + reach)
    high = high if chart.y_max is None else chart.y_max
    high = high if high > low else low + 1.0
    return Axis(
        *_name_and_unit(chart.y_label), _short(low), _short(high), _ticks(low, high, whole=_counts(chart, means))
    )


def _counts(chart: Chart, means: Sequence[float]) -> bool:
    """Whether a chart over time shows counts or numbers of states, which have no values in between."""
    return chart.kind == "series" and bool(means) and all(mean.is_integer() for mean in means)


def _ticks(low: float, high: float, *, whole: bool = False) -> tuple[tuple[float, str], ...]:
    """Ticks at round values between the two."""
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(7, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)
    values = [_short(float(value)) for value in found if low <= value <= high]
    digits = max((len(f"{value:.6g}".partition(".")[2]) for value in values if abs(value) < 1e6), default=0)
    return tuple((value, f"{value + 0.0:.{digits}f}") for value in values)


def _ticks_log(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Ticks at 1, 2 and 5 times the powers of ten between the two.

    >>> [label for _, label in _ticks_log(90.0, 1300.0)]
    ['100', '200', '500', '1000']
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [_short(step * 10.0**power) for power in powers for step in (1, 2, 5)]
    return tuple((value, f"{value:.6g}") for value in values if low <= value <= high)


def _name_and_unit(label: str) -> tuple[str, str]:
    """The two parts of a label such as `goodput (kbit/s)`.

    >>> _name_and_unit("goodput (kbit/s)"), _name_and_unit("hops")
    (('goodput', 'kbit/s'), ('hops', ''))
    """
    name, parenthesis, unit = label.rpartition(" (")
    return (name, unit[:-1]) if parenthesis and unit.endswith(")") else (label, "")


@overload
def _short(value: float) -> float: ...
@overload
def _short(value: None) -> None: ...
def _short(value: float | None) -> float | None:
    """Round to six significant digits: more than can be seen, and shorter than the full number."""
    return None if value is None else float(f"{value:.6g}")
