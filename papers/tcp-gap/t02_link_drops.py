"""Which radio links lose packets: two parallel chains into one gateway, one flow each way, 1000 s.

A packet counts as lost on a link when the MAC gives it up after its last attempt. The paper counts TCP packets on the
links of both chains and finds that the lower chain's two last links before the gateway, which carry data upwards, lose
about 12 and 2.5 times as much as the same links of the upper chain, which carry acknowledgements upwards: so the flow
upwards is the weaker one.
"""

from collections.abc import Callable

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Profile, Run, Study, about, above, between, every, table

from ._common import ASSUMED, CHAIN_NODES, GATEWAY, LABELS, PAPER, compared, parallel

SEEDS = 10
VARIANT = "gap"
"""Section 4.4 takes the table from TCP-GAP before it has goodput control."""

RELAYS = (
    ["A1", *(f"RL{n}" for n in range(1, CHAIN_NODES))],
    ["A2", *(f"RL{n}" for n in range(CHAIN_NODES, 2 * CHAIN_NODES - 1))],
)
"""Names of the paper: the upper chain, which has the flow downwards, and the lower one, which has the flow upwards."""

FEW = {
    "ns2": "the MAC gives some 80 packets up in 1000 s, where the paper counts more than a thousand, and mostly on the "
    "second link from the far end, where the paper has many, too; under NewReno, which has some 700, that is so, too. "
    "So what makes the flow upwards the weaker one is not the losses on these two links",
    "standard": "a stronger frame that comes late is still received: TCP-GAP loses nothing at all by radio",
}

study = Study(
    "Link-layer drops",
    source=f"{PAPER}, table 2",
    assumed=[
        *ASSUMED,
        f"{SEEDS} runs of 1000 s, of which the table gives means; the paper gives the counts of one.",
        "The table does not say which variant it is of: TCP-GAP without goodput control, with which the text argues; "
        "one chart shows all three.",
        "Data and acknowledgements of TCP count, routing and ARP do not.",
    ],
)


@study.sweep
def mixed(profile: Profile) -> Sweep:
    base = parallel(profile, ("down", "up"), duration="1001s", warmup="1s")
    return Sweep(variants=compared(base), runs=SEEDS)


def chain(which: int) -> list[int]:
    """Node numbers of a chain, the gateway last."""
    return [*range(which * CHAIN_NODES, (which + 1) * CHAIN_NODES), GATEWAY]


def links(which: int) -> list[tuple[str, str, str]]:
    """Links of a chain towards the gateway: name, and how results call it in either direction."""
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
    made: list[tuple[object, ...]] = []
    for upper, lower in zip(links(0), links(1), strict=True):
        made.append(
            (
                upper[0],
                *(cells.measure(drops(link)) for link in upper[1:]),
                lower[0],
                *(cells.measure(drops(link)) for link in lower[1:]),
            )
        )
    return made


COLUMNS = ["upper chain", "upwards: ACKs", "downwards: data", "lower chain", "upwards: data", "downwards: ACKs"]


@study.chart
def given_up(data: Data) -> Chart:
    """TCP packets given up on each link in 1000 s, TCP-GAP without goodput control: means over ten runs."""
    return table(COLUMNS, rows(data.mixed.where(variant=VARIANT)))


@study.chart
def newreno(data: Data) -> Chart:
    """The same under NewReno."""
    return table(COLUMNS, rows(data.mixed.where(variant="newreno")))


@study.chart
def controlled(data: Data) -> Chart:
    """The same under TCP-GAP with goodput control."""
    return table(COLUMNS, rows(data.mixed.where(variant="gap-gc")))


@study.chart
def goodput(data: Data) -> Chart:
    """Goodput of both flows in kbit/s."""
    each = [
        (LABELS[name], data.mixed.goodput("ftp-1", variant=name), data.mixed.goodput("ftp-2", variant=name))
        for name in LABELS
    ]
    return table(["variant", "FTP 1, downwards", "FTP 2, upwards"], each)


def ratio(data: Data, place: int) -> Claim:
    """Drops towards the gateway on a link of the lower chain over those on the same link of the upper one."""
    upper, lower = links(0)[place][1], links(1)[place][1]
    cells = data.mixed.where(variant=VARIANT)
    low, up = cells.measure(drops(lower)), cells.measure(drops(upper))
    expected = {3: 12.0, 4: 2.5}[place]
    return about(low / up, expected, within=0.5).or_partly(above(low - up, 0.0))


@study.check(
    "Without goodput control the flow upwards is the weaker one",
    paper="FTP 1, downwards, achieves more than FTP 2",
    assumed="in the mean over the runs",
)
def upwards_is_weaker(data: Data) -> Claim:
    cells = data.mixed.where(variant=VARIANT)
    return above(cells.goodput("ftp-1") - cells.goodput("ftp-2"), 0.0)


@study.check(
    "The link RL7 - RL8 loses about 12 times what RL3 - RL4 loses",
    paper="141 against 12",
    assumed="about: give or take half; partly: more",
    why=FEW,
)
def last_but_one(data: Data) -> Claim:
    return ratio(data, 3)


@study.check(
    "The link RL8 - IG loses about 2.5 times what RL4 - IG loses",
    paper="102 against 40",
    assumed="about: give or take half; partly: more",
    why=FEW,
)
def last(data: Data) -> Claim:
    return ratio(data, 4)


@study.check(
    "On the three links before those both chains lose alike",
    paper="8, 146, 112 against 11, 128, 147",
    assumed="each within a factor of two",
    why=FEW,
)
def alike_before(data: Data) -> Claim:
    cells = data.mixed.where(variant=VARIANT)
    claims = {}
    for place in range(3):
        upper, lower = links(0)[place], links(1)[place]
        found = cells.measure(drops(lower[1])) / cells.measure(drops(upper[1]))
        claims[f"{upper[0]} and {lower[0]}"] = between(found, 0.5, 2.0)
    return every(claims)
