"""What all figures of the package have in common: the palette and the empty axes, for `plots` and for studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), without the yellow that vanishes on white, the two farthest apart first."""


TRANSPORTS = {
    "newreno": "NewReno",
    "sack": "SACK",
    "reno": "Reno",
    "vegas": "Vegas",
    "westwood": "Westwood+",
    "cubic": "CUBIC",
    "cwl": "window limit",
    "rbp": "RBP",
    "rbp-reno": "RBP on Reno",
    "tcp-ap": "TCP-AP",
    "tcp-ap-sack": "TCP-AP on SACK",
    "adhoc-tcp": "ad hoc TCP",
    "adhoc-receiver": "ad hoc TCP, receiver alone",
    "adhoc-sender": "ad hoc TCP, sender alone",
    "udp": "UDP",
    "ping": "ping",
}
"""What transports are called in figures. `study.drawing` gives each its colour by the beginning of its name."""


def figure(width_in: float = 4.8, height_in: float = 3.2) -> tuple[Figure, Axes]:
    """An empty figure in the style of the package, one column of a paper wide."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width_in, height_in), layout="constrained")
    return made, empty(made.add_subplot())


def empty(axes: Axes) -> Axes:
    """Axes in the style of the package."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
