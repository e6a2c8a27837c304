"""The look of a figure in a paper or talk: size, font, axes and names. The charts themselves are in `study`.

Every function of `plots` takes these as keywords and returns the axes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from fourhop.errors import FourhopError
from fourhop.size import FONT_PT, Size, letters, typed
from fourhop.study import draw
from fourhop.study.chart import Chart
from fourhop.study.drawing import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Log = Literal["x", "y", "xy"]


class Look(TypedDict, total=False):
    """Keywords of every function of `plots`; all are optional."""

    ax: Axes
    """Draw into these axes, as one part of your own figure. Their size does not change."""
    size: Size
    """`column`, `page` or `slide`, or width and height in inches, including the legend above the axes."""
    font_size: float
    """Size of all text, in points."""
    log: Log
    """Logarithmic axes; every value on them must be positive."""
    xlabel: str
    ylabel: str
    labels: Mapping[str, str]
    """Other names for curves. Each keeps the colour of its transport."""
    legend: bool
    """Whether to show the legend. A single curve without a name never has one."""


@functools.cache
def _drawn_axes() -> type[Axes]:
    from matplotlib.axes import Axes

    class DrawnAxes(Axes):
        """Axes that a notebook displays as their whole figure, although pyplot does not know it."""

        def _repr_svg_(self) -> str:
            import io

            out = io.StringIO()
            figure = self.get_figure(root=True)
            assert figure is not None
            figure.savefig(out, format="svg", metadata={"Date": None})
            return out.getvalue()

    return DrawnAxes


def axes(chart: Chart, look: Mapping[str, Any]) -> Axes:
    """Draw a chart with `look`.

    Raises `FourhopError` for an unknown keyword, or a value that is not allowed.
    """
    unknown = sorted(set(look) - set(Look.__annotations__))
    if unknown:
        raise FourhopError(f"found the keyword {unknown[0]!r}, allowed: {', '.join(Look.__annotations__)}")
    log = look.get("log", "")
    if log and log not in get_args(Log):
        raise FourhopError(f"log: found {log!r}, allowed: {', '.join(get_args(Log))}")
    if "x" in log:
        _positive("x", [x for line in chart.lines for x in line.x])
    if "y" in log:
        _positive("y", [y for line in chart.lines for y in line.y if y is not None])
    chart = replace(chart, x_log=chart.x_log or "x" in log, y_log=chart.y_log or "y" in log)
    chart = replace(chart, x_label=look.get("xlabel", chart.x_label), y_label=look.get("ylabel", chart.y_label))
    drawing = describe(chart)
    labels = look.get("labels", {})
    missing = sorted(set(labels) - {curve.label for curve in drawing.curves})
    if missing:
        there = ", ".join(curve.label for curve in drawing.curves)
        raise FourhopError(f"labels: found {missing[0]!r}, allowed: {there}")
    curves = tuple(replace(curve, label=labels.get(curve.label, curve.label)) for curve in drawing.curves)
    drawing = replace(drawing, curves=curves)
    width, height, font = _size(look.get("size"))
    if "size" not in look:
        # A long legend must not shrink the plot.
        height += draw.legend_in(drawing)
    font = look.get("font_size", font)
    return draw.axes(
        drawing,
        into=look.get("ax"),
        size=(width, height),
        font_size=font,
        legend=look.get("legend", True),
        axes_class=_drawn_axes(),
    )


def of(*, size: str | None, log: Log | None, xlabel: str | None, ylabel: str | None) -> Look:
    """A look from command-line options, where `None` is an option not given and `5x3` a size in inches."""
    look = Look()
    if size is not None:
        look["size"] = typed(size)
    if log is not None:
        look["log"] = log
    if xlabel is not None:
        look["xlabel"] = xlabel
    if ylabel is not None:
        look["ylabel"] = ylabel
    return look


def _size(given: Any) -> tuple[float, float, float]:
    return (draw.WIDTH_IN, draw.HEIGHT_IN, FONT_PT) if given is None else letters(given)


def _positive(axis: str, values: list[Any]) -> None:
    refused = next((value for value in values if isinstance(value, str) or value <= 0.0), None)
    if refused is not None:
        raise FourhopError(f"log: found {refused!r} on the {axis} axis, allowed: numbers above zero")
