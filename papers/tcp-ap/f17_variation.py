"""Variation of the round trips of two TCP-AP flows on parallel chains over time.

TCP-AP detects contention by this variation before anything is lost. In the paper it is between zero and one, in the
same range for both flows, from which the paper concludes that both see the same channel and therefore pace alike.
"""

import math
from collections.abc import Callable
from functools import partial

import polars as pl

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    above,
    below,
    between,
    every,
    run_by_run,
    series,
    table_by,
)  # fmt: skip

from ._common import ASSUMED, LABELS, PAPER, PARALLEL_HOPS, STILL, compared, parallel

VARIANTS = ("ap", "ap-code")
STILL_AP = "ap-still"
NAMES = {**LABELS, STILL_AP: "TCP-AP, routes that never break"}
FLOWS = {"flow-1": "FTP 1", "flow-2": "FTP 2"}
SETTLED_S = 100.0
END_S = 300.0
PARTS_S = ((5.0, 20.0), (20.0, 100.0), (100.0, 200.0), (200.0, END_S))

study = Study(
    "Variation of the round trips on symmetric parallel chains",
    source=f"{PAPER}, figure 17",
    assumed=[
        *ASSUMED,
        f"Chains of {PARALLEL_HOPS} hops; the checks use the time from {SETTLED_S:g} s to {END_S:g} s, sampled every "
        "100 ms.",
        "Settling takes that long because a flow whose first segments waited for a route paces so slowly that fifty "
        "round trips take a minute.",
        "The authors' code takes the mean absolute deviation of the four-hop delays instead: about 0.8 times as much.",
    ],
)


@study.sweep
def chains(profile: Profile) -> Sweep:
    base = parallel(profile, duration=f"{END_S:g}s", sample_every="100ms")
    variants = compared(base, *VARIANTS)
    return Sweep(variants={**variants, STILL_AP: variants["ap"].with_(**STILL)}, runs=20)


@study.chart
def paper(data: Data) -> Chart:
    """Coefficient of variation of the last 50 round trips, one run."""
    return series(data.chains.where(variant="ap"), "variation", flows=FLOWS, y_label="coefficient of variation")


@study.chart
def code(data: Data) -> Chart:
    """The same with the authors' code: ratio of mean absolute deviation to mean of the last 50 delays."""
    return series(data.chains.where(variant="ap-code"), "variation", flows=FLOWS, y_label="variation")


@study.chart
def still(data: Data) -> Chart:
    """The paper's formula over routes that never break, one run: no round trip includes the search for a route."""
    return series(data.chains.where(variant=STILL_AP), "variation", flows=FLOWS, y_label="coefficient of variation")


@study.chart
def settling(data: Data) -> Chart:
    """Mean of the variation of both flows in successive parts of the run: how long it takes to settle."""
    columns = {f"{start:g} to {end:g} s": partial(_both, when=(start, end)) for start, end in PARTS_S}
    return table_by(
        data.chains, "variant", columns, {name: NAMES[name] for name in (*VARIANTS, STILL_AP)}, heading="transport"
    )


@study.check(
    "The variation of both flows stays between zero and one",
    paper="between zero and one",
    assumed="the largest value of a run, mean over the runs; partly: the mean over time is below one half",
    because="outliers_wait_for_routes",
)
def below_one(data: Data) -> Claim:
    return _below_one(data, "ap")


@study.check(
    "With the authors' code, too, the variation stays between zero and one",
    paper="between zero and one",
    assumed="as above",
)
def code_below_one(data: Data) -> Claim:
    return _below_one(data, "ap-code")


@study.cause(
    "segments that waited for a route are the outliers: over routes that never break the variation stays below one"
)
def outliers_wait_for_routes(data: Data) -> Claim:
    return _below_one(data, STILL_AP)


@study.check(
    "The variation is not constant",
    paper="it fluctuates",
    assumed="largest and smallest of a run differ by 0.2 or more",
)
def moves(data: Data) -> Claim:
    spread = {
        f"{LABELS[variant]}, {shown}": _each(data.chains, flow, variant, pl.Expr.max)
        - _each(data.chains, flow, variant, pl.Expr.min)
        for variant in VARIANTS
        for flow, shown in FLOWS.items()
    }
    return every(above(spread, 0.2))


@study.check(
    "Both flows vary alike",
    paper="within the same range",
    assumed="ratio of the means over time between 0.8 and 1.25; partly: between 0.67 and 1.5",
    because="outliers_decide_the_mean",
)
def alike(data: Data) -> Claim:
    return _alike(data, *VARIANTS)


@study.cause("a few such outliers decide the mean: over routes that never break both flows vary alike")
def outliers_decide_the_mean(data: Data) -> Claim:
    return _alike(data, STILL_AP)


def _alike(data: Data, *variants: str) -> Claim:
    ratio = {NAMES[v]: _mean(data.chains, "flow-1", v) / _mean(data.chains, "flow-2", v) for v in variants}
    return every(between(ratio, 0.8, 1.25)).or_partly(every(between(ratio, 0.67, 1.5)))


def _both(cells: Cells, when: tuple[float, float]) -> Sample:
    """Mean of the two flows' variation between two times, in each run."""
    return run_by_run(lambda x, y: (x + y) / 2.0, *(cells.over_time("variation", flow, *when) for flow in FLOWS))


def _below_one(data: Data, variant: str) -> Claim:
    largest = {shown: _each(data.chains, flow, variant, pl.Expr.max) for flow, shown in FLOWS.items()}
    mean = {shown: _mean(data.chains, flow, variant) for flow, shown in FLOWS.items()}
    return every(below(largest, 1.0)).or_partly(every(below(mean, 0.5)))


def _mean(cells: Cells, flow: str, variant: str) -> Sample:
    return cells.over_time("variation", flow, SETTLED_S, END_S, variant=variant)


def _each(cells: Cells, flow: str, variant: str, of: Callable[[pl.Expr], pl.Expr]) -> Sample:
    """The value of `of` for the variation in each run."""
    return cells.over_time("variation", flow, SETTLED_S, math.inf, of, variant=variant)
