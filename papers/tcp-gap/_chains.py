"""Shared by the figures over chains of different lengths: runs, charts, and checks on longer chains."""

from __future__ import annotations

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Profile, Study, above, curves, every, table

from ._common import ASSUMED, FEW_LOSSES, LABELS, PAPER, Direction, chain, compared
from ._several import gain

SHORT = (1, 2, 3)
LONG = (4, 5, 6, 7, 8)
LONGER = (10, 12)
"""Lengths beyond those used to check the paper's statements, because the paper does not say how long its longest chain
is."""
HOPS = (*SHORT, *LONG, *LONGER)
NAMES = ("newreno", "gap-gc")
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
        return table(["hops", "TCP-GAP over NewReno"], list(zip(HOPS, gains(data, HOPS).values(), strict=True)))

    return study


def gains(data: Data, lengths: tuple[int, ...]) -> dict[str, Estimate]:
    """Ratio of goodput to that of NewReno, by length."""
    return {f"{n} hop{'s' if n > 1 else ''}": gain(data.hops.where(hops=n)) for n in lengths}


def check_longer(study: Study) -> None:
    """Register our own check on the longest chains, for either direction of the flow."""

    @study.check(
        "TCP-GAP is well ahead on longer chains",
        paper="longer chains are not in the paper",
        assumed="our own: by a fifth and more on 10 and 12 hops",
        why={"standard": FEW_LOSSES},
    )
    def ahead_on_longer(data: Data) -> Claim:
        return every(above(gains(data, LONGER), 1.2))
