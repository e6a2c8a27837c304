"""SACK over five hops with a fixed window: the benefit of having few segments in flight.

The paper's point of departure: without any other traffic a sender does best with a window of two segments, because more
segments only interfere with each other on the air.
"""

from fourhop import Sweep
from fourhop.study import Cells, Chart, Claim, Data, Estimate, Profile, Study, about, above, below, every, lines

from ._causes import OLD_TIMERS, OLD_TIMERS_ARE
from ._common import ASSUMED, KINDS, PAPER, normalized, string

WINDOWS = tuple(range(1, 21))
SACK = {"": KINDS["sack"]}

study = Study(
    "Throughput and goodput over the advertised window",
    source=f"{PAPER}, figure 1",
    assumed=[
        *ASSUMED,
        "The window is limited at the sender, which is equivalent to a receiver that advertises it.",
        "Causes: the string under ns2 with static routes, delayed acknowledgements, or older timers; 20 runs.",
        OLD_TIMERS_ARE,
    ],
)


@study.sweep
def string_of_five(profile: Profile) -> Sweep:
    return Sweep(string(profile), {"tcp.window": WINDOWS}, precision="5%", max_runs=20)


@study.sweep
def static(_: Profile) -> Sweep:
    return Sweep(string("ns2", routing={"protocol": "static"}), {"tcp.window": (2, 20)}, runs=20)


@study.sweep
def delayed(_: Profile) -> Sweep:
    return Sweep(string("ns2").with_(**{"tcp.ack_policy": "delayed"}), {"tcp.window": (2, 20)}, runs=20)


@study.sweep
def old_timers(_: Profile) -> Sweep:
    return Sweep(string("ns2").with_(**OLD_TIMERS), {"tcp.window": (1, 2, 3, 4, 5, 6, 10, 20)}, runs=20)


def _gain(cells: Cells) -> Estimate:
    """Goodput with a window of 2 over that with 20."""
    return cells.goodput(window=2) / cells.goodput(window=20)


@study.cause("a wide window costs next to nothing where collisions do not break routes: with static routes")
def routing(data: Data) -> Claim:
    return below(_gain(data.static), 1.05)


@study.cause("with delayed acknowledgements, which the paper may have had, a wide window costs less than in the paper")
def acknowledgements(data: Data) -> Claim:
    return below(_gain(data.delayed), 1.183)


@study.cause("with the timers before October 2004, those of the paper's ns-2, a window of 2 is ahead of all others")
def timers(data: Data) -> Claim:
    two = data.old_timers.goodput(window=2)
    others = [n for n in data.old_timers.values("window") if n != 2]
    return every(above({f"{n}": two / data.old_timers.goodput(window=n) for n in others}, 1.0))


@study.chart
def throughput(data: Data) -> Chart:
    """Throughput. Whiskers: 95 % intervals over the runs."""
    return lines(
        data.string_of_five, x="window", labels=SACK, y_label="throughput (kbit/s)", x_label="window (segments)"
    )


@study.chart
def goodput(data: Data) -> Chart:
    """Normalized goodput: the share of sent segments that were not retransmissions."""
    return lines(
        data.string_of_five, x="window", y=normalized, labels=SACK, y_label="normalized goodput",
        x_label="window (segments)", y_min=0.8,
    )  # fmt: skip


@study.check(
    "A window of 2 carries 18.3 % more than one of 20",
    paper="18.3 %",
    assumed="15 to 22 % more; partly: more",
    because={"ns2": "acknowledgements", "standard": "routing"},
)
def gain(data: Data) -> Claim:
    ratio = _gain(data.string_of_five)
    return about(ratio, 1.183, within=0.03).or_partly(above(ratio, 1.0))


@study.check(
    "A window of 2 is the best",
    paper="best at 2",
    assumed="ahead of every other window; partly: ahead of every window from 5 on",
    because={"ns2": "timers", "standard": "routing"},
)
def best(data: Data) -> Claim:
    two = data.string_of_five.goodput(window=2)
    ratio = {f"{n}": two / data.string_of_five.goodput(window=n) for n in WINDOWS if n != 2}
    longer = {n: each for n, each in ratio.items() if int(n) >= 5}
    return every(above(ratio, 1.0)).or_partly(every(above(longer, 1.0)))


@study.check(
    "Normalized goodput at 2 is more than 5 % above that at 20",
    paper="over 5 %",
    assumed="partly: above it by any amount",
    because="routing",
)
def share_gain(data: Data) -> Claim:
    ratio = normalized(data.string_of_five, window=2) / normalized(data.string_of_five, window=20)
    return above(ratio, 1.05).or_partly(above(ratio, 1.0))
