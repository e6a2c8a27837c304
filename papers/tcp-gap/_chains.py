"""What the figures over chains of different lengths share: the runs, the charts, what holds on longer chains."""

from __future__ import annotations

from fourhop import Sweep
from fourhop.study import STEADY, Chart, Claim, Data, Estimate, Profile, Study, above, curves, every, table

from ._common import ASSUMED, FEW_LOSSES, LABELS, PAPER, Direction, chain, compared
from ._several import gain

SHORT = (1, 2, 3)
LONG = (4, 5, 6, 7, 8)
LONGER = (10, 12)
"""Beyond what the checks of the paper's statements look at: it does not say how long its longest chain is."""
HOPS = (*SHORT, *LONG, *LONGER)
NAMES = ("newreno", "gap-gc")
"""A single flow has no other to be controlled by."""


def one_flow(title: str, figure: int, direction: Direction) -> Study:
    """A study of one flow over chains of all lengths: what is run and drawn."""
    study = Study(
        title,
        source=f"{PAPER}, figure {figure}",
        assumed=[
            *ASSUMED,
            "The text does not say how long the longest chain is: its statements are held against 1 to 8 hops, 10 and "
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
                "Steady state of one flow, 11 Mbit/s by radio. Bars: 95 % intervals by means of ten batches.",
            ),
            "from_four_hops": (
                (*LONG, *LONGER),
                "The same from four hops on, where nodes are hidden from each other.",
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
    """Goodput over that of NewReno, by length."""
    return {f"{n} hop{'s' if n > 1 else ''}": gain(data.hops.where(hops=n)) for n in lengths}


def check_longer(study: Study) -> None:
    """Register what we ask of the longest chains, whichever way the flow goes."""

    @study.check(
        "It is well ahead on longer chains",
        paper="says nothing of longer chains",
        assumed="our own: by a fifth and more on 10 and 12 hops",
        why={"standard": FEW_LOSSES},
    )
    def ahead_on_longer(data: Data) -> Claim:
        return every(above(gains(data, LONGER), 1.2))
