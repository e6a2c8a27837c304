"""Figures for papers: matplotlib, a palette that colour-blind readers tell apart, units on the axes, no title inside.

Every function returns a `matplotlib.figure.Figure`, made without pyplot and without a display; `save` writes it as
PNG and PDF.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fourhop.errors import FourhopError
from fourhop.stats import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fourhop.result import Result

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), without the yellow that vanishes on white, the two farthest apart first."""

_LINES: tuple[Literal["-"], Literal["--"], Literal["-."], Literal[":"]] = ("-", "--", "-.", ":")

Quantity = Literal["goodput_bps", "cwnd_segments", "srtt_s", "pacing_interval_s"]

# Axis label of a time series, and what its values are multiplied with for it.
_AXES: dict[str, tuple[str, float]] = {
    "goodput_bps": ("goodput (kbit/s)", 1e-3),
    "cwnd_segments": ("congestion window (segments)", 1.0),
    "srtt_s": ("smoothed RTT (ms)", 1e3),
    "pacing_interval_s": ("pacing interval (ms)", 1e3),
}


def figure(width_in: float = 4.8, height_in: float = 3.2) -> tuple[Figure, Axes]:
    """An empty figure in the style of the package, one column of a paper wide."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width_in, height_in), layout="constrained")
    axes = made.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    return made, axes


def over_hops(curves: Mapping[str, Sequence[tuple[int, Interval]]]) -> Figure:
    """Goodput over the number of hops, one curve a label; bars are 95 % intervals, of what `Interval.method` says."""
    made, axes = figure()
    for index, (label, points) in enumerate(curves.items()):
        _, drawn, _ = axes.errorbar(
            [hops for hops, _ in points],
            [goodput.mean / 1e3 for _, goodput in points],
            yerr=[(goodput.half_width or 0.0) / 1e3 for _, goodput in points],
            label=label,
            capsize=3.0,
            linewidth=1.3,
            markersize=4.5,
            color=_colour(index),
            marker=_marker(index),
            linestyle=_line(index),
        )
        for cap in drawn:
            cap.set_markeredgewidth(1.0)
    every = sorted({hops for points in curves.values() for hops, _ in points})
    if len(every) <= 16:
        axes.set_xticks(every)
    axes.set_xlabel("hops")
    axes.set_ylabel("goodput (kbit/s)")
    axes.set_ylim(bottom=0.0)
    if curves:
        axes.legend(frameon=False)
    return made


def time_series(result: Result, quantity: Quantity = "goodput_bps", *, seed: int | None = None) -> Figure:
    """A time series of every flow of one run (that of the first seed unless told otherwise), a line a flow.

    Raises `FourhopError` if the scenario records none (its key `sample_every`) or no run has that seed.
    """
    import polars as pl

    chosen = result.seeds[0] if seed is None else seed
    table = result.series.filter(pl.col("seed") == chosen)
    if table.is_empty():
        raise FourhopError(
            f"no time series of seed {chosen}: set sample_every in the scenario, and name a seed that ran"
        )
    label, scale = _AXES[quantity]
    made, axes = figure()
    for index, (name, flow) in enumerate(table.group_by("flow", maintain_order=True)):
        axes.plot(
            flow["time_s"].to_numpy(),
            flow[quantity].to_numpy() * scale,
            label=str(name[0]),
            color=_colour(index),
            linestyle=_line(index),
            linewidth=1.2,
            # A window and a timer keep their value until they change; a rate is a mean over the step before.
            drawstyle="steps-post" if quantity != "goodput_bps" else "default",
        )
    axes.set_xlabel("time (s)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0.0)
    # Above the axes: a series may fill every corner of them.
    made.legend(loc="outside upper left", ncols=4, frameon=False)
    return made


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


def _colour(index: int) -> str:
    return OKABE_ITO[index % len(OKABE_ITO)]


# Markers and lines tell the curves apart where colours do not: in grey print.
def _marker(index: int) -> str:
    return "osD^vPX"[index % 7]


def _line(index: int) -> Literal["-", "--", "-.", ":"]:
    return _LINES[index % len(_LINES)]
