"""What all figures of the package have in common: the palette and the empty axes, for `plots` and for studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fourhop.errors import FourhopError

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


def save(made: Figure, path: str | Path) -> Path:
    """Write a figure; the end of the name says how: `.png`, `.svg` or `.pdf`.

    Raises `FourhopError` for another end, or if it cannot be written.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".")
    # No date inside, so that the same figure gives the same file.
    dateless = {"png": None, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    if kind not in dateless:
        raise FourhopError(f"figure: found {path.name!r}, allowed: a name that ends in .png, .svg or .pdf")
    import matplotlib

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "fourhop"}):
            made.savefig(path, dpi=120, metadata=dateless[kind])
    except OSError as error:
        raise FourhopError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
