"""Charts as vector graphics: drawings of `drawing`, rendered by matplotlib.

The SVG of a report takes its font and ink from the page (`currentColor`), so that it is readable on a dark one too.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fourhop import style
from fourhop.size import FONT_PT
from fourhop.study.chart import Chart
from fourhop.study.drawing import Curve, Drawing, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Placeholders for the page's own ink, grid and paper while matplotlib draws. No palette uses them.
_INK = "#010203"
_GRID = "#dddedf"
_PAPER = "#fefdfc"
_PAGE = {_INK: "currentColor", _GRID: "var(--grid, #ddd)", _PAPER: "var(--page, #fff)"}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
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
"""Height of a row of the legend."""

_LEGEND = 0.9

_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^", "triangle down": "v"}


def figure(chart: Chart | Drawing) -> Figure:
    """A chart as a matplotlib figure. Tables are not drawn."""
    drawing = describe(chart) if isinstance(chart, Chart) else chart
    # A long legend must not shrink the plot.
    made = axes(drawing, size=(WIDTH_IN, HEIGHT_IN + legend_in(drawing))).get_figure(root=True)
    assert made is not None
    return made


def legend_in(drawing: Drawing) -> float:
    """Height in inches that a chart's legend needs beyond the two rows that every chart has room for."""
    rows = math.ceil(len(drawing.curves) / _columns(drawing.curves))
    return LEGEND_IN * max(0, rows - 2)


def axes(
    drawing: Drawing,
    *,
    into: Axes | None = None,
    size: tuple[float, float] = (WIDTH_IN, HEIGHT_IN),
    font_size: float = FONT_PT,
    legend: bool = True,
    axes_class: type[Axes] | None = None,
) -> Axes:
    """Draw a chart on the axes `into`, or on the axes of a new figure.

    `size` is the size of the figure in inches, `font_size` that of its text in points, `axes_class` the class of the
    new axes.
    """
    import matplotlib

    named = legend and any(curve.label for curve in drawing.curves)
    with matplotlib.rc_context({**_STYLE, "font.size": font_size}):
        if into is not None:
            _content(style.empty(into), drawing, font_size / FONT_PT)
            into.tick_params(labelsize=font_size)
            for axis in (into.xaxis, into.yaxis):
                axis.label.set_fontsize(font_size)
            if named:
                into.legend(frameon=False, fontsize=font_size * _LEGEND)
            return into
        made, axes = style.figure(*size, axes_class=axes_class)
        _content(axes, drawing, font_size / FONT_PT)
        # Even a single curve has a legend.
        if named:
            columns = _columns(drawing.curves, size[0] * FONT_PT / font_size)
            made.legend(loc="outside upper left", ncols=columns, frameon=False, fontsize=font_size * _LEGEND)
    return axes


def side_by_side(charts: Sequence[Chart]) -> Figure:
    """Charts of the same curves side by side, under one legend."""
    import matplotlib

    drawings = [describe(chart) for chart in charts]
    with matplotlib.rc_context(_STYLE):
        made, first = style.figure(WIDTH_IN * len(drawings), HEIGHT_IN)
        first.remove()
        for place, drawing in enumerate(drawings):
            axes = style.empty(made.add_subplot(1, len(drawings), place + 1))
            _content(axes, drawing)
        handles, labels = axes.get_legend_handles_labels()
        made.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False)
    return made


def svg(chart: Chart | Drawing, prefix: str) -> str:
    """A chart as an SVG element for a page; `prefix` makes its ids unique."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": prefix}):
        made = figure(chart)
        _lay_out(made)
        made.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for stands, page in _PAGE.items():
        text = text.replace(stands, page)
    meant = set(re.findall(r'(?:xlink:href="|url\()#([^")]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda each: f' id="{prefix}-{each[1]}"' if each[1] in meant else "", text)
    text = re.sub(r'(xlink:href="|url\()#([^")]+)', rf"\1#{prefix}-\2", text)
    # The page decides the size, the figure the proportions.
    text = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", text, count=1)
    return re.sub(r">\s+<", "><", re.sub(r"<[^>]+>", _lean, text))


def _lay_out(made: Figure) -> None:
    """Lay out a figure for SVG. Otherwise `savefig` draws everything twice, once only for the layout."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(made)
    made.dpi = 72.0
    engine = made.get_layout_engine()
    assert engine is not None
    engine.execute(made)
    made.set_layout_engine(None)


def _lean(tag: re.Match[str]) -> str:
    """A tag without invisible details: coordinates to a millionth of a point, and fonts, as the page has its own."""
    text = re.sub(r"font-family: [^;\"]+;? ?", "", re.sub(r"\s+", " ", tag[0]))
    return re.sub(r"(?<![\w.])-?\d+\.\d{3,}", lambda place: f"{float(place[0]):.2f}".rstrip("0").rstrip("."), text)


def _content(axes: Axes, drawing: Drawing, scale: float = 1.0) -> None:
    """Draw the content; `scale` is that of the font, and lines grow with a large font."""
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    _axes(axes, drawing)
    for index, curve in enumerate(drawing.curves):
        if drawing.kind == "bars":
            _bars(axes, curve, index, drawing)
        else:
            _line(axes, curve, drawing, max(1.0, scale))


def _axes(axes: Axes, drawing: Drawing) -> None:
    for log, scale in ((drawing.x.log, axes.set_xscale), (drawing.y.log, axes.set_yscale)):
        if log:
            scale("log")
            axes.minorticks_off()
    for axis, to_draw in ((axes.xaxis, drawing.x), (axes.yaxis, drawing.y)):
        axis.set_ticks([place for place, _ in to_draw.ticks], [label for _, label in to_draw.ticks])
        axis.set_label_text(to_draw.label)
    axes.set_xlim(drawing.x.low, drawing.x.high)
    axes.set_ylim(drawing.y.low, drawing.y.high)


def _line(axes: Axes, curve: Curve, drawing: Drawing, scale: float) -> None:
    style: dict[str, Any] = {
        "label": curve.label,
        "color": curve.colour or _INK,
        "linestyle": (0, curve.dash) if curve.dash else "-",
        "linewidth": 1.3 * scale,
    }
    if drawing.kind == "series":
        axes.plot(curve.x, _plain(curve.y), drawstyle="steps-post" if drawing.steps else "default", **style)
        return
    _, caps, _ = axes.errorbar(
        curve.x,
        _plain(curve.y),
        yerr=_errors(curve),
        capsize=3.0 * scale,
        markersize=4.5 * scale,
        marker=_MARKERS[curve.marker],
        **style,
    )
    for cap in caps:
        cap.set_markeredgewidth(1.0)
    # Drawn over the closed markers at the same positions.
    unsure = [i for i, low in enumerate(curve.low) if low is None]
    x, y = ([_plain(side)[i] for i in unsure] for side in (curve.x, curve.y))
    axes.plot(
        x, y, _MARKERS[curve.marker], markersize=4.5 * scale, color=style["color"], markerfacecolor=_PAPER, zorder=2.2
    )
    _arrows(axes, curve, drawing, 0.0, style["color"])


def _bars(axes: Axes, curve: Curve, index: int, drawing: Drawing) -> None:
    """Draw the bars of one colour, each beside the others of its group."""
    width = 0.8 / len(drawing.curves)
    offset = (index - (len(drawing.curves) - 1) / 2.0) * width
    colour = curve.colour or _INK
    made = axes.bar(
        [group + offset for group in curve.x],
        _plain(curve.y),
        width * 0.92,
        yerr=_errors(curve),
        label=curve.label,
        color=colour,
        edgecolor=_PAPER,
        hatch=curve.hatch,
        error_kw={"capsize": 3.0, "elinewidth": 1.0, "ecolor": _INK},
    )
    for bar, low in zip(made, curve.low, strict=True):
        if low is None:
            bar.set(facecolor=_PAPER, edgecolor=colour)
    _arrows(axes, curve, drawing, offset, _INK)


def _arrows(axes: Axes, curve: Curve, drawing: Drawing, offset: float, colour: str) -> None:
    """Mark with arrows where intervals leave the axis."""
    from matplotlib.markers import CARETDOWN, CARETUP

    for cut, edge, marker in ((curve.cut_low, drawing.y.low, CARETDOWN), (curve.cut_high, drawing.y.high, CARETUP)):
        axes.plot(
            [curve.x[i] + offset for i in cut],
            [edge] * len(cut),
            marker=marker,
            markersize=5.0,
            color=colour,
            linestyle="none",
        )


def _errors(curve: Curve) -> list[list[float]]:
    """Lengths of the intervals downwards and upwards; NaN draws none."""
    y, low, high = (_plain(each) for each in (curve.y, curve.low, curve.high))
    # An interval need not contain the value: that of a ratio is not centred on it.
    down = [max(0.0, a - b) if b == b else b for a, b in zip(y, low, strict=True)]
    up = [max(0.0, b - a) if b == b else b for a, b in zip(y, high, strict=True)]
    return [down, up]


def _plain(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _columns(curves: Sequence[Curve], width_in: float = WIDTH_IN) -> int:
    """Number of legend columns that fit above axes of this width, at font size `FONT_PT`."""
    longest = max((len(curve.label) for curve in curves), default=0) + 6
    return max(1, min(len(curves), int(width_in * 12.5) // longest, 4))
