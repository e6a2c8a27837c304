"""Short files from the Internet into random networks: four flows with mean pauses of one second between the files.

The paper shows one network, in which both variants are fair, and TCP-GAP is slightly fairer and considerably ahead in
goodput. This study has ten.
"""

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Study, above, every, fair, table
from fourhop.study.flows import averaged_fairness, averaged_goodput

from ._common import ASSUMED, LABELS, PAPER, compared, random
from ._measures import ASSUMED_FILES, FILES

NETWORKS = 10
LENGTH = {**STEADY, "packets": 5_500}

study = Study(
    "Short files, random topology",
    source=f"{PAPER}, figure 24",
    quick={"duration": "4s"},
    assumed=[
        *ASSUMED,
        ASSUMED_FILES,
        f"{NETWORKS} networks with a random gateway and random nodes, at any distance, one run of 5,500 packets in "
        "each; every value is a mean over the networks.",
        "The index is that of the averaged goodputs.",
    ],
)


@study.sweep_each({"networks": "same", "fresh": "fresh"})
def files(profile: Profile, connection: str) -> Sweep:
    flow = {**FILES, "mean_pause": "1s", "connection": connection}
    return Sweep(variants=compared(random(profile, ("down",) * 4, flow=flow, **LENGTH)), runs=NETWORKS)


@study.chart
def numbers(data: Data) -> Chart:
    """Total averaged goodput of the four flows in kbit/s, and their Jain's index. Intervals over the networks."""
    rows = []
    for name in LABELS:
        one, each = data.networks.where(variant=name), data.fresh.where(variant=name)
        rows.append(
            (
                LABELS[name],
                averaged_goodput(one),
                averaged_fairness(one),
                averaged_goodput(each),
                averaged_fairness(each),
            )
        )
    columns = ["variant", "one connection", "its index", "one connection per file", "their index"]
    return table(columns, rows)


@study.check(
    "TCP-GAP is considerably ahead",
    paper="considerably more averaged goodput",
    assumed="above 10 % more; partly: more",
    why="as with TCP-AP's figure 24: on short paths NewReno has sent a file of 30 kB before pacing has learned how "
    "fast it may send, and the short paths among the random pairs make up most of the total. We do not know which "
    "network the paper drew",
)
def ahead(data: Data) -> Claim:
    gain = averaged_goodput(data.networks.where(variant="gap-gc")) / averaged_goodput(
        data.networks.where(variant="newreno")
    )
    return above(gain, 1.1).or_partly(above(gain, 1.0))


@study.check(
    "Both are fair",
    paper="good fairness",
    assumed="an index above 0.9; partly: above 0.8",
    why="files of the same size do not take the same time over one hop and over nine",
)
def both_fair(data: Data) -> Claim:
    found = {LABELS[name]: averaged_fairness(data.networks.where(variant=name)) for name in ("newreno", "gap-gc")}
    return every(fair(found, 0.9)).or_partly(every(fair(found, 0.8)))


@study.check("TCP-GAP is slightly fairer", paper="slightly", assumed="its index above NewReno's")
def fairer(data: Data) -> Claim:
    ours, theirs = (averaged_fairness(data.networks.where(variant=name)) for name in ("gap-gc", "newreno"))
    return above(ours - theirs, 0.0)
