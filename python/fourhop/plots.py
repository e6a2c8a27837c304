"""Figures for papers: matplotlib, a palette that colour-blind readers tell apart, units on the axes, no title inside.

Every function returns a `matplotlib.figure.Figure`, made without pyplot and without a display; `save` writes it as
PNG and PDF.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fourhop._core import series_columns
from fourhop.errors import FourhopError
from fourhop.stats import Interval
from fourhop.study import draw
from fourhop.study.chart import Chart, line, over_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fourhop.result import Result


def over_hops(curves: Mapping[str, Sequence[tuple[int, Interval]]]) -> Figure:
    """Goodput over the number of hops, one curve a label; bars are 95 % intervals, of what `Interval.method` says."""
    lines = tuple(line(label, dict(points), scale=1e-3) for label, points in curves.items())
    return draw.figure(Chart("lines", lines, "hops", "goodput (kbit/s)"))


def time_series(result: Result, quantity: str = "goodput_bps", *, seed: int | None = None) -> Figure:
    """A time series of every flow of one run (that of the first seed unless told otherwise), a line a flow.

    `quantity` is a column of `Result.series` (docs/results.md).

    Raises `FourhopError` if there is no such column, if the scenario records no series (its key `sample_every`), or if
    no run has that seed.
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
    # A window and a timer keep their value until they change; a rate is a mean over the step before.
    return draw.figure(Chart("series", tuple(lines), "time (s)", label, steps=quantity != "goodput_bps"))


def save(made: Figure, path: str | Path) -> list[Path]:
    """Write a figure as PNG and PDF beside each other; `path` names them without a suffix. Returns both paths.

    Raises `FourhopError` if they cannot be written.
    """
    stem = Path(path)
    paths = [stem.with_name(f"{stem.name}.{suffix}") for suffix in ("png", "pdf")]
    try:
        stem.parent.mkdir(parents=True, exist_ok=True)
        for each in paths:
            # No creation date inside, so that the same data give the same file.
            made.savefig(each, dpi=200, metadata={"CreationDate": None} if each.suffix == ".pdf" else None)
    except OSError as error:
        raise FourhopError(f"figure {stem}: cannot be written: {error.strerror or error}") from error
    return paths
