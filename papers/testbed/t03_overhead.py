"""The overhead of AODV: control packets per data packet of a test, over 2, 3 and 4 hops."""

from fourhop import Sweep
from fourhop.study import Chart, Claim, Data, Profile, Sample, Study, about, above, below, every, run_by_run, table

from ._common import ASSUMED, PAPER, hallway

HOPS = (2, 3, 4)
RATIO = {2: 0.014, 3: 0.023, 4: 0.037}
DATA = {2: 24_369, 3: 17_369, 4: 13_249}
CONTROL = {2: 347, 3: 405, 4: 499}

SENT = (
    "rreq_originated",
    "rreq_relayed",
    "rrep_originated",
    "rrep_forwarded",
    "rerr_sent",
    "hellos_sent",
)
"""All routing messages on the air, counted once at each node that sends them."""

study = Study(
    "Overhead of AODV",
    source=f"{PAPER}, table 3",
    profiles=("standard",),
    assumed=[
        *ASSUMED,
        "A data packet counts once, however many hops it travels, as 24,369 of them in 120 s at 2.2 Mbit/s show. "
        "Control packets count at each node that sends one; we count all of them, the paper those that a sniffer in "
        "the middle heard.",
        "Our runs have ten seconds before the test, in which HELLO messages are sent as well; these are subtracted.",
    ],
)

SHARE = 120.0 / 130.0
"""Share of a run's control packets that counts: nearly all are HELLO messages, which are sent at a constant rate."""


@study.sweep
def tests(profile: Profile) -> Sweep:
    return Sweep(variants={f"{hops} hops": hallway(profile, hops) for hops in HOPS}, runs=10)


def control(data: Data, hops: int) -> Sample:
    counted = data.tests.counter("route", SENT, variant=f"{hops} hops")
    return run_by_run(lambda packets: SHARE * packets, counted, unit=counted.unit)


def packets(data: Data, hops: int) -> Sample:
    return data.tests.column("sent_packets", variant=f"{hops} hops")


def ratio(data: Data, hops: int) -> Sample:
    """The ratio, one value per run."""
    return run_by_run(lambda sent, data: sent / data, control(data, hops), packets(data, hops))


@study.chart
def table_3(data: Data) -> Chart:
    """Packets of a test and their ratio, and the paper's values."""
    rows = [(n, DATA[n], packets(data, n), CONTROL[n], control(data, n), RATIO[n], ratio(data, n)) for n in HOPS]
    names = ("hops", "data, paper", "data", "control, paper", "control", "ratio, paper", "ratio")
    return table(list(names), rows)


@study.cause("here HELLO messages alone outnumber all control packets that the paper's sniffer heard")
def hellos_alone(data: Data) -> Claim:
    """Section 6.9 of RFC 3561 has each laptop send one per second."""
    sent = {n: data.tests.counter("route", ("hellos_sent",), variant=f"{n} hops") for n in HOPS}
    test = {n: run_by_run(lambda hellos: SHARE * hellos, each) for n, each in sent.items()}
    return every({f"{n} hops": above(each, CONTROL[n]) for n, each in test.items()})


@study.check(
    "The ratio grows with the hops and equals the paper's",
    paper="0.014, 0.023, 0.037",
    assumed="each within 20 %; partly: it grows",
    because="hellos_alone",
)
def grows(data: Data) -> Claim:
    each = {n: ratio(data, n) for n in HOPS}
    own = every({f"{n} hops": about(each[n], RATIO[n], 0.2) for n in HOPS})
    growing = below({f"{n} over {n - 1} hops": each[n - 1] - each[n] for n in HOPS[1:]}, 0.0)
    return own.or_partly(every(growing))


@study.check("The ratio stays below 4 %", paper="always below 4 %", assumed="2, 3 and 4 hops", because="hellos_alone")
def stays_low(data: Data) -> Claim:
    return every(below({f"{n} hops": ratio(data, n) for n in HOPS}, 0.04))
