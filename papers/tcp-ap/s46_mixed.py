"""A TCP-AP flow on a chain that crosses a NewReno flow's, compared with two NewReno flows.

The paper expects NewReno to take most of the bandwidth from TCP-AP, as it does from any transport that reduces its rate
before a loss, and from another NewReno flow.
"""

import math
from functools import partial

from fourhop import Scenario, Sweep
from fourhop.study import STEADY, Cells, Chart, Claim, Data, Profile, Sample, Study, about, above, between, table_by

from ._common import ASSUMED, BOTH, PAPER, cross, variant

FIRST = {"ap": "TCP-AP", "ap-code": "TCP-AP, authors' code", "newreno": "NewReno"}
PIECE_S = 30.0
"""Longer than one flow usually holds the channel; shorter than many changes."""

study = Study(
    "TCP-AP against NewReno",
    source=f"{PAPER}, section 4.6",
    assumed=[
        *ASSUMED,
        "The cross of figure 1, on which figure 11 shows two NewReno flows; the flow that is compared starts first.",
        "Eight runs of 55,000 packets: which of two equal flows is ahead may differ from run to run.",
    ],
)


def mixed(profile: Profile, name: str) -> Scenario:
    flows = [
        {"from": 0, "to": 4, "transport": "newreno", "start": "1s"},
        {"from": 5, "to": 8, "transport": "newreno", "start": "1.1s"},
    ]
    return variant(cross(profile, flows=flows, sample_every=f"{PIECE_S:g}s", **STEADY), name, 0)


@study.sweep
def pair(profile: Profile) -> Sweep:
    return Sweep(variants={name: mixed(profile, name) for name in FIRST}, runs=8)


def newreno_part(data: Data, name: str) -> Sample:
    """Share of the NewReno flow, the second one, in each run."""
    return data.pair.measure(
        lambda run: run.flows["flow-2"]["goodput_bps"] / run.columns["aggregate_goodput_bps"], variant=name
    )


def larger_part(cells: Cells) -> Sample:
    """Share of the leading flow over intervals of half a minute: the mean in each run."""
    import polars as pl

    bits = pl.col("goodput_bps")
    pieces = cells.series().group_by("seed", "time_s").agg(part=bits.max() / bits.sum())
    pieces = pieces.filter(pl.col("part").is_not_nan())  # pieces in which something arrived
    parts = {row["seed"]: row["part"] for row in pieces.group_by("seed").agg(pl.col("part").mean()).to_dicts()}
    return cells.measure(lambda run: parts.get(run.seed, math.nan))


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput in kbit/s of a first flow that competes with a second flow of NewReno. Intervals over the runs."""
    columns = {
        "first flow": partial(Cells.goodput, flow="flow-1"),
        "NewReno": partial(Cells.goodput, flow="flow-2"),
        "together": "goodput",
        "Jain's index": "fairness",
        f"larger share over {PIECE_S:g} s": larger_part,
    }
    return table_by(
        data.pair, "variant", columns, {name: f"{label} with NewReno" for name, label in FIRST.items()}, heading=""
    )


@study.cause("it takes about two thirds: the share lies within a tenth of that")
def about_two_thirds(data: Data) -> Claim:
    return about(newreno_part(data, "ap-code"), 2.0 / 3.0, within=0.1)


@study.check_each(
    BOTH,
    "NewReno takes most of the bandwidth from {}",
    paper="most of the available bandwidth",
    assumed="at least two thirds; partly: more than half",
    because="about_two_thirds",
)
def takes_most(data: Data, name: str) -> Claim:
    part = newreno_part(data, name)
    return above(part, 2.0 / 3.0).or_partly(above(part, 0.5))


@study.check(
    "One of two NewReno flows also takes most of the bandwidth",
    paper="typical of NewReno, even against NewReno",
    assumed="the larger share over pieces of 30 s is at least two thirds; partly: 60 %",
    why={"standard": "flows hold the middle node for shorter times where routes do not break by mistake"},
)
def one_of_two_takes_most(data: Data) -> Claim:
    part = larger_part(data.pair.where(variant="newreno"))
    return above(part, 2.0 / 3.0).or_partly(above(part, 0.6))


@study.check(
    "Over a long time two NewReno flows have equal shares",
    paper="not in the paper, which shows 30 s",
    assumed="our own: the second has 45 to 55 % of the whole run",
    why="the flow that is ahead changes from run to run, and the interval over eight runs includes a bound",
)
def equal_in_the_end(data: Data) -> Claim:
    return between(newreno_part(data, "newreno"), 0.45, 0.55)
