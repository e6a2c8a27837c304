"""Measures over all flows of a run: total goodput, how evenly it is shared, and starving flows.

Functions of a `Run` are for `Cells.measure`, those of `Cells` also for charts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from fourhop import stats
from fourhop.study.cells import KBPS, Cells, Run
from fourhop.study.estimate import Sample, run_by_run

Of = Callable[[Run], float]

SETTLED_S = 20.0
OVER_TIME: Mapping[str, Any] = {"duration": "220s", "warmup": f"{SETTLED_S:g}s", "sample_every": "1s"}
"""Keys for flows over time: `within` measures them from `SETTLED_S` on."""
MOMENT_S = 5.0
"""Over this time, one of two NewReno flows has nearly everything, on chains that interfere."""

STARVING = 0.1
"""A flow starves if it has less than this part of an equal share."""


def goodputs(run: Run) -> list[float]:
    """Goodput of each flow, in bit/s."""
    return [flow["goodput_bps"] for flow in run.flows.values()]


def averaged(run: Run) -> list[float]:
    """Goodput of each flow while it has data to send, in bit/s: pauses do not count."""
    return [flow["averaged_goodput_bps"] for flow in run.flows.values()]


def smallest_of(each: list[float]) -> float:
    """Share of the smallest value in the sum, 0 to 1."""
    return min(each) / sum(each)


def smaller_share(run: Run) -> float:
    """Share of the smallest flow, 0 to 1."""
    return smallest_of(goodputs(run))


def starving(run: Run) -> float:
    """Number of starving flows."""
    each = goodputs(run)
    return float(sum(one < STARVING * sum(each) / len(each) for one in each))


def index_of(each: list[float]) -> float:
    """Jain's index, NaN if there is nothing to share."""
    return stats.jain(each) or math.nan


def fairness(of: Callable[[Run], list[float]]) -> Of:
    """Jain's index of `of` over the flows."""
    return lambda run: index_of(of(run))


def total(of: Callable[[Run], list[float]]) -> Of:
    """The sum of `of` over the flows, in kbit/s."""
    return lambda run: 1e-3 * sum(of(run))


def goodput_between(cells: Cells, flow: str, when: tuple[float, float]) -> Sample:
    """Goodput of a flow from one time to another, in s; in kbit/s."""
    return cells.over_time("goodput_bps", flow, *when)


def within(cells: Cells, window_s: float, of: Callable[[list[float]], float], since_s: float = SETTLED_S) -> Sample:
    """The mean of `of` over time windows, applied to the goodputs of the flows in each, the smallest first.

    The first window begins at `since_s`. Windows in which nothing arrives do not count; a run without any is NaN.
    """
    import polars as pl

    series = cells.series().filter(pl.col("time_s") > since_s)
    window = ((pl.col("time_s") - since_s) / window_s).ceil().alias("window")
    each = series.group_by("seed", "flow", window).agg(pl.col("goodput_bps").mean())
    windows = each.group_by("seed", "window").agg(pl.col("goodput_bps").sort())
    found: dict[int, list[float]] = defaultdict(list)
    for seed, goodputs in windows.select("seed", "goodput_bps").iter_rows():
        if any(goodputs):
            found[seed].append(of(goodputs))

    def mean(run: Run) -> float:
        values = found[run.seed]
        return math.fsum(values) / len(values) if values else math.nan

    return cells.measure(mean)


def part_of_both(one: Sample, other: Sample) -> Sample:
    """The share of `one` in the sum of both in each run, 0 to 1; 0 if both are 0."""
    return run_by_run(lambda x, y: x / (x + y) if x + y else 0.0, one, other)


def averaged_goodput(cells: Cells) -> Sample:
    """Averaged goodput of all flows together in kbit/s."""
    return cells.measure(total(averaged), KBPS)


def averaged_fairness(cells: Cells) -> Sample:
    """Jain's index of the averaged goodputs."""
    return cells.measure(fairness(averaged))
