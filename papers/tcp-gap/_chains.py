"""Shared by the figures over chains of different lengths: runs, charts, and checks on longer chains."""

from __future__ import annotations

from fourhop import Sweep
from fourhop.study import (
    STEADY,
    Chart,
    Claim,
    Data,
    Estimate,
    Profile,
    Study,
    about,
    above,
    below,
    curves,
    every,
    peak,
    table,
)  # fmt: skip

from ._common import ASSUMED, LABELS, PAPER, Direction, chain, compared
from ._measures import sent_again
from ._several import gain

SHORT = (1, 2, 3)
LONG = (4, 5, 6, 7, 8)
LONGER = (10, 12)
"""Lengths beyond those used to check the paper's statements, because the paper does not say how long its longest chain
is."""
HOPS = (*SHORT, *LONG, *LONGER)
NAMES = ("newreno", "gap-gc", "gap-code", "gap-da", "gap-code-da")
"""Goodput control has no effect on a single flow."""


def one_flow(title: str, figure: int, direction: Direction) -> Study:
    """A study of one flow over chains of all lengths: its runs and charts."""
    study = Study(
        title,
        source=f"{PAPER}, figure {figure}",
        assumed=[
            *ASSUMED,
            "The text does not say how long the longest chain is: its statements are checked on 1 to 8 hops; 10 and "
            "12 are shown.",
        ],
    )

    @study.sweep
    def hops(profile: Profile) -> Sweep:
        base = chain(profile, direction=direction, **STEADY)
        return Sweep(variants=compared(base, *NAMES), over={"topology.hops": HOPS})

    @study.sweep
    def losses(profile: Profile) -> Sweep:
        """Several runs, for what has no batches."""
        base = chain(profile, direction=direction, duration="100s", warmup="10s")
        return Sweep(variants=compared(base, "newreno"), over={"topology.hops": LONG}, runs=5)

    @study.chart_each(
        {
            "goodput": (
                HOPS,
                "Steady state of one flow, 11 Mbit/s by radio. Whiskers: 95 % intervals over ten batches.",
            ),
            "from_four_hops": (
                (*LONG, *LONGER),
                "The same from four hops on, where there are hidden nodes.",
            ),
        }
    )
    def over_hops(data: Data, lengths: tuple[int, ...]) -> Chart:
        points = {LABELS[name]: {n: data.hops.goodput(variant=name, hops=n) for n in lengths} for name in NAMES}
        return curves(points, "hops", "goodput (kbit/s)")

    @study.chart
    def gain(data: Data) -> Chart:
        """How much more goodput than NewReno on the same chain."""
        each = [gains(data, HOPS, name).values() for name in NAMES[1:]]
        return table(["hops", *(LABELS[name] for name in NAMES[1:])], list(zip(HOPS, *each, strict=True)))

    return study


def gains(data: Data, lengths: tuple[int, ...], name: str = "gap-gc") -> dict[str, Estimate]:
    """Ratio of goodput to that of NewReno, by length."""
    return {f"{n} hop{'s' if n > 1 else ''}": gain(data.hops.where(hops=n), name=name) for n in lengths}


def best(data: Data, name: str = "gap-gc") -> Estimate:
    """The largest of these ratios from four to eight hops."""
    return peak(list(gains(data, LONG, name).values()))


def check_causes(study: Study, up_to: float) -> None:
    """Register what explains a gain other than the paper's `up_to`, for either direction of the flow."""

    @study.cause("with the arithmetic of the authors' code the gain over 4 to 8 hops is the paper's")
    def authors_arithmetic(data: Data) -> Claim:
        return about(best(data, "gap-code"), up_to)

    @study.cause(
        "NewReno has to send less than one segment in a hundred again over 4 to 8 hops: there is little to gain"
    )
    def little_lost(data: Data) -> Claim:
        again = {f"{n} hops": data.losses.measure(sent_again, variant="newreno", hops=n) for n in LONG}
        return every(below(again, 0.01))

    @study.cause("TCP-GAP, too, has a larger gain on chains longer than eight hops")
    def grows_with_length(data: Data) -> Claim:
        longest = gain(data.hops.where(hops=LONGER[-1]))
        return above(longest, best(data).value)


def check_longer(study: Study) -> None:
    """Register our own check on the longest chains, for either direction of the flow."""

    @study.check(
        "TCP-GAP is well ahead on longer chains",
        paper="longer chains are not in the paper",
        assumed="our own: by a fifth and more on 10 and 12 hops",
        because="little_lost",
    )
    def ahead_on_longer(data: Data) -> Claim:
        return every(above(gains(data, LONGER), 1.2))
