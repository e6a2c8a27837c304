"""Throughput of C3TCP, and of Vegas and Westwood, which measure at the transport layer what C3TCP measures at links.

In the paper all of them are alike while the flow is alone; with cross traffic the other two drop to zero at times.
"""

import math
from functools import partial

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Sample, Study, peak, table_by
from fourhop.study.claims import about, above, below, between, every, most
from fourhop.study.flows import goodput_between

from ._common import (
    ALONE,
    ASSUMED,
    BOTH,
    CROSSED,
    FIXED,
    GOODPUTS,
    LABELS,
    OVER_THE_OTHERS,
    PAPER,
    WHOLE,
    compared,
    figure5,
    over_time,
    over_windows,
    rate,
    silence,
    windows,
)

SMALL = (3, 4)
"""Fixed windows as small as those of C3TCP and Vegas on this network, in segments."""

study = Study(
    "Throughput against Vegas and Westwood",
    source=f"{PAPER}, figure 8",
    assumed=[*ASSUMED, "Westwood is Westwood+; Vegas and Westwood use the receivers of standard TCP."],
)


@study.sweep
def against(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), *LABELS), runs=20)


study.sweep(windows)
study.chart(over_windows)
study.chart(over_time)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s, share of 250 ms steps with UDP in which nothing arrived, congestion windows in segments."""
    congestion = {f"window {words}": partial(window, when=when) for words, when in TIMES.items()}
    return table_by(data.against, "variant", {**GOODPUTS, "silent with UDP": silence, **congestion}, LABELS)


TIMES = {"alone": ALONE, "with UDP": CROSSED}


def window(cells: Cells, when: tuple[float, float]) -> Sample:
    """Mean window in segments: C3TCP's if the flow has one, otherwise TCP's own."""
    window = cells.over_time("c3_window_bytes", "tcp", *when, of=lambda window: window.mean() / 1460)
    return cells.over_time("cwnd_segments", "tcp", *when) if any(map(math.isnan, window.values)) else window


@study.check_each(
    BOTH,
    "{}, Vegas and Westwood are alike while the flow is alone",
    paper="less than 2 % apart",
    assumed="from 3 to 15 s; partly: less than 5 %",
    because=("as_fixed_windows", "large_windows"),
)
def alike(data: Data, name: str) -> Claim:
    ours = rate(data.against, name, ALONE)
    gains = {LABELS[other]: ours / rate(data.against, other, ALONE) for other in OVER_THE_OTHERS}
    return every(between(gains, 0.98, 1.02)).or_partly(every(between(gains, 0.95, 1.05)))


@study.check_each(
    BOTH,
    "{} is ahead of Westwood by about 18 % and of Vegas by about 7 %",
    paper="around 18 % and 7 %",
    assumed="over the whole run, within 5 % of the ratio; partly: ahead of both",
    because=("windows_matter_little", "as_fixed_windows"),
)
def ahead(data: Data, name: str) -> Claim:
    gains = {other: rate(data.against, name, WHOLE) / rate(data.against, other, WHOLE) for other in OVER_THE_OTHERS}
    claims = {LABELS[other]: about(gain, OVER_THE_OTHERS[other], 0.05) for other, gain in gains.items()}
    return every(claims).or_partly(every({LABELS[other]: above(gain, 1.0) for other, gain in gains.items()}))


@study.check(
    "With UDP, Vegas and Westwood drop to zero at times, and C3TCP does not",
    paper="both drop to zero periodically",
    assumed="nothing arrives in at least 2 % of the steps of 250 ms, and in fewer steps of C3TCP; partly: one of the "
    "two does",
    because="small_windows",
)
def silent(data: Data) -> Claim:
    silent = {name: silence(cells) for name, cells in data.against.by("variant").items()}
    claims = above({LABELS[other]: silent[other] for other in OVER_THE_OTHERS}, 0.02)
    more = above({LABELS[other]: silent[other] - silent["c3"] for other in OVER_THE_OTHERS}, 0.0)
    strict = every({**claims, **{f"more than C3TCP: {label}": claim for label, claim in more.items()}})
    return strict.or_partly(most(more, 0.5))


def fixed(data: Data, window: int, when: tuple[float, float]) -> Sample:
    """Goodput with a fixed window between two times."""
    return goodput_between(data.windows.where(limit=window), "tcp", when)


@study.cause("alone, C3TCP and Vegas carry what fixed windows of 3 and 4 segments carry, within 5 %")
def as_fixed_windows(data: Data) -> Claim:
    goodputs = {
        f"{window} segments against {LABELS[name]}": fixed(data, window, ALONE) / rate(data.against, name, ALONE)
        for window in SMALL
        for name in ("c3", "vegas")
    }
    return every(about(goodputs, 1.0, 0.05))


@study.cause("a large window, like Westwood's, carries more alone than one of 4 segments: one of 20 segments does")
def large_windows(data: Data) -> Claim:
    return above(fixed(data, 20, ALONE) / fixed(data, 4, ALONE), 1.0)


@study.cause("no window gains that much here: over the whole run those of 2 to 20 segments are less than 10 % apart")
def windows_matter_little(data: Data) -> Claim:
    goodputs = [fixed(data, window, WHOLE) for window in FIXED if window > 1]
    return below(peak([one / other for one in goodputs for other in goodputs if one is not other]), 1.1)


@study.cause(
    "a flow with a window as small as those of Vegas and C3TCP is not silent: with 3 and 4 segments, below 2 %"
)
def small_windows(data: Data) -> Claim:
    shares = {f"{window} segments": silence(data.windows.where(limit=window)) for window in SMALL}
    return every(below(shares, 0.02))
