"""Throughput of C3TCP beside Vegas and Westwood, which measure at the transport what C3TCP measures at the link.

The paper has all of them alike while the flow is alone; with cross traffic the other two drop to zero at times.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, about, above, between, every, most, series, table

from ._common import AFTER, ALONE, ASSUMED, CROSSED, LABELS, PAPER, WHOLE, check_both, compared, figure5, rate

OTHERS = {"westwood": 1.18, "vegas": 1.07}
"""How far the paper has C3TCP ahead of them."""

study = Study(
    "Throughput against Vegas and Westwood",
    source=f"{PAPER}, figure 8",
    assumed=[*ASSUMED, "Westwood is Westwood+; Vegas and Westwood run on standard TCP's receivers."],
)


@study.sweep
def against(profile: Profile) -> Sweep:
    return Sweep(variants=compared(figure5(profile), *LABELS), runs=20)


@study.chart
def over_time(data: Data) -> Chart:
    """Goodput over steps of 250 ms, one run; UDP from 15 to 30 s."""
    return series(data.against, "goodput_bps", by="variant", flows={"tcp": ""}, labels=LABELS)


@study.chart
def numbers(data: Data) -> Chart:
    """Goodput in kbit/s, and how much of the time beside UDP nothing arrived for 250 ms. Intervals over runs."""
    times = {"whole run": WHOLE, "alone": ALONE, "beside UDP": CROSSED, "alone again": AFTER}
    rows = [
        (label, *(rate(data.against, name, when) for when in times.values()), silence(data, name))
        for name, label in LABELS.items()
    ]
    return table(["variant", *times, "silent beside UDP"], rows)


def silence(data: Data, name: str) -> Sample:
    """Part of the steps of 250 ms beside UDP in which nothing arrived, in each run."""
    import polars as pl

    rows = data.against.series(variant=name).filter(
        (pl.col("flow") == "tcp") & (pl.col("time_s") > CROSSED[0]) & (pl.col("time_s") <= CROSSED[1])
    )
    by_seed = rows.group_by("seed").agg(value=(pl.col("goodput_bps") == 0).cast(pl.Float64).mean())
    values = {row["seed"]: row["value"] for row in by_seed.to_dicts()}
    return data.against.measure(lambda run: values[run.seed], variant=name)


@check_both(
    study,
    "{}, Vegas and Westwood are alike while the flow is alone",
    paper="less than 2 % apart",
    assumed="from 3 to 15 s; partly: less than 5 %",
    why="Westwood keeps a queue full where C3TCP, like Vegas, leaves the path idle at times",
)
def alike(data: Data, name: str) -> Claim:
    gains = {LABELS[other]: rate(data.against, name, ALONE) / rate(data.against, other, ALONE) for other in OTHERS}
    strict = every({label: between(gain, 0.98, 1.02) for label, gain in gains.items()})
    return strict.or_partly(every({label: between(gain, 0.95, 1.05) for label, gain in gains.items()}))


@check_both(
    study,
    "{} is ahead of Westwood by about 18 % and of Vegas by about 7 %",
    paper="around 18 % and 7 %",
    assumed="over the whole run, give or take 5 % of the ratio; partly: ahead of both",
    why="neither of the two loses here what it loses in the paper: Vegas is never silent, and Westwood, like standard "
    "TCP, makes up for its silences",
)
def ahead(data: Data, name: str) -> Claim:
    gains = {other: rate(data.against, name, WHOLE) / rate(data.against, other, WHOLE) for other in OTHERS}
    claims = {LABELS[other]: about(gain, OTHERS[other], 0.05) for other, gain in gains.items()}
    return every(claims).or_partly(every({LABELS[other]: above(gain, 1.0) for other, gain in gains.items()}))


@study.check(
    "Vegas and Westwood drop to zero at times beside UDP, and C3TCP does not",
    paper="both drop to zero periodically",
    assumed="nothing arrives in at least 2 % of the steps of 250 ms, and in fewer of C3TCP's; partly: either does",
    why="Westwood does; Vegas keeps its window as small as C3TCP does and loses nothing",
)
def silent(data: Data) -> Claim:
    claims = {LABELS[other]: above(silence(data, other), 0.02) for other in OTHERS}
    more = {LABELS[other]: above(silence(data, other) - silence(data, "c3"), 0.0) for other in OTHERS}
    strict = every({**claims, **{f"more than C3TCP: {label}": claim for label, claim in more.items()}})
    return strict.or_partly(most(more, 0.5))
