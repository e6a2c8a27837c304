"""Two flows into parallel chains over wired links of 1 to 100 Mbit/s; the radios have 54 Mbit/s.

As long as the wire is the bottleneck, both variants should be equal and fair. Beyond 5 Mbit/s, the capacity of the
chains, TCP-GAP is about 13 % ahead and fair in the paper, and NewReno is unfair.
"""

from typing import Any

from fourhop import Sweep
from fourhop.study import STEADY, Cells, Chart, Claim, Data, Profile, Sample, Study, lines, run_by_run
from fourhop.study.claims import about, above, below, between, every, fair, most

from ._common import ASSUMED, LABELS, PAPER, compared, labels, parallel
from ._measures import sent_again
from ._several import fairer, gain

NARROW, WIDE = (1, 2, 5), (10, 20, 50, 100)
"""Rates of the wired links in Mbit/s: at low ones the wire is the bottleneck, at high ones the radio."""

SHOWN = ("newreno", "gap", "gap-gc", "gap-code")
CONTROLLED = labels("gap-gc", "gap")
"""The checks are made for both: goodput control must do no harm here."""
RUNS = 5
LENGTH = {**STEADY, "packets": 11_000}

OFDM: dict[str, Any] = {
    "radio": {"rate": "54Mbps", "basic_rate": "24Mbps", "plcp": "20us"},
    "mac": {"slot": "9us", "sifs": "16us", "cw_min": 15},
}
"""IEEE 802.11-2020 clause 17: OFDM, 20 MHz; control frames at the highest mandatory rate."""

study = Study(
    "Bandwidth of the wired part",
    source=f"{PAPER}, figures 15 and 16",
    assumed=[
        *ASSUMED,
        "54 Mbit/s with the timing of OFDM: 20 us of preamble, 9 us slots, 16 us SIFS, CWmin 15, control frames at 24 "
        "Mbit/s; range and carrier sense as at 11 Mbit/s. With the timing of DSSS a single hop would not reach the 5 "
        "Mbit/s at which the bottleneck moves from the wire to the radio in the paper.",
        f"{RUNS} runs of 11,000 packets each, of which the first eleventh is not measured.",
    ],
)


@study.sweep
def wires(profile: Profile) -> Sweep:
    base = parallel(profile, ("down", "down"), **OFDM, **LENGTH)
    return Sweep(
        variants=compared(base, *SHOWN), over={"wired.rate": [f"{rate}Mbps" for rate in NARROW + WIDE]}, runs=RUNS
    )


@study.chart_each(
    {
        "goodput": ("goodput", "Figure 15: goodput of both flows. Whiskers: 95 % intervals over the runs."),
        "index": ("fairness", "Figure 16: Jain's index."),
    }
)
def over_rates(data: Data, y: str) -> Chart:
    return lines(data.wires, x="rate", y=y, by="variant", labels=LABELS, x_label="wired links (Mbit/s)")


def at(data: Data, rates: tuple[int, ...]) -> dict[str, Cells]:
    """The runs at each rate."""
    return {f"{rate} Mbit/s": data.wires.where(rate=f"{rate}Mbps") for rate in rates}


def indices(data: Data, name: str, rates: tuple[int, ...]) -> dict[str, Sample]:
    """Jain's index at each rate."""
    return {text: cells.fairness(variant=name) for text, cells in at(data, rates).items()}


@study.check_each(
    CONTROLLED,
    "Up to 5 Mbit/s {} and NewReno carry the same",
    paper="similar",
    assumed="within 5 % at 1, 2 and 5 Mbit/s; partly: at two of them",
    because=["mesh_is_narrower", "pacing_costs"],
)
def alike(data: Data, name: str) -> Claim:
    claims = between({text: gain(cells, name=name) for text, cells in at(data, NARROW).items()}, 0.95, 1.05)
    return every(claims).or_partly(most(claims, 0.6))


@study.check_each(
    CONTROLLED,
    "Up to 5 Mbit/s {} and NewReno are fair",
    paper="nearly optimal",
    assumed="an index above 0.95; partly: TCP-GAP's",
    because="mesh_is_narrower",
)
def fair_when_narrow(data: Data, name: str) -> Claim:
    claims = {each: every(fair(indices(data, each, NARROW), 0.95)) for each in ("newreno", name)}
    return every({LABELS[each]: claim for each, claim in claims.items()}).or_partly(claims[name])


def _wide(data: Data, name: str) -> Sample:
    """Mean goodput over the rates above 5 Mbit/s; one value per seed."""
    each = [cells.goodput(variant=name) for cells in at(data, WIDE).values()]
    return run_by_run(lambda *row: sum(row) / len(row), *each, unit=each[0].unit)


@study.check_each(
    CONTROLLED,
    "Above 5 Mbit/s {} carries about 13 % more",
    paper="about 13 %",
    assumed="the mean over 10 to 100 Mbit/s, within 5 % of the ratio; partly: more",
    because=["newreno_loses_more", "little_lost"],
)
def ahead_when_wide(data: Data, name: str) -> Claim:
    ratio = _wide(data, name) / _wide(data, "newreno")
    return about(ratio, 1.13, within=0.05).or_partly(above(ratio, 1.0))


@study.check_each(
    CONTROLLED,
    "Above 5 Mbit/s {} is fair",
    paper="optimal fairness",
    assumed="an index above 0.99 at each rate; partly: above 0.95",
    because="fair_with_code",
)
def fair_when_wide(data: Data, name: str) -> Claim:
    found = indices(data, name, WIDE)
    return every(fair(found, 0.99)).or_partly(every(fair(found, 0.95)))


@study.check(
    "Above 5 Mbit/s NewReno is unfair",
    paper="it fails to divide the bandwidth equally",
    assumed="an index below 0.9 at each rate; partly: below that of TCP-GAP at three quarters of them",
    because=["newreno_fair", "little_lost"],
)
def newreno_unfair(data: Data) -> Claim:
    behind = {text: fairer(cells) for text, cells in at(data, WIDE).items()}
    return every(below(indices(data, "newreno", WIDE), 0.9)).or_partly(most(above(behind, 0.0)))


@study.check(
    "Goodput control costs nothing where both flows have the same direction",
    paper="nothing: goodput control is for oncoming flows",
    assumed="our own: at most 3 % of the total at each rate",
)
def control_costs_nothing(data: Data) -> Claim:
    return every(above({text: gain(cells, over="gap") for text, cells in at(data, NARROW + WIDE).items()}, 0.97))


@study.cause("at 5 Mbit/s the mesh is the bottleneck: NewReno carries less than 90 % of what the wire would")
def mesh_is_narrower(data: Data) -> Claim:
    return below(at(data, (5,))["5 Mbit/s"].goodput(variant="newreno"), 0.9 * 5_000.0 * 1_460 / 1_500)


@study.cause("pacing itself costs a few per cent: at 2 Mbit/s TCP-GAP carries less than NewReno")
def pacing_costs(data: Data) -> Claim:
    return below(gain(at(data, (2,))["2 Mbit/s"], name="gap"), 1.0)


@study.cause("NewReno loses more here than in the paper: TCP-GAP is ahead by more than a third")
def newreno_loses_more(data: Data) -> Claim:
    return above(_wide(data, "gap-gc") / _wide(data, "newreno"), 1.33)


@study.cause("NewReno retransmits less than one segment in a hundred, so there is little to gain")
def little_lost(data: Data) -> Claim:
    return every(
        below({text: cells.measure(sent_again, variant="newreno") for text, cells in at(data, WIDE).items()}, 0.01)
    )


@study.cause("with the arithmetic of the authors' code TCP-GAP is fair at each rate")
def fair_with_code(data: Data) -> Claim:
    return every(fair(indices(data, "gap-code", WIDE), 0.99))


@study.cause("NewReno is fair here over the whole run: its index is above 0.9 at each rate")
def newreno_fair(data: Data) -> Claim:
    return every(fair(indices(data, "newreno", WIDE), 0.9))
