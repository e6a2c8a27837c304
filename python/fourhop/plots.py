"""Figures for papers: matplotlib, a palette for colour-blind readers, units on the axes, no title inside.

Every function returns the `matplotlib.axes.Axes` it has drawn, ready for further changes; a notebook shows them as a
picture. They need neither pyplot nor a display. `save` writes them as PNG and PDF, `write` in the format of the file's
suffix.

Every function also takes the keywords of `Look`: size, font size, logarithmic axes, other names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from fourhop import look as looks
from fourhop._core import series_columns
from fourhop.errors import FourhopError
from fourhop.look import Look
from fourhop.stats import Interval
from fourhop.study import sweepchart
from fourhop.study.cells import Cells
from fourhop.study.chart import Chart, line, over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fourhop.result import Result
    from fourhop.sweeps.result import SweepResult

DPI = 200
"""Resolution of a PNG in dots per inch: a column of a paper is 960 dots wide."""


def over_hops(curves: Mapping[str, Sequence[tuple[int, Interval]]], **look: Unpack[Look]) -> Axes:
    """Goodput over the number of hops, one curve per label; bars are 95 % intervals, over `Interval.method`."""
    lines = tuple(line(label, dict(points), scale=1e-3) for label, points in curves.items())
    return looks.axes(Chart("lines", lines, "hops", "goodput (kbit/s)"), look)


def sweep(
    result: SweepResult,
    y: str = "goodput",
    *,
    x: str | None = None,
    by: str | None = None,
    kind: sweepchart.Kind | None = None,
    flow: str | None = None,
    where: Mapping[str, object] | None = None,
    **look: Unpack[Look],
) -> Axes:
    """Draw a sweep: a curve, or bars of one colour, for each value of `by`.

    Args:
        result: result of `fourhop.sweep`.
        y: quantity to show: `goodput`, `throughput`, `fairness`, `delay`, `resent`, `timeouts`, or a numeric column of
            the tables `runs` and `flows`. Rates and counts of several flows are summed, times are averaged.
        x: the varied key on the x axis; the first one with numbers if not given.
        by: the varied key shown by colour; the other one if not given.
        kind: `lines` and `bars` show means with 95 % intervals over the runs; a mean without an interval has an open
            marker. `ecdf` shows the distribution of the values of all runs and flows. If not given, lines, or bars
            where the values on the x axis are words.
        flow: show this flow alone.
        where: varied keys, each with the value to show, or a list of values.
        look: size, font, axes and names, see `Look`.

    Raises `FourhopError` for an unknown key or column, or if more keys vary than a figure can show.

    >>> import fourhop
    >>> chain = fourhop.Scenario.chain(hops=1, duration="2s")
    >>> swept = fourhop.sweep(chain, {"transport": ["newreno", "tcp-ap"], "topology.hops": [1, 2]}, runs=2)
    >>> sweep(swept, "delay", size="column", log="y").get_ylabel()
    'mean round trip (ms)'
    """
    cells = Cells.of(result, result.sweep.name)
    for key, value in (where or {}).items():
        # Also matches values as text: a shell passes nothing else.
        written = {str(each): each for each in cells.values(key)}
        wanted = value if isinstance(value, list | tuple | range) and str(value) not in written else [value]
        cells = cells.among(key, [written.get(str(each), each) for each in wanted])
    return looks.axes(sweepchart.chart(cells, y, x=x, by=by, kind=kind, flow=flow), look)


def time_series(
    result: Result, quantity: str = "goodput_bps", *, seed: int | None = None, **look: Unpack[Look]
) -> Axes:
    """Time series of one run (by default that of the first seed), one line per flow.

    `quantity` is a column of `Result.series` (docs/results.md).

    Raises `FourhopError` if there is no such column, if the scenario records no series (key `sample_every`), or if no
    run has that seed.
    """
    import polars as pl

    known = [name for name, _ in series_columns()]
    if quantity not in known:
        raise FourhopError(f"quantity: found {quantity!r}, allowed: {', '.join(known)}")
    chosen = result.seeds[0] if seed is None else seed
    table = result.series.filter(pl.col("seed") == chosen)
    if table.is_empty():
        raise FourhopError(
            f"no time series of seed {chosen}: set sample_every in the scenario, and name a seed that ran"
        )
    flows = {name: name for name in table["flow"].unique(maintain_order=True)}
    lines, label = over_time(table, quantity, flows)
    # A window or timer keeps its value until it changes; a rate is the mean over the preceding step.
    return looks.axes(Chart("series", tuple(lines), "time (s)", label, steps=quantity != "goodput_bps"), look)


def save(made: Figure | Axes, path: str | Path) -> list[Path]:
    """Write a figure, or the figure of axes, as PNG and as PDF; `path` is the name of both without a suffix.

    Returns both paths.

    Raises `FourhopError` if they cannot be written.
    """
    stem = Path(path)
    return [write(made, stem.with_name(f"{stem.name}.{suffix}")) for suffix in ("png", "pdf")]


def write(made: Figure | Axes, path: str | Path) -> Path:
    """Write a figure, or the figure of axes, to one file; its suffix is the format: `.png`, `.svg` or `.pdf`.

    Raises `FourhopError` for another suffix, or if it cannot be written.
    """
    import matplotlib

    path = Path(path)
    kind = path.suffix.removeprefix(".")
    # No date inside, so that the same data give the same file.
    dateless = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    if kind not in dateless:
        raise FourhopError(f"figure: found {path.name!r}, allowed: a name that ends in .png, .svg or .pdf")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "fourhop"}):
            figure = made.get_figure(root=True)
            assert figure is not None
            figure.savefig(path, dpi=DPI, metadata=dateless[kind])
    except OSError as error:
        raise FourhopError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
