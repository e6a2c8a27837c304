"""A mobile host walks from one gateway to another while its connection continues.

A gateway learns about a connection only from the packets that pass; no state is handed over. The paper says so without
a figure. Here the host stands for 30 s where it hears only the first gateway, walks along the chain for 80 s, and then
stands where it hears only the second one, downloading or uploading all the time.
"""

import math

import polars as pl

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Sample,
    Study,
    about,
    above,
    below,
    every,
    series,
)
from fourhop.study.flows import goodput_between

from ._common import ARRIVES_S, ASSUMED, LABELS, LEAVES_S, PAPER, Direction, compared, two_gateways

SEEDS = 5
END_S = 150.0
BEFORE = (10.0, LEAVES_S)
AFTER = (ARRIVES_S + 10.0, END_S)
STEP_S = 0.5

study = Study(
    "Handover between two gateways",
    source=f"{PAPER}, section 4.5",
    assumed=[
        *ASSUMED[:1],
        "The paper has no figure. Ours: five nodes 200 m apart with a gateway at either end, a host that walks at a "
        "distance of 150 m at 12.5 m/s, a router that connects both gateways to the host, wired links of 10 Mbit/s "
        "and 40 ms.",
        "The handover is done by routing: AODV searches when a route breaks, not when another gateway has come nearer.",
    ],
)


@study.sweep_each({"down": "down", "up": "up"})
def walks(profile: Profile, direction: Direction) -> Sweep:
    base = two_gateways(profile, direction, duration=f"{END_S:g}s", warmup="10s", sample_every=f"{STEP_S:g}s")
    return Sweep(variants=compared(base, "newreno", "gap-gc"), runs=SEEDS)


@study.chart_each(
    {
        "download": (
            "down",
            "Goodput of the download over time, mean over the runs; the host walks from 30 s to 110 s.",
        ),
        "upload": ("up", "The same for the upload."),
    }
)
def over_time(data: Data, way: str) -> Chart:
    return series(data[way], "goodput_bps", by="variant", labels=LABELS)


@study.chart
def paces(data: Data) -> Chart:
    """The download: time between packets that adaptive pacing asks for, at the gateway that the flow crosses."""
    return series(data.down.where(variant="gap-gc"), "gateway_interval_s", y_label="interval (s)")


def both(data: Data) -> dict[str, Cells]:
    """TCP-GAP in both directions."""
    return {"download": data.down.where(variant="gap-gc"), "upload": data.up.where(variant="gap-gc")}


def kept(cells: Cells) -> Estimate:
    """Ratio of goodput near the second gateway to that near the first."""
    return goodput_between(cells, "ftp", AFTER) / goodput_between(cells, "ftp", BEFORE)


def silence(cells: Cells) -> Sample:
    """Longest time without any goodput from the first packet on, in s; one value per run."""
    found: dict[int, float] = {}
    for seed, rows in cells.series().filter(pl.col("time_s") > BEFORE[0]).group_by("seed"):
        longest = now = 0.0
        for rate in rows.sort("time_s")["goodput_bps"]:
            now = now + STEP_S if rate == 0.0 else 0.0
            longest = max(longest, now)
        found[int(seed[0])] = longest
    return cells.measure(lambda run: found.get(run.seed, math.nan))


@study.check(
    "The connection continues through the new gateway",
    paper="no state is exchanged; the new gateway builds its own from scratch",
    assumed="near the second gateway at least 80 % of the goodput near the first, download and upload; partly: half",
)
def goes_on(data: Data) -> Claim:
    ratio = {name: kept(cells) for name, cells in both(data).items()}
    return every(above(ratio, 0.8)).or_partly(every(above(ratio, 0.5)))


@study.check(
    "The new gateway learns the pace of the download by itself",
    paper="soft state is built up from scratch",
    assumed="near the second gateway it is paced for more than 95 % of the time, at intervals within 25 % of those "
    "near the first one, where the host has the same single hop; medians over time",
)
def learns(data: Data) -> Claim:
    cells = data.down.where(variant="gap-gc")
    paced = cells.over_time("gateway_interval_s", "ftp", *AFTER, lambda column: column.is_not_null().mean())
    first, second = (cells.over_time("gateway_interval_s", "ftp", *at, pl.Expr.median) for at in (BEFORE, AFTER))
    return every({"time with a pace": above(paced, 0.95), "interval": about(second / first, 1.0, within=0.25)})


@study.check(
    "No handover interrupts the connection for long",
    paper="times are not in the paper",
    assumed="our own: never 10 s without goodput, on average over the runs, download and upload",
)
def short_silence(data: Data) -> Claim:
    return every(below({name: silence(cells) for name, cells in both(data).items()}, 10.0))
