"""A sender walks along its route to the receiver and back: windows, thresholds and freezes over time.

The route has ten hops, one fewer for each relay that the sender passes, and ten again at the end. The paper shows one
run of ad hoc TCP and one of SACK.
"""

import math

import polars as pl

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, above, below, every, series, table

from ._common import ASSUMED, KINDS, PAPER, SCHEMES, walk

RUNS = 10
WALK_FROM, WALK_UNTIL = 5, 190
"""When the sender leaves and when it is back, in s."""

HOLDS = 3
"""W_max over ten hops, the longest path of the walk."""

study = Study(
    "A walk along the route: windows over time",
    source=f"{PAPER}, figure 8",
    assumed=[
        *ASSUMED,
        "The sender starts at the first of eleven places, walks from 5 s to 95 s, rests for 5 s and is back at 190 s.",
        f"The paper shows one run. Charts show one run as well; checks are over {RUNS} runs.",
    ],
)


@study.sweep
def way(profile: Profile) -> Sweep:
    return Sweep(walk(profile, sample_every="100ms"), {"transport": SCHEMES}, runs=RUNS)


def _over_time(data: Data, kind: str, quantities: dict[str, str], y_max: float | None = None) -> Chart:
    from dataclasses import replace

    lines = []
    for column, label in quantities.items():
        chart = series(data.way.where(transport=kind), column)
        lines += [replace(each, label=label) for each in chart.lines]
    return Chart("series", tuple(lines), "time (s)", "segments", y_max=y_max)


ADHOC = {"adwin_segments": "advertised window", "ssthresh_segments": "ssthresh"}
OF_ADHOC = {"flow-1": KINDS["adhoc-tcp"]}


@study.chart
def adhoc(data: Data) -> Chart:
    """Ad hoc TCP, one run: advertised window (0: frozen) and slow-start threshold; larger before the first data."""
    return _over_time(data, "adhoc-tcp", ADHOC, y_max=8.0)


@study.chart
def frozen(data: Data) -> Chart:
    """The same run: what froze the sender (1 closed window, 2 window below the data in flight, 3 time-out)."""
    return series(data.way.where(transport="adhoc-tcp"), "frozen", flows=OF_ADHOC, y_label="frozen by")


@study.chart
def hops(data: Data) -> Chart:
    """The same run: hops of the newest segment, derived by the receiver from its time to live."""
    return series(data.way.where(transport="adhoc-tcp"), "hops", flows=OF_ADHOC, y_label="hops")


@study.chart
def sack(data: Data) -> Chart:
    """SACK, one run: congestion window and slow-start threshold."""
    return _over_time(data, "sack", {"cwnd_segments": "congestion window", "ssthresh_segments": "ssthresh"})


@study.chart
def events(data: Data) -> Chart:
    """Number of events, means over the runs."""
    last = ("zwas", "freezes_closed", "freezes_provisional", "freezes_timeout", "probes", "hop_changes")
    rows = []
    for kind in SCHEMES:
        cells = data.way.where(transport=kind)
        found = [cells.column(name) for name in ("timeouts", "fast_retransmits")]
        rows.append((KINDS[kind], *found, *(_final(data, kind, name) for name in last)))
    return table(["kind", "time-outs", "fast retransmits", "ZWAs", "frozen by ZWA", "provisionally",
                  "by time-out", "probes", "changes of hops"], rows)  # fmt: skip


def _final(data: Data, kind: str, column: str) -> str:
    """Mean over the runs of the final value of a count; empty for flows without one."""
    mean = _most(data, kind, column).mean
    return "" if math.isnan(mean) else f"{mean:.1f}"


def _most(data: Data, kind: str, column: str) -> Sample:
    return data.way.over_time(column, "flow-1", 0.0, math.inf, lambda each: each.max(), transport=kind)


@study.check(
    "Ad hoc TCP has fewer time-outs than SACK",
    paper="fewer",
    assumed="partly: with the receiver alone or with both ends",
)
def timeouts(data: Data) -> Claim:
    sack = data.way.column("timeouts", transport="sack")
    full = below(data.way.column("timeouts", transport="adhoc-tcp") - sack, 0.0)
    receiver = below(data.way.column("timeouts", transport="adhoc-receiver") - sack, 0.0)
    return full.or_partly(receiver)


@study.check("Ad hoc TCP has fewer fast retransmits than SACK", paper="fewer")
def fast_retransmits(data: Data) -> Claim:
    both = [data.way.column("fast_retransmits", transport=name) for name in ("adhoc-tcp", "sack")]
    return below(both[0] - both[1], 0.0)


@study.check(
    "The delimiter limits the window where SACK's grows",
    paper="adwin controlled; SACK almost always limited by its congestion window",
    assumed="means over the walk: at most 3 segments advertised, and SACK's congestion window larger",
)
def window(data: Data) -> Claim:
    held = data.way.over_time("adwin_segments", "flow-1", 5, 190, transport="adhoc-tcp")
    grown = data.way.over_time("cwnd_segments", "flow-1", 5, 190, transport="sack")
    return every({"advertised": below(held, 3.0), "SACK": above(grown - held, 0.0)})


@study.check(
    "The slow-start threshold stays within what the path can hold; SACK's does not",
    paper="ad hoc TCP updates ssthresh occasionally; SACK's is not sensible",
    assumed=f"from the first loss on it is between 2 and {HOLDS} segments at least 95 % of the time with ad hoc TCP, "
    "and less often with SACK; partly: with ad hoc TCP",
)
def threshold(data: Data) -> Claim:
    sensible, other = (_sensible(data, kind) for kind in ("adhoc-tcp", "sack"))
    held = above(sensible, 0.95)
    return every({"ad hoc TCP": held, "SACK": below(other - sensible, 0.0)}).or_partly(held)


def _sensible(data: Data, kind: str) -> Sample:
    """Share of the walk during which the path can hold the threshold, after its initial value."""
    column, first = "ssthresh_segments", 64.0

    def part(each: pl.Expr) -> pl.Expr:
        lost = each.filter(each < first)
        return lost.is_between(2.0, float(HOLDS)).mean()

    return data.way.over_time(column, "flow-1", WALK_FROM, WALK_UNTIL, part, transport=kind)


@study.check(
    "The receiver sends zero-window advertisements", paper="occasional", assumed="at least one per run on average"
)
def closed(data: Data) -> Claim:
    return above(_most(data, "adhoc-tcp", "zwas"), 1.0)
