"""Charts as vector graphics: matplotlib, intervals drawn, colours and shapes that everyone tells apart, no title.

The SVG of a report takes text and ink from the page (`currentColor`), so that it is readable on a dark one too.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fourhop import plots
from fourhop.study.chart import Chart, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What stands for the page's own ink and grid while matplotlib draws. No palette uses them.
_INK = "#010203"
_GRID = "#040506"
_PAGE = {_INK: "currentColor", _GRID: "var(--grid, #ddd)"}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.labelcolor": _INK,
}

WIDTH_IN = 4.8
HEIGHT_IN = 3.4
LEGEND_IN = 0.19
"""A row of the legend."""

_HATCHES = ("", "//", "..", "xx", "\\\\", "--", "++")


def colour(index: int) -> str:
    """Colour of a line: the last of the palette is the page's ink."""
    found = plots.OKABE_ITO[index % len(plots.OKABE_ITO)]
    return _INK if found == "#000000" else found


def figure(chart: Chart) -> Figure:
    """A chart as a matplotlib figure. A table has none: it is read as a table."""
    rows = math.ceil(len(chart.lines) / _columns(chart.lines)) if chart.lines else 0
    # A long legend does not take its room from what is drawn.
    made, axes = plots.figure(WIDTH_IN, HEIGHT_IN + LEGEND_IN * max(0, rows - 2))
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    {"lines": _lines, "series": _series, "bars": _bars}[chart.kind](axes, chart)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    _limits(axes, chart)
    if len(chart.lines) > 1:
        made.legend(loc="outside upper left", ncols=_columns(chart.lines), frameon=False, fontsize=9)
    return made


def svg(chart: Chart, prefix: str) -> str:
    """A chart as an SVG element to put into a page; `prefix` keeps its ids apart from those of others."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": prefix}):
        made = figure(chart)
        made.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for stands, page in _PAGE.items():
        text = text.replace(stands, page)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'(xlink:href="|url\()#([^")]+)', rf"\1#{prefix}-\2", text)
    # The size follows the page, the proportions the figure.
    text = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", text, count=1)


def _lines(axes: Axes, chart: Chart) -> None:
    for index, line in enumerate(chart.lines):
        kept = [i for i, y in enumerate(line.y) if y is not None]
        y = [_plain(line.y[i]) for i in kept]
        _, caps, _ = axes.errorbar(
            [float(line.x[i]) for i in kept],
            y,
            yerr=_errors(line, kept),
            label=line.label,
            capsize=3.0,
            linewidth=1.3,
            markersize=4.5,
            color=colour(index),
            marker="osD^vPX"[index % 7],
            linestyle=("-", "--", "-.", ":")[index % 4],
        )
        for cap in caps:
            cap.set_markeredgewidth(1.0)
    places = sorted({float(x) for line in chart.lines for x in line.x})
    if chart.x_log:
        axes.set_xscale("log")
    elif len(places) <= 16 and all(x.is_integer() for x in places):
        axes.set_xticks(places)


def _series(axes: Axes, chart: Chart) -> None:
    for index, line in enumerate(chart.lines):
        x = [float(x) for x in line.x]
        # A gap where nothing was measured.
        y = [math.nan if each is None else each for each in line.y]
        axes.plot(
            x, y, label=line.label, color=colour(index), linewidth=1.2, linestyle=("-", "--", "-.", ":")[index % 4]
        )
        if any(low is not None for low in line.low):
            low, high = ([math.nan if each is None else each for each in side] for side in (line.low, line.high))
            axes.fill_between(x, low, high, color=colour(index), alpha=0.18, linewidth=0.0)


def _bars(axes: Axes, chart: Chart) -> None:
    groups = list(dict.fromkeys(str(x) for line in chart.lines for x in line.x))
    width = 0.8 / max(1, len(chart.lines))
    for index, line in enumerate(chart.lines):
        kept = [i for i, y in enumerate(line.y) if y is not None]
        offset = (index - (len(chart.lines) - 1) / 2.0) * width
        axes.bar(
            [groups.index(str(line.x[i])) + offset for i in kept],
            [_plain(line.y[i]) for i in kept],
            width * 0.92,
            yerr=_errors(line, kept),
            label=line.label,
            color=colour(index),
            edgecolor="white",
            hatch=_HATCHES[index % len(_HATCHES)],
            linewidth=0.5,
            error_kw={"capsize": 3.0, "elinewidth": 1.0, "ecolor": _INK},
        )
    if groups != [""]:
        axes.set_xticks(range(len(groups)), groups)
    else:
        axes.set_xticks([])


def _errors(line: Line, kept: Sequence[int]) -> Any:
    down = [_plain(line.y[i]) - _plain(line.low[i], line.y[i]) for i in kept]
    up = [_plain(line.high[i], line.y[i]) - _plain(line.y[i]) for i in kept]
    return [[max(0.0, each) for each in side] for side in (down, up)]


def _plain(value: float | None, otherwise: float | None = 0.0) -> float:
    return (otherwise or 0.0) if value is None else value


def _limits(axes: Axes, chart: Chart) -> None:
    if chart.y_max is not None:
        axes.set_ylim(top=chart.y_max)
    if chart.y_min is None:
        return
    axes.set_ylim(bottom=chart.y_min)
    if chart.y_max is None:
        # One wide interval must not flatten every curve: beyond twice the largest value it is cut off.
        largest = max((y for line in chart.lines for y in line.y if y is not None), default=0.0)
        top = axes.get_ylim()[1]
        if largest > 0.0 and top > 2.0 * largest:
            axes.set_ylim(top=2.0 * largest)


def _columns(lines: Sequence[Line]) -> int:
    """As many columns as fit above the axes."""
    longest = max(len(line.label) for line in lines) + 6
    return max(1, min(len(lines), int(WIDTH_IN * 12.5) // longest, 4))
