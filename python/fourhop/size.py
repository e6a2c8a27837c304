"""Sizes of figures for papers and slides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from fourhop.errors import FourhopError

Named = Literal["column", "page", "slide"]
Size = Named | tuple[float, float]
"""`column`, `page` or `slide`, or width and height in inches."""
SIZES: Mapping[str, tuple[float, float, float]] = {
    "column": (3.5, 2.5, 8.0),
    "page": (7.16, 3.0, 8.0),
    "slide": (8.0, 4.5, 16.0),
}
"""Width and height in inches, and font size in points: a column or page of a two-column paper, or a slide."""

FONT_PT = 10.0
"""Font size of figures wider than a column."""


def typed(size: str) -> Size:
    """Parse a size: a name, or `5x3` in inches."""
    width, by, height = size.partition("x")
    return cast(Size, (width, height) if by else size)


def inches(size: Size) -> tuple[float, float]:
    """Width and height of a size. Raises `FourhopError` for one that is not allowed."""
    return letters(size)[:2]


def letters(given: Any) -> tuple[float, float, float]:
    """Width, height and font size in points. Raises `FourhopError` for a size that is not allowed."""
    if isinstance(given, str):
        if given not in SIZES:
            raise FourhopError(f"size: found {given!r}, allowed: {', '.join(SIZES)}, or width and height in inches")
        return SIZES[given]
    try:
        width, height = map(float, given)
    except (TypeError, ValueError):
        raise FourhopError(
            f"size: found {given!r}, allowed: {', '.join(SIZES)}, or width and height in inches"
        ) from None
    if not (1.0 <= width <= 50.0 and 1.0 <= height <= 50.0):
        raise FourhopError(f"size: found {width:g} by {height:g} inches, allowed: 1 to 50")
    return width, height, FONT_PT if width > 4.0 else SIZES["column"][2]
