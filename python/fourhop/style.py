"""What all figures of the package have in common: the palette and the empty axes, for `plots` and for studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), without the yellow that vanishes on white, the two farthest apart first."""


def figure(width_in: float = 4.8, height_in: float = 3.2) -> tuple[Figure, Axes]:
    """An empty figure in the style of the package, one column of a paper wide."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width_in, height_in), layout="constrained")
    axes = made.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    return made, axes
