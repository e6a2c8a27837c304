"""Goodput of the congestion controls that the published systems are measured against, over chains of 1 to 16 hops.

No figure of a paper shows all of them together. The checks are statements on which the papers agree: each additional
hop costs goodput until the pipe of about four hops is full; beyond that the length of the chain hardly matters. A
window limited to a quarter of the hops keeps the sender from overrunning that pipe, and so does Vegas, which avoids
losses in the first place.
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
        "The window limit is a quarter of the hops, at least one segment; it is not optimised for each length.",
        "The receiver acknowledges as the profile says: every segment in ns2, delayed ACKs in standard.",
    ],
)


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(hops=1, profile=profile, radio={"rate": "2Mbps"}, tcp={"window": 64}, **STEADY)
    return Sweep(base, {"topology.hops": HOPS, "transport": list(NAMES)})


@study.chart
def goodput(data: Data) -> Chart:
    """Steady state of one flow, AODV, 2 Mbit/s, nodes 200 m apart. Whiskers: 95 % intervals over ten batches."""
    return lines(data.chain, x="hops", by="transport", labels=NAMES)


@study.chart
def repeated(data: Data) -> Chart:
    """Share of retransmitted segments among all segments sent in the whole run."""
    return lines(
        data.chain,
        x="hops",
        by="transport",
        labels=NAMES,
        y=lambda cell: cell.measure(
            lambda run: 100.0 * run.flows["flow-1"]["retransmitted_packets"] / run.flows["flow-1"]["sent_packets"]
        ),
        y_label="retransmitted segments (%)",
    )


@study.check(
    "Up to four hops, each additional hop costs goodput with every transport", paper="the goodput falls steeply"
)
def falls_to_four(data: Data) -> Claim:
    steps = {
        f"{NAMES[transport]}, {hops} to {hops + 1} hops": data.chain.goodput(transport=transport, hops=hops)
        - data.chain.goodput(transport=transport, hops=hops + 1)
        for transport in NAMES
        for hops in (1, 2, 3)
    }
    return every(above(steps, 0.0)).or_partly(most(above(steps, 0.0)))


def over_newreno(data: Data, transport: str, least: int) -> dict[str, Estimate]:
    """Ratio of goodput to that of NewReno on chains of at least this number of hops."""
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
        "standard": "NewReno retransmits a smaller part of its segments than under ns2, so a smaller window has "
        "little to gain, while with a receiver that acknowledges every second segment a window of one to four "
        "segments has to wait for the delayed-ACK timer"
    },
)
def limit_beats_newreno(data: Data) -> Claim:
    claims = above(over_newreno(data, "cwl", 5), 1.0)
    return every(claims).or_partly(most(claims))


@study.check(
    "Vegas is well ahead of NewReno on long chains",
    main=True,
    paper="Vegas keeps its window small where NewReno overruns the chain",
    assumed="well ahead: by more than 10 % at the best length from 6 to 16 hops",
    why={
        "standard": "as for the window limit: most of what NewReno loses in ns2 by overrunning the chain is not lost "
        "here"
    },
)
def vegas_ahead(data: Data) -> Claim:
    best = peak(list(over_newreno(data, "vegas", 6).values()))
    return above(best, 1.1).or_partly(above(best, 1.0))
