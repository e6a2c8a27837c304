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

from ._common import ASSUMED, ASSUMED_SHORTER, LABELS, PAPER, SHORTER, STILL, Direction, chain, compared
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
            ASSUMED_SHORTER,
            "The text does not say how long the longest chain is: its statements are checked on 1 to 8 hops; 10 and "
            "12 are shown.",
        ],
    )

    @study.sweep
    def hops(profile: Profile) -> Sweep:
        base = chain(profile, direction=direction, **STEADY)
        return Sweep(variants=compared(base, *NAMES), over={"topology.hops": HOPS})

    @study.sweep
    def still(profile: Profile) -> Sweep:
        """The same over routes that never break, for the causes."""
        base = chain(profile, direction=direction, **SHORTER).with_(**STILL)
        return Sweep(variants=compared(base, "newreno", "gap-gc"), over={"topology.hops": HOPS})

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
        each = {LABELS[name]: gains(data, HOPS, name).values() for name in NAMES[1:]}
        each["TCP-GAP, static routes"] = over_still(data, HOPS).values()
        return table(["hops", *each], list(zip(HOPS, *each.values(), strict=True)))

    return study


def gains(data: Data, lengths: tuple[int, ...], name: str = "gap-gc") -> dict[str, Estimate]:
    """Ratio of goodput to that of NewReno, by length."""
    return {f"{n} hop{'s' if n > 1 else ''}": gain(data.hops.where(hops=n), name=name) for n in lengths}


def over_still(data: Data, lengths: tuple[int, ...]) -> dict[str, Estimate]:
    """As `gains`, over static routes."""
    return {f"{n} hop{'s' if n > 1 else ''}": gain(data.still.where(hops=n)) for n in lengths}


def best(data: Data, name: str = "gap-gc") -> Estimate:
    """The largest of these ratios from four to eight hops."""
    return peak(list(gains(data, LONG, name).values()))


def check_causes(study: Study, up_to: float) -> None:
    """Register the causes of a gain other than the paper's `up_to`, for either direction of the flow."""

    @study.cause("with the arithmetic of the authors' code the gain over 4 to 8 hops is the paper's")
    def authors_arithmetic(data: Data) -> Claim:
        return about(best(data, "gap-code"), up_to)

    @study.cause(
        "over routes that never break TCP-GAP gains less than half as much over 4 to 8 hops: the gain depends on links "
        "that AODV takes for broken"
    )
    def gain_is_routes(data: Data) -> Claim:
        return below(peak(list(over_still(data, LONG).values())), 1.0 + (best(data).value - 1.0) / 2)

    @study.cause(
        "links are seldom taken for broken: over 6 and 8 hops NewReno carries at least nine tenths of what it does "
        "over routes that never break"
    )
    def routes_hold(data: Data) -> Claim:
        def kept(n: int) -> Estimate:
            return data.hops.goodput(variant="newreno", hops=n) / data.still.goodput(variant="newreno", hops=n)

        return every(above({f"{n} hops": kept(n) for n in (6, 8)}, 0.9))


def check_longer(study: Study) -> None:
    """Register our own check on the longest chains and its cause, for either direction of the flow."""

    @study.check(
        "TCP-GAP is well ahead on longer chains",
        paper="longer chains are not in the paper",
        assumed="our own: by at least a fifth on 10 and 12 hops",
        because={"ns2": "longer_is_routes", "standard": "routes_hold"},
    )
    def ahead_on_longer(data: Data) -> Claim:
        return every(above(gains(data, LONGER), 1.2))

    @study.cause("over routes that never break TCP-GAP gains less than a tenth on 10 and 12 hops")
    def longer_is_routes(data: Data) -> Claim:
        return every(below(over_still(data, LONGER), 1.1))
