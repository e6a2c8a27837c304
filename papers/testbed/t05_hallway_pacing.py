"""Rate-based pacing against Reno in the hallway: fading, noise, sums of interference, AODV.

The ideal radio promises a gain (`f07_ideal_pacing`); the laptops had none. The radio was fitted to the column of Reno
(`f00_fit`); that of RBP is predicted.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Estimate, Profile, Study, about, below, every, most, percent, table

from ._common import ASSUMED, HOPS, PACED, PAPER, RENO, hallway, throughput, throughputs

RBP = {1: 4210.0, 2: 2130.0, 3: 1310.0, 4: 1080.0}
"""Table 5, in kbit/s."""

TICKS = (
    "here pacing changes next to nothing: an interval of RTT / (cwnd + 1) is a little shorter than the spacing that "
    "acknowledgements give anyway. In the paper it loses 10 % even over one hop, where there is no contention. Its "
    "pacing ran in a Linux 2.4 kernel, whose timers tick every 10 ms: intervals of a few milliseconds were rounded "
    "up. We have not tried that"
)

study = Study(
    "RBP against Reno in the hallway",
    source=f"{PAPER}, table 5",
    profiles=("standard",),
    assumed=[*ASSUMED, "Pacing uses the smoothed round trip of the retransmission timer."],
)


@study.sweep
def tests(profile: Profile) -> Sweep:
    made = {f"{name}, {hops} hops": hallway(profile, hops, name) for name in PACED for hops in HOPS}
    return Sweep(variants=made, runs=10)


def gain(data: Data, hops: int) -> Estimate:
    return throughput(data, "rbp-reno", hops) / throughput(data, "reno", hops)


@study.chart
def over_hops(data: Data) -> Chart:
    """Throughput of both. Whiskers: 95 % intervals over the runs."""
    return throughputs(data, PACED, HOPS)


@study.chart
def table_5(data: Data) -> Chart:
    """Throughput in kbit/s, and the effect of pacing."""
    rows = [
        (
            n,
            RENO[n],
            throughput(data, "reno", n),
            RBP[n],
            throughput(data, "rbp-reno", n),
            f"{percent(RBP[n] / RENO[n])} %",
            gain(data, n),
        )
        for n in HOPS
    ]
    return table(["hops", "Reno, paper", "Reno", "RBP, paper", "RBP", "gain, paper", "gain"], rows)


@study.check(
    "Pacing has no advantage",
    main=True,
    paper="none: 4.21 / 4.69, 2.13 / 2.22, 1.31 / 1.44, 1.08 / 1.24 Mbit/s",
    assumed="at no length a gain of 5 % or more; partly: at three of four lengths",
)
def no_advantage(data: Data) -> Claim:
    claims = below({f"{n} hops": gain(data, n) for n in HOPS}, 1.05)
    return every(claims).or_partly(most(claims))


@study.check(
    "Pacing loses 4 to 13 %",
    paper="10, 4, 9 and 13 %",
    assumed="each ratio within 5 percentage points of the paper's; partly: RBP behind at every length",
    why=TICKS,
)
def loses(data: Data) -> Claim:
    ratios = {n: gain(data, n) for n in HOPS}
    as_there = {f"{n} hops": about(ratios[n], RBP[n] / RENO[n], 0.05 * RENO[n] / RBP[n]) for n in HOPS}
    return every(as_there).or_partly(every({f"{n} hops": below(ratios[n], 1.0) for n in HOPS}))


@study.check(
    "RBP has the paper's throughput",
    paper="4.21, 2.13, 1.31 and 1.08 Mbit/s",
    assumed="predicted: each within 15 %; partly: three of four",
    why=TICKS,
)
def as_in_the_paper(data: Data) -> Claim:
    claims = {f"{n} hops": about(throughput(data, "rbp-reno", n), RBP[n], 0.15) for n in HOPS}
    return every(claims).or_partly(most(claims))
