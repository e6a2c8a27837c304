"""Packet losses by radio link: two parallel chains into one gateway, one flow each way, 1000 s.

A packet counts as lost on a link when the MAC gives it up after its last attempt. The paper counts TCP packets on the
links of both chains. The lower chain's two last links before the gateway, which carry data upwards, lose
about 12 and 2.5 times as much as the same links of the upper chain, which carry acknowledgements upwards. This makes
the upward flow the weaker one.
"""

from collections.abc import Callable
from functools import partial

from fourhop import Sweep
from fourhop.study import (
    Cells,
    Chart,
    Claim,
    Data,
    Profile,
    Run,
    Study,
    about,
    above,
    below,
    between,
    every,
    ratio,
    table,
    table_by,
)

from ._common import ASSUMED, CHAIN_NODES, GATEWAY, PAPER, compared, labels, parallel

SEEDS = 10
VARIANT = "gap"
"""Section 4.4 presents the table for TCP-GAP without goodput control."""

RELAYS = (
    ["A1", *(f"RL{n}" for n in range(1, CHAIN_NODES))],
    ["A2", *(f"RL{n}" for n in range(CHAIN_NODES, 2 * CHAIN_NODES - 1))],
)
"""Names of the paper: the upper chain, which has the downward flow, and the lower one, which has the upward flow."""

IN_THE_PAPER = 847
"""Sum of table 2 over both chains, towards the gateway and in 1000 s."""

study = Study(
    "Link-layer drops",
    source=f"{PAPER}, table 2",
    assumed=[
        *ASSUMED,
        f"{SEEDS} runs of 1000 s, of which the table gives means; the paper gives the counts of one run.",
        "The table does not name its variant; we take TCP-GAP without goodput control, to which the text refers. One "
        "chart shows all three.",
        "Data and acknowledgements of TCP count, routing and ARP do not.",
    ],
)


@study.sweep
def mixed(profile: Profile) -> Sweep:
    base = parallel(profile, ("down", "up"), duration="1001s", warmup="1s")
    return Sweep(variants=compared(base), runs=SEEDS)


def chain(which: int) -> list[int]:
    """Node numbers of a chain, with the gateway last."""
    return [*range(which * CHAIN_NODES, (which + 1) * CHAIN_NODES), GATEWAY]


def links(which: int) -> list[tuple[str, str, str]]:
    """Links of a chain towards the gateway: name, and its names in results for both directions."""
    nodes, names = chain(which), [*RELAYS[which], "IG"]
    return [
        (f"{names[i]} - {names[i + 1]}", f"{nodes[i]}-{nodes[i + 1]}", f"{nodes[i + 1]}-{nodes[i]}")
        for i in range(CHAIN_NODES)
    ]


def drops(link: str) -> Callable[[Run], float]:
    """TCP packets that the MAC gave up on a link."""

    def of(run: Run) -> float:
        kinds = run.link_drops.get(link, {})
        return float(kinds.get("tcp_data", 0) + kinds.get("tcp_acks", 0))

    return of


def rows(cells: Cells) -> list[tuple[object, ...]]:
    return [
        tuple(x for name, *ways in pair for x in (name, *(cells.measure(drops(link)) for link in ways)))
        for pair in zip(links(0), links(1), strict=True)
    ]


COLUMNS = ["upper chain", "upwards: ACKs", "downwards: data", "lower chain", "upwards: data", "downwards: ACKs"]


@study.chart_each(
    {
        "given_up": (
            VARIANT,
            "TCP packets given up on each link in a run, TCP-GAP without goodput control: means over the runs.",
        ),
        "newreno": ("newreno", "The same under NewReno."),
        "controlled": ("gap-gc", "The same under TCP-GAP with goodput control."),
    }
)
def by_link(data: Data, name: str) -> Chart:
    return table(COLUMNS, rows(data.mixed.where(variant=name)))


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of both flows in kbit/s."""
    flows = {"FTP 1, downwards": "ftp-1", "FTP 2, upwards": "ftp-2"}
    columns = {text: partial(Cells.goodput, flow=flow) for text, flow in flows.items()}
    return table_by(data.mixed, "variant", columns, labels())


def unlike(data: Data, place: int) -> Claim:
    """Ratio of drops towards the gateway on a link of the lower chain to those on the same link of the upper one."""
    upper, lower = links(0)[place][1], links(1)[place][1]
    cells = data.mixed.where(variant=VARIANT)
    low, up = cells.measure(drops(lower)), cells.measure(drops(upper))
    expected = {3: 12.0, 4: 2.5}[place]
    return about(ratio(low, up), expected, within=0.5).or_partly(above(low - up, 0.0))


@study.check(
    "Without goodput control the upward flow is the weaker one",
    paper="FTP 1, downwards, achieves more than FTP 2",
    assumed="mean over the runs",
)
def upwards_is_weaker(data: Data) -> Claim:
    cells = data.mixed.where(variant=VARIANT)
    return above(cells.goodput("ftp-1") - cells.goodput("ftp-2"), 0.0)


@study.check(
    "The link RL7 - RL8 loses about 12 times as much as RL3 - RL4",
    paper="141 against 12",
    assumed="about: within half of the ratio; partly: more",
    because="few",
)
def last_but_one(data: Data) -> Claim:
    return unlike(data, 3)


@study.check(
    "The link RL8 - IG loses about 2.5 times as much as RL4 - IG",
    paper="102 against 40",
    assumed="about: within half of the ratio; partly: more",
    because="few",
)
def last(data: Data) -> Claim:
    return unlike(data, 4)


@study.check(
    "On the three links before those, both chains lose equally",
    paper="8, 146, 112 against 11, 128, 147",
    assumed="each within a factor of two",
    because="few",
)
def alike_before(data: Data) -> Claim:
    cells = data.mixed.where(variant=VARIANT)
    found = {}
    for (upper, up, _), (lower, low, _) in zip(links(0)[:3], links(1)[:3], strict=True):
        found[f"{upper} and {lower}"] = ratio(cells.measure(drops(low)), cells.measure(drops(up)))
    return every(between(found, 0.5, 2.0))


@study.cause(
    "the MAC gives up less than a quarter as many packets as in the paper's table: the ratios are those of small "
    "numbers"
)
def few(data: Data) -> Claim:
    def of(run: Run) -> float:
        return sum(drops(up)(run) for which in (0, 1) for _, up, _ in links(which))

    return below(data.mixed.measure(of, variant=VARIANT), IN_THE_PAPER / 4)
