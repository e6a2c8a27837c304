"""Throughput of C3TCP, and of Vegas and Westwood, which measure at the transport layer what C3TCP measures at links.

In the paper all of them are alike while the flow is alone; with cross traffic the other two drop to zero at times.
"""

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Sample, Study, table_by
from fourhop.study.claims import about, above, between, every, most

from ._common import ALONE, ASSUMED, BOTH, CROSSED, GOODPUTS, LABELS, PAPER, WHOLE, compared, figure5, over_time, rate

OTHERS = {"westwood": 1.18, "vegas": 1.07}
"""The lead of C3TCP over them in the paper."""

study = Study(
    "Throughput against Vegas and Westwood",
    source=f"{PAPER}, figure 8",
    assumed=[*ASSUMED, "Westwood is Westwood+; Vegas and Westwood use the receivers of standard TCP."],
)


@study.sweep
def against(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), *LABELS), runs=20)


study.chart(over_time)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s, and the share of 250 ms steps with UDP in which nothing arrived. Intervals over runs."""
    return table_by(data.against, "variant", {**GOODPUTS, "silent with UDP": silence}, LABELS)


def silence(cells: Cells) -> Sample:
    """Share of the steps of 250 ms with UDP in which nothing arrived, in each run."""
    return cells.over_time("goodput_bps", "tcp", *CROSSED, of=lambda goodput: (goodput == 0).mean())


@study.check_each(
    BOTH,
    "{}, Vegas and Westwood are alike while the flow is alone",
    paper="less than 2 % apart",
    assumed="from 3 to 15 s; partly: less than 5 %",
    why="Westwood keeps a queue full where C3TCP, like Vegas, leaves the path idle at times",
)
def alike(data: Data, name: str) -> Claim:
    gains = {LABELS[other]: rate(data.against, name, ALONE) / rate(data.against, other, ALONE) for other in OTHERS}
    return every(between(gains, 0.98, 1.02)).or_partly(every(between(gains, 0.95, 1.05)))


@study.check_each(
    BOTH,
    "{} is ahead of Westwood by about 18 % and of Vegas by about 7 %",
    paper="around 18 % and 7 %",
    assumed="over the whole run, within 5 % of the ratio; partly: ahead of both",
    why="neither of the two loses as much here as in the paper: Vegas is never silent, and Westwood, like standard "
    "TCP, makes up for its silences",
)
def ahead(data: Data, name: str) -> Claim:
    gains = {other: rate(data.against, name, WHOLE) / rate(data.against, other, WHOLE) for other in OTHERS}
    claims = {LABELS[other]: about(gain, OTHERS[other], 0.05) for other, gain in gains.items()}
    return every(claims).or_partly(every({LABELS[other]: above(gain, 1.0) for other, gain in gains.items()}))


@study.check(
    "With UDP, Vegas and Westwood drop to zero at times, and C3TCP does not",
    paper="both drop to zero periodically",
    assumed="nothing arrives in at least 2 % of the steps of 250 ms, and in fewer steps of C3TCP; partly: one of the "
    "two does",
    why="Westwood does; Vegas keeps its window as small as C3TCP does and loses nothing",
)
def silent(data: Data) -> Claim:
    silent = {name: silence(cells) for name, cells in data.against.by("variant").items()}
    claims = above({LABELS[other]: silent[other] for other in OTHERS}, 0.02)
    more = above({LABELS[other]: silent[other] - silent["c3"] for other in OTHERS}, 0.0)
    strict = every({**claims, **{f"more than C3TCP: {label}": claim for label, claim in more.items()}})
    return strict.or_partly(most(more, 0.5))
