"""The common style of all figures, of `plots` and of studies: the palette and empty axes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito (2008), the most distinct pair first, without the yellow that vanishes on white."""

TRANSPORTS = {
    "newreno": "NewReno",
    "sack": "SACK",
    "reno": "Reno",
    "vegas": "Vegas",
    "westwood": "Westwood+",
    "cubic": "CUBIC",
    "bbr": "BBR",
    "ap2": "AP2",
    "cwl": "window limit",
    "rbp": "RBP",
    "rbp-reno": "RBP on Reno",
    "tcp-ap": "TCP-AP",
    "tcp-ap-sack": "TCP-AP on SACK",
    "adhoc-tcp": "ad hoc TCP",
    "adhoc-receiver": "ad hoc TCP, receiver alone",
    "adhoc-sender": "ad hoc TCP, sender alone",
    "atp": "ATP",
    "udp": "UDP",
    "ping": "ping",
}
"""Names of transports in figures; `transport_place` maps them to colours."""

_PLACES = {
    "NewReno": 0, "standard TCP": 0, "TCP-AP": 1, "TCP-GAP": 1, "Vegas": 2, "ad hoc TCP": 3, "C3TCP": 4, "RBP": 5,
    "ATP": 5, "SACK": 6, "Reno": 6, "window limit": 3, "CUBIC": 4, "BBR": 2, "Westwood": 5, "AP2": 6,
}  # fmt: skip
"""Index in the palette for each transport's name in figures. The last ones share an index with systems that never
appear in the same figure."""

_TRANSPORT = re.compile(rf"(?<!\w)({'|'.join(_PLACES)})(?!\w)")


def transport_place(label: str) -> int | None:
    """Index in the palette of the first transport named in a label; the same in every figure.

    >>> [transport_place(label) for label in ("TCP-GAP, CUBIC on the wired side", "flow-1 (ad hoc TCP)", "static")]
    [1, 3, None]
    """
    found = _TRANSPORT.search(label)
    return _PLACES[found[1]] if found else None


def figure(width_in: float = 4.8, height_in: float = 3.2, axes_class: type[Axes] | None = None) -> tuple[Figure, Axes]:
    """An empty figure in the style of the package, one column of a paper wide."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(width_in, height_in), layout="constrained")
    return made, empty(made.add_subplot() if axes_class is None else made.add_subplot(axes_class=axes_class))


def empty(axes: Axes) -> Axes:
    """Axes in the style of the package."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="0.88", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
