"""What the figures over chains of different lengths share."""

from __future__ import annotations

from fourhop.study import Chart, Data, Estimate, line, table

from ._common import LABELS

SHORT = (1, 2, 3)
LONG = (4, 5, 6, 7, 8)
LONGER = (10, 12)
"""Beyond what the checks of the paper's statements look at: it does not say how long its longest chain is."""
HOPS = (*SHORT, *LONG, *LONGER)
NAMES = ("newreno", "gap-gc")
"""A single flow has no other to be controlled by."""


def over_hops(data: Data, lengths: tuple[int, ...] = HOPS) -> Chart:
    """Goodput of each variant."""
    curves = {LABELS[name]: {n: data.hops.goodput(variant=name, hops=n) for n in lengths} for name in NAMES}
    return Chart("lines", tuple(line(label, points) for label, points in curves.items()), "hops", "goodput (kbit/s)")


def gains(data: Data, lengths: tuple[int, ...]) -> dict[str, Estimate]:
    """Goodput over that of NewReno, by length."""
    cells = data.hops
    return {
        f"{n} hop{'s' if n > 1 else ''}": cells.goodput(variant="gap-gc", hops=n)
        / cells.goodput(variant="newreno", hops=n)
        for n in lengths
    }


def gain_table(data: Data) -> Chart:
    """The gains by length."""
    return table(["hops", "TCP-GAP over NewReno"], list(zip(HOPS, gains(data, HOPS).values(), strict=True)))
