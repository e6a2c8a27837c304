"""Six flows in a grid: three along neighbouring rows (FTP 1 to 3), three along neighbouring columns (FTP 4 to 6).

FTP 1 is farthest from the senders of FTP 4 to 6, and FTP 6 is farthest from those of FTP 1 to 3. The paper finds that
NewReno serves only these two, and that TCP-AP takes from them what the other four need. As in the paper, flows 2 and 5
get less than flows 3 and 4, whose rows and columns are nearer to the other senders.
"""

from fourhop import Scenario, Sweep
from fourhop.study import (
    STEADY,
    Chart,
    Claim,
    Data,
    Profile,
    Run,
    Study,
    above,
    below,
    every,
    fair,
    run_by_run,
    shares,
    table,
)
from fourhop.study.flows import goodputs, starving

from ._common import (
    ASSUMED,
    ASSUMED_DELAYED,
    ASSUMED_SHORTER,
    ASSUMED_STARVING,
    BOTH,
    LABELS,
    PAPER,
    SHORTER,
    SHOWN,
    STILL,
    compared,
    settings,
)
from ._several import ASSUMED_COUNT

FLOWS = {f"FTP {number}": f"FTP {number}" for number in range(1, 7)}
SEEDS = 5

# Nodes per side, and which rows and columns, from the one nearest to the other three senders to the farthest.
GRIDS = {
    "5 x 5, middle": (5, (1, 2, 3)),
    "5 x 5, far side": (5, (2, 3, 4)),
    "6 x 6, far side": (6, (3, 4, 5)),
    "7 x 7, middle": (7, (2, 3, 4)),
}
MAIN = "5 x 5, middle"

STILL_ONES = ("newreno", "newreno-da", "ap", "ap-code")

FEWER_COLLISIONS = "fewer frames collide here (losses in figure 16), and the other four share with the two"

study = Study(
    "Grid, six flows",
    source=f"{PAPER}, figures 19 and 20",
    assumed=[
        *ASSUMED,
        ASSUMED_DELAYED,
        ASSUMED_COUNT,
        ASSUMED_STARVING,
        ASSUMED_SHORTER,
        "Five by five nodes, 200 m apart, flows along the three middle rows from left to right and along the three "
        "middle columns: the drawing was not available; the text says which flows are near each other. Other grids "
        "are shown.",
        f"{SEEDS} runs of 55,000 packets each instead of one.",
    ],
)


@study.sweep
def main(profile: Profile) -> Sweep:
    return Sweep(variants=compared(grid(profile, *GRIDS[MAIN]), *SHOWN), runs=SEEDS)


@study.sweep
def grids(profile: Profile) -> Sweep:
    scenarios = {
        f"{name}, {variant}": scenario
        for name, shape in GRIDS.items()
        for variant, scenario in compared(grid(profile, *shape).with_(packets=SHORTER["packets"]), *SHOWN).items()
    }
    return Sweep(variants=scenarios)


@study.sweep
def still(profile: Profile) -> Sweep:
    base = grid(profile, *GRIDS[MAIN]).with_(packets=SHORTER["packets"], **STILL)
    return Sweep(variants=compared(base, *STILL_ONES), runs=SEEDS)


@study.sweep
def symmetric(profile: Profile) -> Sweep:
    """Four flows; a quarter turn maps each to the next."""
    ends = [(5, 9), (3, 23), (19, 15), (21, 1)]
    flows = [
        {"name": f"FTP {number}", "from": start, "to": end, "transport": "newreno"}
        for number, (start, end) in enumerate(ends, 1)
    ]
    base = Scenario.grid(5, 5, profile=profile, flows=flows, **settings({**SHORTER}))
    return Sweep(variants=compared(base, *STILL_ONES), runs=3)


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of each flow and in total, five by five nodes. Whiskers: 95 % intervals over the runs."""
    return shares(data.main, FLOWS, LABELS)


@study.chart
def goodput_over_still_routes(data: Data) -> Chart:
    """The same over routes that never break. Whiskers: 95 % intervals over the runs."""
    return shares(data.still, FLOWS, {name: LABELS[name] for name in STILL_ONES})


@study.chart
def goodput_on_the_symmetric_grid(data: Data) -> Chart:
    """Four flows along two rows and two columns in alternating directions: each has the same place among the others."""
    names = ("FTP 1", "FTP 2", "FTP 3", "FTP 4")
    return shares(data.symmetric, {name: name for name in names}, {name: LABELS[name] for name in STILL_ONES})


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
    "With NewReno only flows 1 and 6 are active; the other four starve",
    paper="almost total starvation of the remaining four",
    assumed="1 and 6 have more than 90 % of the total; partly: more than half",
    why={"standard": FEWER_COLLISIONS},
    because="broken_routes_share",
)
def newreno_starves(data: Data) -> Claim:
    outer = data.main.measure(_outer, variant="newreno")
    return above(outer, 0.9).or_partly(above(outer, 0.5))


@study.cause(
    "AODV takes collisions for broken links, so that flows 1 and 6 lose their routes, too: over routes that never "
    "break they have at least three quarters of the total, with and without delayed ACKs"
)
def broken_routes_share(data: Data) -> Claim:
    names = ("newreno", "newreno-da")
    return every(above({LABELS[name]: data.still.measure(_outer, variant=name) for name in names}, 0.75))


@study.cause("with AODV NewReno is fairer than in the paper: over routes that never break the index gains far more")
def less_to_gain(data: Data) -> Claim:
    gains = {LABELS[name]: data.still.fairness(variant=name) - data.still.fairness(variant="newreno") for name in BOTH}
    return every(above(gains, 0.2))


@study.check(
    "With delayed ACKs flows 1 and 6 still have more than 12 times as much as the others",
    paper="more than 12 times",
    assumed="ratio of the mean of the two to the mean of the four; partly: more than twice",
    why={"standard": FEWER_COLLISIONS},
    because="broken_routes_share",
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
    because="less_to_gain",
)
def ap_fairer(data: Data) -> Claim:
    return _fairer(data, "ap", "ap-da")


@study.check(
    "The authors' code is also much fairer, and no flow starves",
    paper="significantly improves fairness",
    assumed="as above",
)
def code_fairer(data: Data) -> Claim:
    return _fairer(data, "ap-code", "ap-code-da")


@study.check_each(
    BOTH,
    "{}: flows 2 and 5 have less than flows 3 and 4",
    paper="slightly less, contrary to intuition",
    assumed="each pair, the mean over the runs; partly: both pairs together",
)
def middle_ones_have_less(data: Data, name: str) -> Claim:
    two, three, four, five = (data.main.goodput(f"FTP {number}", variant=name) for number in (2, 3, 4, 5))
    both = run_by_run(lambda a, b, c, d: b + c - a - d, two, three, four, five)
    pairs = {"FTP 2 below FTP 3": three - two, "FTP 5 below FTP 4": four - five}
    return every(above(pairs, 0.0)).or_partly(above(both, 0.0))


@study.check_each(
    BOTH,
    "{}: on a symmetric grid all flows have the same",
    paper="perfect fairness (not shown)",
    assumed="an index above 0.99; partly: above 0.95. Four flows along two rows and two columns, in alternating "
    "directions: six cannot have the same place in a square",
)
def perfectly_fair(data: Data, name: str) -> Claim:
    index = data.symmetric.fairness(variant=name)
    return fair(index, 0.99).or_partly(fair(index, 0.95))


def grid(profile: Profile, side: int, lines: tuple[int, int, int]) -> Scenario:
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
    none = below(
        {f"starving, {LABELS[name]}": data.main.measure(starving, variant=name) for name in (plain, delayed)}, 0.5
    )
    return every({**above(gain, 0.1), **none}).or_partly(every(above(gain, 0.0)))
