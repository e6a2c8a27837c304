"""Short files from the Internet into random networks: four flows with mean pauses of one second between the files.

The paper shows one network, in which both variants are fair, and TCP-GAP is slightly fairer and considerably ahead in
goodput. This study has several.
"""

import math
from collections.abc import Callable

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Cells,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Run,
    Sample,
    Study,
    above,
    below,
    every,
    fair,
    table,
)  # fmt: skip
from fourhop.study.flows import averaged_fairness, averaged_goodput

from ._common import ASSUMED, LABELS, PAPER, compared, labels, random
from ._measures import ASSUMED_FILES, FILES, TWO_MEANS, file_fairness, file_goodput, per_file

CONTROLLED = labels("gap-gc", "gap")
"""The checks are made for both: goodput control must do no harm here."""

NETWORKS = 30
LENGTH = {**STEADY, "packets": 5_500}

study = Study(
    "Short files, random topology",
    source=f"{PAPER}, figure 24",
    quick={"duration": "4s"},
    assumed=[
        *ASSUMED,
        ASSUMED_FILES,
        TWO_MEANS,
        f"{NETWORKS} networks with a random gateway and random nodes, at any distance, one run of 5,500 packets in "
        "each; every value is a mean over the networks.",
        "The index is that of the averaged goodputs.",
    ],
)


@study.sweep_each({"networks": "same", "fresh": "fresh"})
def files(profile: Profile, connection: str) -> Sweep:
    flow = {**FILES, "mean_pause": "1s", "connection": connection}
    return Sweep(variants=compared(random(profile, ("down",) * 4, flow=flow, **LENGTH)), runs=NETWORKS)


@study.chart_each(
    {
        "numbers": (
            (file_goodput, file_fairness),
            "Total averaged goodput of the four flows in kbit/s, the mean over files, and Jain's index of it. "
            "Intervals over the networks.",
        ),
        "by_time": (
            (averaged_goodput, averaged_fairness),
            "What all files carried over the time in which there was one, where large files count for more.",
        ),
    }
)
def numbers(data: Data, measures: tuple[Callable[[Cells], Sample], Callable[[Cells], Sample]]) -> Chart:
    rows = []
    for name, label in labels().items():
        each = [sweep.where(variant=name) for sweep in (data.networks, data.fresh)]
        rows.append((label, *(of(cells) for cells in each for of in measures)))
    columns = ["variant", "one connection", "its index", "one connection per file", "their index"]
    return table(columns, rows)


def gain(data: Data, name: str, over: str = "newreno", sweep: str = "networks") -> Estimate:
    """Ratio of averaged goodput to that of another variant."""
    return file_goodput(data[sweep].where(variant=name)) / file_goodput(data[sweep].where(variant=over))


def index(data: Data, name: str) -> Sample:
    return file_fairness(data.networks.where(variant=name))


@study.check_each(
    CONTROLLED,
    "{} is considerably ahead",
    paper="considerably more averaged goodput",
    assumed="above 10 % more; partly: more",
    because=["short_paths_lose", "more_with_code"],
)
def ahead(data: Data, name: str) -> Claim:
    return above(gain(data, name), 1.1).or_partly(above(gain(data, name), 1.0))


@study.check_each(
    CONTROLLED,
    "{} and NewReno are fair",
    paper="good fairness",
    assumed="an index above 0.9; partly: above 0.8",
    because="paths_differ",
)
def both_fair(data: Data, name: str) -> Claim:
    found = {LABELS[each]: index(data, each) for each in ("newreno", name)}
    return every(fair(found, 0.9)).or_partly(every(fair(found, 0.8)))


@study.check_each(CONTROLLED, "{} is slightly fairer", paper="slightly", assumed="its index above NewReno's")
def fairer(data: Data, name: str) -> Claim:
    return above(index(data, name) - index(data, "newreno"), 0.0)


@study.check(
    "Goodput control costs nothing",
    paper="nothing: goodput control is for oncoming flows",
    assumed="our own: at most 3 % of the total",
)
def control_costs_nothing(data: Data) -> Claim:
    return above(gain(data, "gap-gc", "gap"), 0.97)


def near(run: Run) -> float:
    """Averaged goodput in kbit/s of the flow with the fewest hops, which has most of the total."""
    nearest = min(run.flows.values(), key=lambda flow: (flow["hops"] is None, flow["hops"] or 0))
    return 1e-3 * float(nearest["file_goodput_bps"] or 0.0)


@study.cause(
    "the flow with the shortest path loses by pacing: a file is sent before the gateway knows how fast it may send"
)
def short_paths_lose(data: Data) -> Claim:
    return below(data.networks.measure(near, variant="gap") / data.networks.measure(near, variant="newreno"), 1.0)


@study.cause("with the arithmetic of the authors' code TCP-GAP carries more than 10 % more")
def more_with_code(data: Data) -> Claim:
    return above(gain(data, "gap-code"), 1.1)


@study.cause(
    "files take longer on longer paths: the flow with the shortest path has more than a third of the total of four"
)
def paths_differ(data: Data) -> Claim:
    def share(run: Run) -> float:
        return near(run) / (1e-3 * sum(per_file(run)) or math.nan)

    return above(data.networks.measure(share, variant="newreno"), 1 / 3)
