"""Bandwidth and round trip as the link layers estimate them, over time, without and with cross traffic.

The estimates should follow the available capacity of the path; queueing should lower the bandwidth and not affect the
delay.
"""

from dataclasses import replace

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, about, above, below, every, series, table

from ._common import AFTER, ALONE, ASSUMED, BOTH, C3, CROSSED, LABELS, PAPER, compared, figure5

study = Study("Bandwidth and delay estimated at the link", source=f"{PAPER}, figure 6", assumed=[*ASSUMED])


@study.sweep
def estimates(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), "standard", *C3), runs=20)


WHEN = {"alone": ALONE, "with UDP": CROSSED, "alone again": AFTER}


def mean(data: Data, name: str, column: str, when: tuple[float, float]) -> Sample:
    """A column of the time series, in s or bit/s, between two times."""
    return data.estimates.over_time(column, "tcp", *when, variant=name)


@study.chart
def bandwidth(data: Data) -> Chart:
    """Bandwidth of the path, one run; UDP from 15 to 30 s."""
    cells = data.estimates.where(variant="c3")
    return series(cells, "c3_bandwidth_bps", by="variant", flows={"tcp": ""}, labels=LABELS)


@study.chart
def delay(data: Data) -> Chart:
    """Forward delay without queueing plus backward delay, one run: measured by the links, and the true value."""
    cells = data.estimates.where(variant="c3")
    shown = {"c3_delay_s": "estimated", "c3_true_delay_s": "true", "srtt_s": "TCP's smoothed round trip"}
    drawn = (replace(series(cells, column, flows={"tcp": ""}).lines[0], label=label) for column, label in shown.items())
    return Chart("series", tuple(drawn), "time (s)", "round trip (ms)")


@study.chart
def numbers(data: Data) -> Chart:
    """Means over time and runs: bandwidth in Mbit/s, delays in ms, the window in segments."""
    shown = {
        "c3_bandwidth_bps": 1e-6,
        "c3_delay_s": 1e3,
        "c3_true_delay_s": 1e3,
        "srtt_s": 1e3,
        "c3_window_bytes": 1 / 1460,
    }
    rows = [
        (LABELS[name], words, *(scale * mean(data, name, column, when).mean for column, scale in shown.items()))
        for name in C3
        for words, when in WHEN.items()
    ]
    return table(
        ["variant", "when", "bandwidth", "estimated delay", "true delay", "smoothed round trip", "window"], rows
    )


@study.check_each(
    BOTH,
    "{}: the estimated bandwidth falls when cross traffic comes, and returns",
    paper="it follows the available capacity",
    assumed="with UDP below 80 % of the value without, and within 15 % of that value afterwards; partly: it falls by "
    "any amount",
)
def follows(data: Data, name: str) -> Claim:
    alone, crossed, after = (mean(data, name, "c3_bandwidth_bps", when) for when in WHEN.values())
    claims = {"with UDP": below(crossed / alone, 0.8), "after": about(after / alone, 1.0)}
    return every(claims).or_partly(below(crossed / alone, 1.0))


@study.check_each(
    BOTH,
    "{}: the estimated delay contains no queueing",
    paper="queueing is not part of the estimate; access to the medium makes it vary",
    assumed="within 15 % of the true delay without queueing, alone and with UDP; partly: below standard TCP's "
    "round trip",
)
def no_queueing(data: Data, name: str) -> Claim:
    strict, weaker = {}, {}
    for words, when in list(WHEN.items())[:2]:
        estimated = mean(data, name, "c3_delay_s", when)
        strict[words] = about(estimated / mean(data, name, "c3_true_delay_s", when), 1.0)
        weaker[words] = below(estimated / mean(data, "standard", "srtt_s", when), 1.0)
    return every(strict).or_partly(every(weaker))


@study.check(
    "The round trip of standard TCP is mostly queueing",
    paper="transport measurements include it",
    assumed="above twice the delay that C3TCP estimates, alone and with UDP; partly: above it",
)
def transport_includes(data: Data) -> Claim:
    ratios = {
        words: mean(data, "standard", "srtt_s", when) / mean(data, "c3", "c3_delay_s", when)
        for words, when in list(WHEN.items())[:2]
    }
    return every(above(ratios, 2.0)).or_partly(every(above(ratios, 1.0)))
