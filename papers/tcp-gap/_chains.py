"""What the figures over chains of different lengths share."""

from __future__ import annotations

from fourhop.study import Chart, Data, Estimate, line, table

from ._common import LABELS

SHORT = (1, 2, 3)
LONG = (4, 5, 6, 7, 8)
HOPS = (*SHORT, *LONG)


def over_hops(data: Data) -> Chart:
    """Goodput of each variant."""
    curves = {label: {n: data.hops.goodput(variant=name, hops=n) for n in HOPS} for name, label in LABELS.items()}
    return Chart("lines", tuple(line(label, points) for label, points in curves.items()), "hops", "goodput (kbit/s)")


def gains(data: Data, lengths: tuple[int, ...], over: str = "gap-gc") -> dict[str, Estimate]:
    """Goodput over that of NewReno, by length."""
    cells = data.hops
    return {
        f"{n} hop{'s' if n > 1 else ''}": cells.goodput(variant=over, hops=n) / cells.goodput(variant="newreno", hops=n)
        for n in lengths
    }


def gain_table(data: Data) -> Chart:
    """The gains of the variants side by side."""
    each = {name: gains(data, HOPS, name) for name in LABELS if name != "newreno"}
    rows = [(n, *(list(column.values())[i] for column in each.values())) for i, n in enumerate(HOPS)]
    return table(["hops", *(LABELS[name] for name in each)], rows)
