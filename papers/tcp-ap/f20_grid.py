"""Six flows in a grid: three along neighbouring rows (FTP 1 to 3), three along neighbouring columns (FTP 4 to 6).

FTP 1 is farthest from the senders of FTP 4 to 6, and FTP 6 is farthest from those of FTP 1 to 3. The paper finds that
NewReno serves only these two, and that TCP-AP takes from them what the other four need. As in the paper, flows 2 and 5
get less than flows 3 and 4, whose rows and columns are nearer to the other senders.
"""

from collections.abc import Mapping

from fourhop import Scenario, Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Profile, Run, Sample, Study, above, below, every, shares, table
from fourhop.study.flows import goodputs, starving

from ._common import ASSUMED, ASSUMED_DELAYED, ASSUMED_STARVING, LABELS, PAPER, SHOWN, compared, settings
from ._several import ASSUMED_COUNT

FLOWS = {f"FTP {number}": f"FTP {number}" for number in range(1, 7)}
SEEDS = 5

# Nodes a side, and which rows and columns, from the one nearest to the other three senders to the farthest.
GRIDS = {
    "5 x 5, middle": (5, (1, 2, 3)),
    "5 x 5, far side": (5, (2, 3, 4)),
    "6 x 6, far side": (6, (3, 4, 5)),
    "7 x 7, middle": (7, (2, 3, 4)),
}
MAIN = "5 x 5, middle"

NOBODY_STARVES: Mapping[Profile, str] = {
    "ns2": "flows 1 and 6 are ahead of all others, but which flow is shut out changes, as on parallel chains (figure "
    "16), so no flow starves over 55,000 packets. The smaller the grid and the farther out the two flows, the more "
    "they have: 72 % with delayed ACKs on the far side of five by five, 38 % in the middle of seven by seven",
    "standard": "collisions seldom take a route down here (figure 16); the other four share with the two",
}

study = Study(
    "Grid, six flows",
    source=f"{PAPER}, figures 19 and 20",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_COUNT,
        ASSUMED_STARVING,
        "Five by five nodes, 200 m apart, flows along the three middle rows from left to right and along the three "
        "middle columns: the drawing was not available; the text says which flows are near each other. Other grids "
        "are shown.",
        f"{SEEDS} runs of 55,000 packets each instead of one.",
    ],
)


@study.sweep
def main(profile: Profile) -> Sweep:
    return Sweep(variants=compared(_grid(profile, *GRIDS[MAIN]), *SHOWN), runs=SEEDS)


@study.sweep
def grids(profile: Profile) -> Sweep:
    scenarios = {
        f"{name}, {variant}": scenario
        for name, shape in GRIDS.items()
        for variant, scenario in compared(_grid(profile, *shape), *SHOWN).items()
    }
    return Sweep(variants=scenarios)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of each flow and in total, five by five nodes. Whiskers: 95 % intervals over the runs."""
    return shares(data.main, FLOWS, LABELS)


@study.chart
def other_grids(data: Data) -> Chart:
    """One run in each of several grids; intervals over ten batches. Flows 1 and 6 are those on the far side."""
    columns = ["grid", "transport", "goodput (kbit/s)", "Jain's index", "share of flows 1 and 6", "starving flows"]
    rows = []
    for name in GRIDS:
        for variant in SHOWN:
            cell = data.grids.where(variant=f"{name}, {variant}")
            outer = cell.measure(_outer).mean
            rows.append(
                (name, LABELS[variant], cell.goodput(), cell.fairness(), outer, f"{cell.measure(starving).mean:.0f}")
            )
    return table(columns, rows)


@study.check(
    "With NewReno only flows 1 and 6 are active, the other four starve",
    paper="almost total starvation of the remaining four",
    assumed="1 and 6 have more than 90 % of the total; partly: more than half",
    why=NOBODY_STARVES,
)
def newreno_starves(data: Data) -> Claim:
    outer = data.main.measure(_outer, variant="newreno")
    return above(outer, 0.9).or_partly(above(outer, 0.5))


@study.check(
    "With delayed ACKs flows 1 and 6 still have more than 12 times as much as the others",
    paper="more than 12 times",
    assumed="ratio of the mean of the two to the mean of the four; partly: more than twice",
    why=NOBODY_STARVES,
)
def newreno_delayed(data: Data) -> Claim:
    two = data.main.measure(lambda run: _outer(run) / 2.0, variant="newreno-da")
    four = data.main.measure(lambda run: (1.0 - _outer(run)) / 4.0, variant="newreno-da")
    return above(two / four, 12.0).or_partly(above(two / four, 2.0))


@study.check(
    "TCP-AP is much fairer, and no flow starves",
    paper="significantly improves fairness",
    assumed="an index higher by 0.1 or more, with and without delayed ACKs, and no starving flow; "
    "partly: a higher index",
    why={
        "ns2": "higher by 0.11, with 0.1 inside the interval: NewReno has an index of 0.75, not the 0.33 of two "
        "active flows in six"
    },
)
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap", "ap-da")


@study.check("The same holds for the authors' code", paper="significantly improves fairness", assumed="as above")
def code_fairer(data: Data) -> Claim:
    return _fairer(data, "ap-code", "ap-code-da")


def _grid(profile: Profile, side: int, lines: tuple[int, int, int]) -> Scenario:
    """Senders of columns are in row 0, senders of rows in column 0; FTP 1 and FTP 6 run along the last of `lines`."""
    last = side - 1
    ends = [(row * side, row * side + last) for row in reversed(lines)]
    ends += [(column, last * side + column) for column in lines]
    flows = [
        {"name": name, "from": start, "to": end, "transport": "newreno"}
        for name, (start, end) in zip(FLOWS, ends, strict=True)
    ]
    return Scenario.grid(side, side, profile=profile, flows=flows, **settings({**STEADY}))


def _outer(run: Run) -> float:
    """Share of flows 1 and 6 in the total, 0 to 1."""
    each = goodputs(run)
    return (each[0] + each[-1]) / sum(each)


def _fairer(data: Data, plain: str, delayed: str) -> Claim:
    gain = {
        "index": data.main.fairness(variant=plain) - data.main.fairness(variant="newreno"),
        "index with delayed ACKs": data.main.fairness(variant=delayed) - data.main.fairness(variant="newreno-da"),
    }
    none = below({f"starving, {LABELS[name]}": _starving(data, name) for name in (plain, delayed)}, 0.5)
    return every({**above(gain, 0.1), **none}).or_partly(every(above(gain, 0.0)))


def _starving(data: Data, name: str) -> Sample:
    return data.main.measure(starving, variant=name)
