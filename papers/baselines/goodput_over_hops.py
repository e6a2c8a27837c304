"""Goodput of the congestion controls that the published systems are measured against, over chains of 1 to 16 hops.

No figure of a paper shows all of them together. What the papers agree on is checked: each hop more costs goodput until
the pipe of about four hops is full; from then on it hardly matters how long the chain is. A window limited to a quarter
of the hops keeps the sender from overrunning that pipe, and so does Vegas, which loses nothing to begin with.
"""

from fourhop import Scenario, Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Profile, Study, above, between, every, lines, most, peak

NAMES = {
    "newreno": "NewReno",
    "sack": "SACK",
    "vegas": "Vegas",
    "westwood": "Westwood+",
    "cubic": "CUBIC",
    "cwl": "window limit",
}
HOPS = range(1, 17)

study = Study(
    "Goodput over hops: the baselines",
    source="the common set-up of the papers; NewReno and the window limit: tcp-ap, figures 14 and 15",
    assumed=[
        "The window limit is a quarter of the hops, at least one segment, not searched for each length.",
        "The receiver acknowledges as the profile does: every segment in ns2, delayed in standard.",
    ],
)


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, radio={"rate": "2Mbps"}, tcp={"window": 64}, **STEADY)
    return Sweep(base, {"topology.hops": HOPS, "transport": list(NAMES)})


@study.chart
def goodput(data: Data) -> Chart:
    """Steady state of one flow, AODV, 2 Mbit/s, nodes 200 m apart. Whiskers: 95 % intervals by means of ten batches."""
    return lines(data.chain, x="hops", by="transport", labels=NAMES)


@study.chart
def repeated(data: Data) -> Chart:
    """Segments that were sent again, of all that were sent over the whole run."""
    return lines(
        data.chain,
        x="hops",
        by="transport",
        labels=NAMES,
        y=lambda cell: cell.measure(
            lambda run: 100.0 * run.flows["flow-1"]["retransmitted_packets"] / run.flows["flow-1"]["sent_packets"]
        ),
        y_label="segments sent again (%)",
    )


@study.check("Up to four hops, each hop more costs goodput, whatever the transport", paper="the goodput falls steeply")
def falls_to_four(data: Data) -> Claim:
    steps = {
        f"{NAMES[transport]}, {hops} to {hops + 1} hops": data.chain.goodput(transport=transport, hops=hops)
        - data.chain.goodput(transport=transport, hops=hops + 1)
        for transport in NAMES
        for hops in (1, 2, 3)
    }
    return every(above(steps, 0.0)).or_partly(most(above(steps, 0.0)))


def over_newreno(data: Data, transport: str, least: int) -> dict[str, Estimate]:
    """Goodput over that of NewReno on the chains of so many hops and more."""
    hops = {n: data.chain.where(hops=n) for n in HOPS if n >= least}
    return {f"{n} hops": at.goodput(transport=transport) / at.goodput(transport="newreno") for n, at in hops.items()}


@study.check(
    "From eight to sixteen hops NewReno loses little more", paper="the curve is almost flat", assumed="little: 40 %"
)
def flat_from_eight(data: Data) -> Claim:
    left = data.chain.goodput(transport="newreno", hops=16) / data.chain.goodput(transport="newreno", hops=8)
    return between(left, 0.6, 1.1).or_partly(between(left, 0.4, 1.2))


@study.check(
    "A window limit beats NewReno beyond four hops",
    main=True,
    paper="a small window is best; the limit is what tcp-ap compares with in figure 15",
    assumed="at every length from 5 to 16; partly: at three quarters of them",
    why={
        "standard": "NewReno resends 2 to 4 % of its segments instead of 8 to 10 %, so that a smaller window has "
        "little to gain, while a receiver that acknowledges every second segment lets a window of one to four "
        "segments wait for its timer"
    },
)
def limit_beats_newreno(data: Data) -> Claim:
    claims = above(over_newreno(data, "cwl", 5), 1.0)
    return every(claims).or_partly(most(claims))


@study.check(
    "Vegas is well ahead of NewReno on long chains",
    main=True,
    paper="Vegas keeps its window small where NewReno overruns the chain",
    assumed="well: by more than 10 % at the best of 6 to 16 hops",
    why={"standard": "as for the window limit: what NewReno loses in ns2 by overrunning the chain is mostly gone"},
)
def vegas_ahead(data: Data) -> Claim:
    best = peak(list(over_newreno(data, "vegas", 6).values()))
    return above(best, 1.1).or_partly(above(best, 1.0))
