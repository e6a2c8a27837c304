"""Counts and intervals as text."""

from __future__ import annotations

import math


def count(number: int, noun: str, several: str | None = None) -> str:
    """A number with its noun, singular or plural.

    >>> count(1, "link"), count(2, "link"), count(0, "entry", "entries")
    ('1 link', '2 links', '0 entries')
    """
    return f"{number} {noun if number == 1 else several or noun + 's'}"


def interval(mean: float, half_width: float) -> str:
    """A mean and its half-width, rounded to the first digit of the half-width, or the first two if it begins with a 1.

    >>> interval(0.201234, 0.00818), interval(1234.5, 67.8), interval(12.345, 0.0123), interval(3.0, 0.0)
    ('0.201 ± 0.008', '1234 ± 68', '12.345 ± 0.012', '3 ± 0')
    """
    if not (math.isfinite(mean) and math.isfinite(half_width) and half_width > 0.0):
        return f"{mean:.4g} ± {half_width:.4g}"
    power = math.floor(math.log10(half_width))
    digits = max(0, -power + (half_width < 2.0 * 10.0**power))
    return f"{mean:.{digits}f} ± {half_width:.{digits}f}"
