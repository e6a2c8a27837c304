"""Rate-based pacing against Reno on the ideal radio: chains of 2 to 16 nodes at 11 Mbit/s.

The paper's own simulation, which its testbed contradicts: every node within 250 m decodes a frame, every node within
550 m suffers interference, and no other node hears anything. In the paper pacing is a gain from three hops on.
"""

from fourhop import Scenario, Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Profile, Study, curves, table
from fourhop.study.claims import above, between, every, most

from ._common import PACED, PAPER

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15)
"""Hops: one fewer than nodes."""

LONG = tuple(hops for hops in LENGTHS if hops >= 3)

ROUTES = {"static": "fixed routes", "aodv": "AODV"}

NOTHING_TO_TAKE_APART = (
    "the interval RTT / (cwnd + 1) is shorter than the spacing that acknowledgements give anyway, so pacing only "
    "spreads bursts, which a chain of radios does by itself. The paper does not say which round trip it divides"
)

study = Study(
    "RBP against Reno on the ideal radio",
    source=f"{PAPER}, figure 7",
    assumed=[
        "Nodes 200 m apart, 250 m of reception and 550 m of carrier sense, ns-2's defaults: the paper gives none.",
        "A window of at most 20 segments, ns-2's default, and segments of 1460 B.",
        "The paper does not say how its simulation routes. The checks use fixed routes, and AODV is shown as well: "
        "the paper's discussion says that its simulation does not consider the dynamics of AODV.",
    ],
)


@study.sweep
def chain(profile: Profile) -> Sweep:
    base = Scenario.chain(
        hops=1,
        profile=profile,
        transport="reno",
        radio={"rate": "11Mbps"},
        tcp={"ack_policy": "every-segment", "window": 20, "mss": "1460B"},
        **STEADY,
    )
    over = {"topology.hops": LENGTHS, "transport": list(PACED), "routing.protocol": list(ROUTES)}
    return Sweep(base, over)


def gains(data: Data, protocol: str, lengths: tuple[int, ...]) -> dict[str, Estimate]:
    cells = {n: data.chain.where(protocol=protocol, hops=n) for n in lengths}
    return {f"{n} hops": at.goodput(transport="rbp-reno") / at.goodput(transport="reno") for n, at in cells.items()}


@study.chart_each(
    {
        "goodput": ("static", "Steady state over fixed routes. Whiskers: 95 % intervals over ten batches."),
        "with_aodv": ("aodv", "The same with AODV, which takes lost frames for broken links."),
    }
)
def over_hops(data: Data, protocol: str) -> Chart:
    cells = data.chain.where(protocol=protocol)
    points = {label: {n + 1: cells.goodput(hops=n, transport=name) for n in LENGTHS} for name, label in PACED.items()}
    return curves(points, "nodes", "goodput (kbit/s)")


@study.chart
def gain(data: Data) -> Chart:
    """How much more goodput RBP has than Reno on the same chain."""
    columns = {label: gains(data, protocol, LENGTHS).values() for protocol, label in ROUTES.items()}
    nodes = [n + 1 for n in LENGTHS]
    return table(["nodes", *columns], list(zip(nodes, *columns.values(), strict=True)))


@study.check(
    "Over 1 and 2 hops RBP and Reno are alike", paper="similar, as expected", assumed="within 5 %; partly: within 10 %"
)
def alike_when_short(data: Data) -> Claim:
    short = gains(data, "static", (1, 2))
    return every(between(short, 0.95, 1.05)).or_partly(every(between(short, 0.9, 1.1)))


def ahead(data: Data, protocol: str) -> Claim:
    gained = gains(data, protocol, LONG)
    return most(between(gained, 1.1, 1.5)).or_partly(most(above(gained, 1.0)))


@study.check(
    "From 3 hops on RBP is 10 to 50 % ahead",
    main=True,
    paper="10 % to 50 %, depending on the number of hops",
    assumed="at three quarters of 3 to 15 hops; partly: ahead at three quarters",
    why=NOTHING_TO_TAKE_APART,
)
def gains_when_long(data: Data) -> Claim:
    return ahead(data, "static")


@study.check(
    "From 3 hops on RBP is 10 to 50 % ahead, with AODV",
    paper="10 % to 50 %, depending on the number of hops",
    assumed="the same with AODV; partly: ahead at three quarters",
    why=NOTHING_TO_TAKE_APART,
)
def gains_with_aodv(data: Data) -> Claim:
    return ahead(data, "aodv")
