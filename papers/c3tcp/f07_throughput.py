"""Throughput over time of C3TCP and of standard TCP, with UDP from 15 to 30 s.

In the paper C3TCP is steady throughout, and standard TCP enlarges its window until it congests the path.
"""

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Sample,
    Study,
    about,
    above,
    below,
    curves,
    every,
    peak,
    table_by,
)
from fourhop.study.flows import goodput_between

from ._common import (
    ASSUMED,
    BOTH,
    C3,
    CROSSED,
    FIXED,
    GOODPUTS,
    LABELS,
    OVER_STANDARD,
    PAPER,
    SWINGS,
    WHOLE,
    compared,
    figure5,
    over_time,
    over_windows,
    rate,
    string,
    swings,
    windows,
)

RATES = (100, 200, 400, 600, 800)
"""Rates of each of the two UDP flows in kbit/s, to show the effect of this choice."""

ROUTING = {"static": "static routes", "aodv": "AODV"}

study = Study("Throughput against standard TCP", source=f"{PAPER}, figure 7", assumed=[*ASSUMED])


@study.sweep
def against(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), "standard", *C3), runs=20)


@study.sweep
def rates(profile: Profile) -> Sweep:
    variants = {}
    for load in RATES:
        for routing in ROUTING:
            base = string(profile, udp=f"{load}kbps", duration="45s", warmup="3s", sample_every="1s")
            for name, scenario in compared(base.with_(**{"routing.protocol": routing}), "standard", "c3").items():
                variants[f"{name} {load} {routing}"] = scenario
    return Sweep(variants=variants, runs=5)


@study.chart
def gain_over_rates(data: Data) -> Chart:
    """How much more goodput C3TCP has than standard TCP from 16 to 30 s, by the rate of UDP."""
    gains = {
        label: {
            load: rate(data.rates, f"c3 {load} {routing}", CROSSED)
            / rate(data.rates, f"standard {load} {routing}", CROSSED)
            for load in RATES
        }
        for routing, label in ROUTING.items()
    }
    return curves(gains, "each of two UDP flows (kbit/s)", "gain over standard TCP (%)")


study.sweep(windows)
study.chart(over_windows)
study.chart(over_time)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s and its coefficient of variation over steps of 250 ms. Intervals over runs."""
    columns = {**GOODPUTS, "variation": lambda cells: unsteadiness(cells, WHOLE)}
    return table_by(data.against, "variant", columns, {name: LABELS[name] for name in ("standard", *C3)})


def unsteadiness(cells: Cells, when: tuple[float, float]) -> Sample:
    """Standard deviation over mean of the goodputs of single steps, in each run."""
    return cells.over_time("goodput_bps", "tcp", *when, of=lambda goodput: goodput.std() / goodput.mean())


@study.check_each(
    BOTH,
    "{} carries about 27 % more than standard TCP",
    main=True,
    paper="around 27 %",
    assumed="over the whole run, within 15 % of the ratio; partly: more by any amount",
    because="no_window",
)
def gains(data: Data, name: str) -> Claim:
    gain = rate(data.against, name, WHOLE) / rate(data.against, "standard", WHOLE)
    return about(gain, OVER_STANDARD).or_partly(above(gain, 1.0))


@study.check_each(
    BOTH,
    "With UDP, {} carries more than standard TCP",
    paper="standard TCP congests the path in this time",
    assumed="from 16 to 30 s: at least 10 % more; partly: more by any amount",
    because="no_window",
)
def gains_beside_udp(data: Data, name: str) -> Claim:
    gain = rate(data.against, name, CROSSED) / rate(data.against, "standard", CROSSED)
    return above(gain, 1.1).or_partly(above(gain, 1.0))


@study.cause(
    "no window gains that much here: fixed windows of 1 to 20 segments are less than 10 % ahead of standard TCP, "
    "over the whole run and with UDP"
)
def no_window(data: Data) -> Claim:
    best = {
        words: peak([goodput_between(data.windows.where(limit=window), "tcp", when) / standard for window in FIXED])
        for words, when in {"whole run": WHOLE, "with UDP": CROSSED}.items()
        for standard in [rate(data.against, "standard", when)]
    }
    return every(below(best, 1.1))


@study.check_each(
    BOTH,
    "{} is steadier than standard TCP",
    main=True,
    paper="steady in all phases",
    assumed="coefficient of variation of the goodput over steps of 250 ms while UDP is on: at most half; partly: less",
    because="window_swings",
)
def steadier(data: Data, name: str) -> Claim:
    ours, theirs = (unsteadiness(data.against.where(variant=each), CROSSED) for each in (name, "standard"))
    less = ours / theirs
    return below(less, 0.5).or_partly(below(less, 1.0))


@study.cause(SWINGS)
def window_swings(data: Data) -> Claim:
    return every(swings(data.against))
