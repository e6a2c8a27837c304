"""Round trips of a TCP flow at a fixed rate, and their variation, while UDP crosses its path from 30 s to 60 s.

TCP-AP slows down by the coefficient of variation of recent round trips. This coefficient should rise with competing
traffic before anything is lost, both on a cross and on parallel chains that interfere with each other without being
able to decode each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fourhop import Scenario, Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Sample, Study, series, table
from fourhop.study.claims import above, below, every, most, ordered

from ._common import ASSUMED, OTHER_PARALLEL_HOPS, PAPER, PARALLEL_HOPS, STILL, cross, parallel

RATES = ("150kbps", "200kbps", "250kbps")
BETWEEN = ("180kbps", "215kbps")
"""Rates that have no simple ratio to the 100 kbit/s of TCP."""
LABELS = {rate: f"UDP {rate.removesuffix('kbps')} kbit/s" for rate in (*RATES, *BETWEEN)}
BEFORE, DURING, AFTER = (15.0, 30.0), (40.0, 60.0), (70.0, 90.0)
"""Measured intervals in s. The last 50 samples span six seconds."""

# A TCP flow of 100 kbit/s: a segment of 1460 B every 116.8 ms. The pacing interval remains that from before the first
# sample, as no delay is short enough to be one; round trips and their variation are still measured.
FIXED: Mapping[str, Any] = {"first_interval": "116.8ms", "delay_limit": "1ns", "release": "gate"}

study = Study(
    "Variation of round trips under background traffic",
    source=f"{PAPER}, figures 3 to 5 and section 4.2",
    assumed=[
        ASSUMED[0],
        "The TCP flow sends a segment every 116.8 ms, as its window allows; cov is over its last 50 samples.",
        "UDP sends 1460 B at equal intervals.",
        f"The parallel chains have {PARALLEL_HOPS} hops, like the cross; other lengths are shown.",
        "The paper shows one run; the intervals here are over 20 runs.",
    ],
)


def flows(tcp: tuple[int, int], udp: tuple[int, int]) -> list[dict[str, Any]]:
    background = {"from": udp[0], "to": udp[1], "transport": "udp", "app": "cbr", "rate": RATES[0], "payload": "1460B"}
    return [
        {"name": "tcp", "from": tcp[0], "to": tcp[1], "transport": "tcp-ap", "start": "1s"},
        {"name": "udp", **background, "start": "30s", "stop": "60s"},
    ]


def probed(make: Any, profile: Profile, *arguments: Any, **keys: Any) -> Scenario:
    made: Scenario = make(profile, *arguments, tcp_ap=FIXED, duration="90s", warmup="1s", sample_every="200ms", **keys)
    return made


@study.sweep
def crossing(profile: Profile) -> Sweep:
    base = probed(cross, profile, flows=flows((0, 4), (5, 8)))
    return Sweep(base, {"flows[1].rate": list(RATES)}, runs=20)


@study.sweep
def between(profile: Profile) -> Sweep:
    base = probed(cross, profile, flows=flows((0, 4), (5, 8)))
    return Sweep(base, {"flows[1].rate": list(BETWEEN)}, runs=20)


@study.sweep
def still(profile: Profile) -> Sweep:
    base = probed(cross, profile, flows=flows((0, 4), (5, 8))).with_(**STILL)
    return Sweep(base, {"flows[1].rate": list(RATES)}, runs=20)


@study.sweep
def beside(profile: Profile) -> Sweep:
    chains = {
        str(n): probed(parallel, profile, n, flows=flows((0, n), (n + 1, 2 * n + 1))) for n in OTHER_PARALLEL_HOPS
    }
    return Sweep(variants=chains, over={"flows[1].rate": list(RATES)}, runs=20)


@study.chart
def round_trips(data: Data) -> Chart:
    """Cross: the newest round trip of the TCP flow, one run for each rate of UDP."""
    return series(data.crossing, "rtt_s", by="rate", flows={"tcp": "TCP"}, labels=LABELS)


@study.chart
def variation(data: Data) -> Chart:
    """Cross: the coefficient of variation of the last 50 round trips, the same runs."""
    return series(data.crossing, "variation", by="rate", flows={"tcp": "TCP"}, labels=LABELS)


@study.chart
def variation_beside(data: Data) -> Chart:
    """Parallel chains of 4 hops: the same quantity."""
    cells = data.beside.where(variant=str(PARALLEL_HOPS))
    return series(cells, "variation", by="rate", flows={"tcp": "TCP"}, labels=LABELS)


def cov(cells: Cells, rate: str, when: tuple[float, float]) -> Sample:
    return cells.over_time("variation", "tcp", *when, rate=rate)


def lost(cells: Cells, rate: str) -> Sample:
    """Share of the datagrams that did not arrive, in %; a retransmitted segment counts as well."""
    return cells.measure(
        lambda run: 100.0 * (1.0 - run.flows["udp"]["delivered_bytes"] / (1460.0 * run.flows["udp"]["sent_packets"])),
        "%",
        rate=rate,
    )


def networks(data: Data) -> dict[str, tuple[Cells, Sequence[str]]]:
    """The content of the table, with the rates of each."""
    crosses = {
        "cross": (data.crossing, RATES),
        "cross, other rates": (data.between, BETWEEN),
        "cross, routes that never break": (data.still, RATES),
    }
    chains = {f"chains of {n}": (data.beside.where(variant=str(n)), RATES) for n in OTHER_PARALLEL_HOPS}
    return {**crosses, **chains}


@study.chart
def numbers(data: Data) -> Chart:
    """Mean cov before, during and after UDP, and losses. Intervals over the runs."""
    rows = [
        (
            name,
            LABELS[rate],
            *(cov(cells, rate, when) for when in (BEFORE, DURING, AFTER)),
            lost(cells, rate),
            cells.column("retransmitted_packets", "tcp", rate=rate),
        )
        for name, (cells, rates) in networks(data).items()
        for rate in rates
    ]
    return table(
        ["network", "background", "before", "during", "after", "UDP lost (%)", "TCP segments retransmitted"], rows
    )


def clearly_more(cells: Cells) -> Claim:
    ratio = {LABELS[rate]: cov(cells, rate, DURING) / cov(cells, rate, BEFORE) for rate in RATES}
    return every(above(ratio, 2.0)).or_partly(every(above(ratio, 1.2)))


def more_with_more(cells: Cells) -> Claim:
    most_first = [(LABELS[rate], cov(cells, rate, DURING)) for rate in reversed(RATES)]
    ends = cov(cells, RATES[-1], DURING) - cov(cells, RATES[0], DURING)
    return ordered(most_first).or_partly(above(ends, 0.0))


def nothing_lost(cells: Cells) -> Claim:
    claims = below({LABELS[rate]: lost(cells, rate) for rate in RATES}, 1.0)
    return every(claims).or_partly(most(claims, 0.3))


CLEARLY = "at least 100 % more from 40 s to 60 s than from 15 s to 30 s; partly: 20 %"


@study.cause(
    "the flows send at equal intervals and stay in phase where their rates have a simple ratio: at 180 kbit/s, which "
    "has none to TCP's 100 kbit/s, cov is higher than at 200 kbit/s"
)
def in_phase(data: Data) -> Claim:
    return above(cov(data.between, "180kbps", DURING) - cov(data.crossing, "200kbps", DURING), 0.0)


@study.cause(
    "lost datagrams were waiting for a route that was given up by mistake: over routes that never break nothing is lost"
)
def lost_with_the_route(data: Data) -> Claim:
    return every(below({LABELS[rate]: lost(data.still, rate) for rate in RATES[:2]}, 1.0))


@study.cause(
    "at 250 kbit/s both flows together exceed what the middle node carries: datagrams are lost on routes that never "
    "break, too"
)
def exceeds_the_middle(data: Data) -> Claim:
    return above(lost(data.still, RATES[-1]), 1.0)


@study.check("Cross: cov rises clearly while UDP sends", paper="significant fluctuation", assumed=CLEARLY)
def rises_on_cross(data: Data) -> Claim:
    return clearly_more(data.crossing)


@study.check(
    "Cross: more background traffic causes more variation",
    paper="increasing with the background",
    assumed="partly: for the lowest and the highest rate",
    because="in_phase",
)
def grows_on_cross(data: Data) -> Claim:
    return more_with_more(data.crossing)


@study.check(
    "Cross: nothing is lost in this time",
    paper="the load is below the available bandwidth; cov is measured without losses",
    assumed="below 1 % of the datagrams; partly: at one of the rates",
    because=["lost_with_the_route", "exceeds_the_middle"],
)
def no_loss_on_cross(data: Data) -> Claim:
    return nothing_lost(data.crossing)


@study.check("Cross: cov falls again when UDP stops", paper="the curves fall after 60 s", assumed="below half")
def falls_on_cross(data: Data) -> Claim:
    left = {LABELS[rate]: cov(data.crossing, rate, AFTER) / cov(data.crossing, rate, DURING) for rate in RATES}
    return every(below(left, 0.5))


@study.check("Parallel chains: cov rises clearly while UDP sends", paper="consistent with the cross", assumed=CLEARLY)
def rises_on_chains(data: Data) -> Claim:
    return clearly_more(data.beside.where(variant=str(PARALLEL_HOPS)))


@study.check(
    "Parallel chains: more background traffic causes more variation",
    paper="consistent with the cross",
    assumed="as above",
    because="in_phase",
)
def grows_on_chains(data: Data) -> Claim:
    return more_with_more(data.beside.where(variant=str(PARALLEL_HOPS)))


@study.check(
    "Parallel chains of any length: cov rises while UDP sends",
    paper="does not give the length",
    assumed="4, 5, 6 and 8 hops, 20 % more at each rate; partly: in three quarters of these",
)
def rises_whatever_length(data: Data) -> Claim:
    ratio = {
        f"{n} hops, {LABELS[rate]}": cov(cells, rate, DURING) / cov(cells, rate, BEFORE)
        for n in OTHER_PARALLEL_HOPS
        for cells in [data.beside.where(variant=str(n))]
        for rate in RATES
    }
    return every(above(ratio, 1.2)).or_partly(most(above(ratio, 1.2)))
