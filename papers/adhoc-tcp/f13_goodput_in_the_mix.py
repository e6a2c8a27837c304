"""Two flows of ad hoc TCP and two of NewReno: what part of what each kind sends is fresh.

The runs are those of figure 12.
"""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Study, about, above, line, peak

from ._common import (
    ADHOC,
    ASSUMED,
    ASSUMED_MOVING,
    FLOWS,
    MIXED,
    NEWRENO,
    PAPER,
    at,
    field,
    normalized,
    over_speeds,
    reached,
    speeds,
)

study = Study(
    "Goodput of unlike flows",
    source=f"{PAPER}, figure 13",
    assumed=[*ASSUMED, *ASSUMED_MOVING],
)


@study.sweep
def mix(profile: Profile) -> Sweep:
    return over_speeds(profile, {"mixed": field(profile, MIXED)})


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of each flow as a share of what it sent. Bars: 95 % intervals over the replications."""
    kind = {**dict.fromkeys(ADHOC, "ad hoc TCP"), **dict.fromkeys(NEWRENO, "NewReno")}
    lines = [
        line(
            f"{flow} ({kind[flow]})",
            {speed: normalized(at(data.mix, "mixed", speed), [flow]) for speed in speeds(data.mix)},
        )
        for flow in FLOWS
    ]
    return Chart("lines", tuple(lines), "speed of the nodes (m/s)", "normalized goodput")


@study.chart
def precision(data: Data) -> Chart:
    """Replications, and how precise the throughput is with them."""
    return reached(data.mix, {"mixed": "two of each"})


@study.check(
    "Ad hoc TCP's goodput is up to 19.4 % above NewReno's",
    paper="up to 19.4 %",
    assumed="largest gain over the speeds 16 to 23 %; partly: above it at some speed",
)
def gain(data: Data) -> Claim:
    gains = [
        normalized(at(data.mix, "mixed", speed), ADHOC) / normalized(at(data.mix, "mixed", speed), NEWRENO)
        for speed in speeds(data.mix)
    ]
    most = peak(gains)
    return about(most, 1.194, within=0.03).or_partly(above(most, 1.0))
