"""Measures of a sweep that the studies of AP2 share, and comparisons of two sweeps."""

import math
from collections.abc import Sequence

from fourhop.study import Cells, Estimate, Sample


def goodput(cells: Cells) -> float:
    return cells.goodput().mean


def round_trip(cells: Cells) -> float:
    """Mean over the flows of the 95th percentile of each flow's round trip after the first quarter, in s."""
    import polars as pl

    series = cells.series()
    late = series.filter(pl.col("time_s") > 0.25 * pl.col("time_s").max())
    each = [trip for trip in late.group_by("flow").agg(pl.col("srtt_s").quantile(0.95))["srtt_s"] if trip is not None]
    return math.fsum(each) / len(each) if each else math.nan


def over(one: float, other: float) -> float:
    """Their ratio; unknown if nothing arrives, as in the shortest runs of `--quick`."""
    return one / other if other > 0.0 else math.nan


def geometric(ratios: Sequence[float]) -> Estimate:
    """Their geometric mean, with Student's interval of the logarithms."""
    logs = Sample(tuple(math.log(max(each, 1e-3)) for each in ratios), tuple(range(len(ratios)))).estimate

    def bounds(confidence: float) -> tuple[float, float] | None:
        found = logs.bounds(confidence)
        return None if found is None else (math.exp(found[0]), math.exp(found[1]))

    return Estimate(math.exp(logs.value), bounds, "", "networks, paired")


def one(value: float) -> Estimate:
    """A single number as an estimate; its interval has no width."""
    return Estimate(value, lambda _: (value, value), "", "one network")


def quantile(cells: Cells, share: float, since_s: float) -> Sample:
    """Quantile of the smoothed round trip after `since_s`: mean over the flows, in ms, run by run."""
    import polars as pl

    known = cells.series().filter((pl.col("time_s") > since_s) & pl.col("srtt_s").is_not_null())
    each = known.group_by("seed", "flow", maintain_order=True).agg(pl.col("srtt_s").quantile(share))
    found = dict(each.group_by("seed").agg(pl.col("srtt_s").mean()).iter_rows())
    return cells.measure(lambda run: 1e3 * found.get(run.seed, math.nan), "ms")
